// Who is let in from outside, and who must wait or go: the rules without sockets, then with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "node/runtime/admission.h"
#include "node/runtime/endpoint.h"
#include "tests/unit/runtime/transport_raw_peer.h"

namespace ostraka::runtime {
namespace {

using ::testing::HasSubstr;

constexpr base::Time kStart{base::Seconds(1000).ns};

std::string ReasonOf(const base::Status& status) {
  return status.ok() ? "ok" : base::MessageOf(status);
}

TEST(AddressGroup, OneAddressIsWhatOnePersonHas) {
  EXPECT_EQ(AddressGroup("192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(AddressGroup("::ffff:192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(AddressGroup("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(AddressGroup("2001:db8:1:2::1"), AddressGroup("2001:db8:1:2:ffff::9"));
  EXPECT_NE(AddressGroup("2001:db8:1:2::1"), AddressGroup("2001:db8:1:3::1"));
  EXPECT_EQ(AddressGroup("fe80::1%lo"), "fe80::/64");
  EXPECT_EQ(AddressGroup("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(AddressGroup("::1"), "::1");
  EXPECT_EQ(AddressGroup("node.example.org"), "");
}

TEST(Admission, OneAddressMayNotHoldMany) {
  Admission admission({}, 4, {});
  for (int i = 0; i < 16; ++i) {
    ASSERT_TRUE(admission.Admit(kStart, "192.0.2.1", false).ok()) << i;
    admission.Enter("192.0.2.1", false);
  }
  EXPECT_EQ(ReasonOf(admission.Admit(kStart, "192.0.2.1", false)),
            "came while 16 connections from its address were half-open");
  EXPECT_TRUE(admission.Admit(kStart, "192.0.2.2", false).ok());
  admission.Leave("192.0.2.1", false);
  EXPECT_TRUE(admission.Admit(kStart, "192.0.2.1", false).ok());
}

TEST(Admission, StrangersComeAtARate) {
  TransportLimits limits;
  limits.half_open = 10;
  limits.handshakes_per_second = 5;
  Admission admission(limits, 4, {"192.0.2.9"});
  const auto admitted_at = [&](base::Time now) {
    int count = 0;
    while (admission.Admit(now, "127.0.0.1", true).ok()) ++count;
    return count;
  };
  EXPECT_EQ(admitted_at(kStart), 18);  // what may be half-open, and each member twice
  EXPECT_EQ(admitted_at(kStart + base::Milliseconds(1001)), 6);
  EXPECT_EQ(ReasonOf(admission.Admit(kStart + base::Milliseconds(1001), "198.51.100.7", false)),
            "came while more than 5 strangers a second did");
  // A flood of strangers keeps no member out that comes from where the list says.
  EXPECT_TRUE(admission.Admit(kStart + base::Milliseconds(1001), "192.0.2.9", false).ok());
}

TEST(Admission, AnAddressThatIsRefusedAgainAndAgainIsNotHeard) {
  Admission admission({}, 4, {});
  for (int i = 0; i < 32; ++i) {
    ASSERT_TRUE(admission.Admit(kStart, "192.0.2.1", false).ok()) << i;
    admission.OnRefused(kStart, "192.0.2.1", false);
  }
  EXPECT_EQ(ReasonOf(admission.Admit(kStart, "192.0.2.1", false)),
            "came again from an address that was refused more than 32 times a minute");
  EXPECT_TRUE(admission.Admit(kStart, "192.0.2.2", false).ok());
  EXPECT_TRUE(admission.Admit(kStart + base::Seconds(3), "192.0.2.1", false).ok());
}

TEST(Admission, RefusalsOfManyAddressesCostLittle) {
  Admission admission({}, 4, {});
  base::Time now = kStart;
  const auto refuse_many = [&](int from, int to) {
    for (int i = from; i < to; ++i) {
      admission.OnRefused(now, "10.0." + std::to_string(i / 256) + "." + std::to_string(i % 256),
                          false);
    }
  };
  refuse_many(0, 5000);
  // Those who are remembered still count, new ones do again when the old have had their time.
  for (int i = 0; i < 40; ++i) admission.OnRefused(now, "192.0.2.1", false);
  EXPECT_TRUE(admission.Admit(now, "192.0.2.1", false).ok());
  now = now + base::Seconds(120);
  for (int i = 0; i < 40; ++i) admission.OnRefused(now, "192.0.2.1", false);
  EXPECT_FALSE(admission.Admit(now, "192.0.2.1", false).ok());
}

TEST(Admission, LoopbackIsOneAddressForAllNodesOfAMachine) {
  Admission admission({}, 4, {"127.0.0.1"});
  for (int i = 0; i < 64; ++i) {
    ASSERT_TRUE(admission.Admit(kStart, "127.0.0.1", true).ok()) << i;
    admission.Enter("127.0.0.1", true);
    admission.OnRefused(kStart, "127.0.0.1", true);
  }
  EXPECT_TRUE(admission.is_full());
}

// --- with sockets --------------------------------------------------------------------------------

class TransportAdmission : public ::testing::Test {
 protected:
  TransportAdmission() : node_(1) { node_.options.members = {{TestKey(4)->id(), ""}}; }

  std::size_t Refused(Refusal refusal) {
    return node_.transport->counters().refused_by[static_cast<std::size_t>(refusal)];
  }
  // Up to HELLO, which it does not say.
  std::unique_ptr<RawPeer> HalfOpen(std::size_t key_rank) {
    auto peer = std::make_unique<RawPeer>(node_.port(), *MakeTlsContext(*TestKey(key_rank)));
    RunScript(io_, *peer, [&] {
      peer->Tls();
      peer->Upgrade();
      peer->ReadHello();
    });
    return peer;
  }
  // Closed as soon as TLS has said who it is.
  void ExpectRefusedAfterTls(std::size_t key_rank, const std::string& notice) {
    RawPeer peer(node_.port(), *MakeTlsContext(*TestKey(key_rank)));
    RunScript(io_, peer, [&] {
      try {
        peer.Tls();
        peer.Upgrade();
      } catch (const boost::system::system_error&) {
        return;
      }
      throw std::runtime_error("the node went on to WebSocket");
    });
    EXPECT_TRUE(RunUntil(io_, [&] { return node_.Noticed(notice); })) << node_.AllNotices();
  }

  boost::asio::io_context io_;
  TestNode node_;
};

// Silent strangers hold every place, and a member comes through.
TEST_F(TransportAdmission, WhoHadHisTimeGivesWay) {
  node_.options.limits.half_open = 3;
  node_.options.limits.half_open_grace = base::Milliseconds(50);
  node_.Start(io_);
  std::vector<std::unique_ptr<RawPeer>> silent;
  for (int i = 0; i < 3; ++i) {
    silent.push_back(std::make_unique<RawPeer>(node_.port(), RawTls().Context()));
  }
  ASSERT_TRUE(RunUntil(io_, [&] { return node_.transport->counters().half_open == 3; }));
  RunUntil(
      io_, [] { return false; }, base::Milliseconds(60));
  RawPeer member(node_.port(), *MakeTlsContext(*TestKey(4)));
  RunScript(io_, member, [&] { member.Link(GoodHello(), false); });
  EXPECT_EQ(node_.Ups(), 1u);
  EXPECT_TRUE(node_.Noticed("gave way to others: it was half-open for long"));
  EXPECT_EQ(Refused(Refusal::kQuota), 1u);
  EXPECT_EQ(node_.transport->counters().half_open, 2u);
}

// Who has proven a member's key gives way last.
TEST_F(TransportAdmission, AMemberGivesWayLast) {
  node_.options.limits.half_open = 2;
  node_.options.limits.half_open_grace = {};
  node_.Start(io_);
  const auto member = HalfOpen(4);
  RawPeer silent(node_.port(), RawTls().Context());
  ASSERT_TRUE(RunUntil(io_, [&] { return node_.transport->counters().half_open == 2; }));
  RawPeer next(node_.port(), RawTls().Context());
  ASSERT_TRUE(RunUntil(io_, [&] { return node_.Noticed("gave way"); }));
  RunScript(io_, *member, [&] {
    member->Say(GoodHello());
    member->Read(RecordType::kGo);
  });
  EXPECT_EQ(node_.Ups(), 1u);
}

TEST_F(TransportAdmission, FewNonMembersAtATimeAreToldWhy) {
  node_.options.limits.non_members = 2;
  node_.Start(io_);
  const auto first = HalfOpen(5);
  const auto second = HalfOpen(6);
  ExpectRefusedAfterTls(7, "is not a member of this run, like 2 others that are connected");
  EXPECT_EQ(Refused(Refusal::kQuota), 1u);
  // A member is none of them.
  RawPeer member(node_.port(), *MakeTlsContext(*TestKey(4)));
  RunScript(io_, member, [&] { member.Link(GoodHello(), false); });
  EXPECT_EQ(node_.Ups(), 1u);
}

TEST_F(TransportAdmission, OneMemberMayNotHoldEveryPlace) {
  node_.options.limits.half_open_per_member = 2;
  node_.Start(io_);
  const auto first = HalfOpen(4);
  const auto second = HalfOpen(4);
  ExpectRefusedAfterTls(4, "has 2 other connections half-open");
}

TEST_F(TransportAdmission, AFloodIsRefusedWithoutAHandshake) {
  node_.options.limits.half_open = 2;
  node_.options.limits.handshakes_per_second = 1;
  node_.Start(io_);
  std::vector<std::unique_ptr<RawPeer>> peers;
  for (int i = 0; i < 20; ++i) {
    peers.push_back(std::make_unique<RawPeer>(node_.port(), RawTls().Context()));
    peers.back()->SendBytes("x");
  }
  ASSERT_TRUE(RunUntil(io_, [&] { return node_.transport->counters().refused == 20; }));
  EXPECT_GE(Refused(Refusal::kQuota), 16u);  // a burst of four passes, and some a second
  EXPECT_TRUE(node_.Noticed("came while more than 1 strangers a second did")) << node_.AllNotices();
}

// Nodes on [::] meet members of both families, and both count as what they are.
TEST_F(TransportAdmission, BothFamiliesOfAddresses) {
  TestNode v6(5);
  const auto make = [this](TestNode& node) {
    node.options.listen_fd = *ListenOn("[::]:0");
    const std::uint16_t port = *ListeningPort(node.options.listen_fd);
    node.options.members = {{TestKey(4)->id(), ""}, {TestKey(6)->id(), ""}};
    node.Start(io_);
    return port;
  };
  const int unused = v6.options.listen_fd;
  const std::uint16_t port = make(v6);
  TestNode by_v4(4), by_v6(6);
  by_v4.options.members = {{v6.id(), "127.0.0.1:" + std::to_string(port)}};
  by_v6.options.members = {{v6.id(), "[::1]:" + std::to_string(port)}};
  by_v4.Start(io_);
  by_v6.Start(io_);
  ASSERT_TRUE(RunUntil(io_, [&] { return v6.Ups() == 2; }));
  EXPECT_TRUE(v6.Noticed("at 127.0.0.1:")) << v6.AllNotices();
  EXPECT_TRUE(v6.Noticed("at [::1]:")) << v6.AllNotices();
  close(unused);
}

}  // namespace
}  // namespace ostraka::runtime
