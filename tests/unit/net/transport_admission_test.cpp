// Who is let in from outside, and who must wait or go: the rules without sockets, then with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>

#include "node/net/mesh/admission.h"
#include "node/os/endpoint.h"
#include "tests/unit/net/transport_raw_peer.h"

namespace ostraka::net::transport_admission_test {
namespace {

using ::testing::HasSubstr;

constexpr base::Time kStart{base::Seconds(1000).ns};

std::string ReasonOf(const base::Status& status) {
  return status.ok() ? "ok" : base::MessageOf(status);
}

constexpr auto kKnown = Standing::kKnown;
constexpr auto kAsker = Standing::kAsker;
constexpr auto kUnnamed = Standing::kUnnamed;

TEST(Admission, OneAddressMayNotHoldMany) {
  Admission admission({}, 4);
  for (int i = 0; i < 16; ++i) {
    ASSERT_TRUE(admission.Admit(kStart, "192.0.2.1", false).ok()) << i;
    admission.Enter("192.0.2.1");
  }
  EXPECT_EQ(ReasonOf(admission.Admit(kStart, "192.0.2.1", false)),
            "came while 16 connections from its address were half-open");
  EXPECT_TRUE(admission.Admit(kStart, "192.0.2.2", false).ok());
  admission.Leave("192.0.2.1");
  EXPECT_TRUE(admission.Admit(kStart, "192.0.2.1", false).ok());
}

TEST(Admission, StandsByItsAddressAndByWhatItAskedFor) {
  EXPECT_EQ(Admission::StandingOf(true, false, false), kKnown);
  EXPECT_EQ(Admission::StandingOf(false, false, true), kAsker);
  EXPECT_EQ(Admission::StandingOf(false, false, false), kUnnamed);
  EXPECT_EQ(Admission::StandingOf(true, true, true), kAsker) << "loopback is everybody's";
}

class Charges : public ::testing::Test {
 protected:
  static AdmissionLimits Few() {
    AdmissionLimits limits;
    limits.half_open = 10;
    limits.half_open_per_address = 2;
    limits.handshakes_per_second = 50;
    limits.handshakes_per_prefix = 5;
    limits.unnamed_per_second = 3;
    return limits;
  }
  // How many from `prefix` are let in at `now`.
  int Charged(base::Time now, const std::string& prefix, Standing standing,
              bool is_loopback = false) {
    int count = 0;
    while (count < 1000 && admission_.Charge(now, prefix, is_loopback, standing).ok()) ++count;
    return count;
  }
  static constexpr base::Time kLater = kStart + base::Milliseconds(1001);

  Admission admission_{Few(), 4};
};

// The flood that used to keep members out: whoever does not name the run takes nothing from those
// who do, however many come.
TEST_F(Charges, WhoNamesNoRunTakesNothingFromWhoDoes) {
  EXPECT_EQ(Charged(kStart, "a", kUnnamed), 10);
  EXPECT_EQ(Charged(kLater, "b", kUnnamed), 4);
  EXPECT_EQ(ReasonOf(admission_.Charge(kLater, "c", false, kUnnamed)),
            "came while more than 3 a second did that did not name this run");
  EXPECT_EQ(Charged(kLater, "a", kAsker), 10) << "two places and each member twice";
}

TEST_F(Charges, OneNetworkTakesNothingFromAnother) {
  EXPECT_EQ(Charged(kStart, "10.0.0.0/24", kAsker), 10);
  EXPECT_EQ(ReasonOf(admission_.Charge(kStart, "10.0.0.0/24", false, kAsker)),
            "came while more than 5 strangers a second did from 10.0.0.0/24");
  EXPECT_EQ(Charged(kStart, "10.0.1.0/24", kAsker), 8) << "what is left of that of all";
  EXPECT_EQ(ReasonOf(admission_.Charge(kStart, "10.0.2.0/24", false, kAsker)),
            "came while more than 50 strangers a second did");
  EXPECT_EQ(Charged(kLater, "10.0.0.0/24", kAsker), 6);
  // All that one network does leaves the others most of the rate.
  EXPECT_EQ(Charged(kLater, "10.0.3.0/24", kAsker), 10);
}

TEST_F(Charges, AKnownAddressAndLoopbackArePaidForByTheirOwn) {
  EXPECT_EQ(Charged(kStart, "10.0.0.0/24", kKnown), 1000);
  EXPECT_EQ(Charged(kStart, "127.0.0.0/24", kAsker, true), 18) << "only the rate of all";
}

// Members behind one NAT restart together, again and again: none of it counts.
TEST_F(Charges, WhoProvesAMembersKeyIsGivenBackWhatItTook) {
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(admission_.Charge(kStart, "10.0.0.0/24", false, kAsker).ok()) << i;
    admission_.GiveBack("10.0.0.0/24", false, kAsker);
    if (i % 2 == 0) continue;
    ASSERT_TRUE(admission_.Charge(kStart, "10.0.0.0/24", false, kUnnamed).ok()) << i;
    admission_.GiveBack("10.0.0.0/24", false, kUnnamed);
  }
}

TEST_F(Charges, EachStandingHasPlacesOfItsOwn) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(admission_.is_full(kUnnamed));
    admission_.Begin(kUnnamed);
    admission_.Begin(kKnown);
  }
  EXPECT_TRUE(admission_.is_full(kUnnamed));
  EXPECT_FALSE(admission_.is_full(kAsker));
  EXPECT_FALSE(admission_.is_full(kKnown));
  admission_.End(kUnnamed);
  EXPECT_FALSE(admission_.is_full(kUnnamed));
}

TEST(Admission, AnAddressThatIsRefusedAgainAndAgainIsNotHeard) {
  Admission admission({}, 4);
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
  Admission admission({}, 4);
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
  Admission admission({}, 4);
  for (int i = 0; i < 64; ++i) {
    ASSERT_TRUE(admission.Admit(kStart, "127.0.0.1", true).ok()) << i;
    admission.Enter("127.0.0.1");
    admission.OnRefused(kStart, "127.0.0.1", true);
  }
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

// Silent strangers hold every place of those who wait, and more keep coming: a member comes through
// at once, and nobody was charged for a handshake.
TEST_F(TransportAdmission, SilentStrangersKeepNoMemberOut) {
  node_.options.admission.waiting = 8;
  node_.options.admission.handshakes_per_second = 1;
  node_.options.admission.half_open = 1;
  node_.Start(io_);
  std::vector<std::unique_ptr<RawPeer>> silent;
  for (int i = 0; i < 40; ++i) {
    silent.push_back(std::make_unique<RawPeer>(node_.port(), RawTls().Context()));
  }
  ASSERT_TRUE(RunUntil(io_, [&] { return node_.transport->counters().accepted == 40; }));
  EXPECT_EQ(node_.transport->counters().half_open, 8U);
  EXPECT_EQ(Refused(Refusal::kQuota), 32U);
  RawPeer member(node_.port(), *MakeTlsContext(*TestKey(4), RunId(7)));
  RunScript(io_, member, [&] { member.Link(GoodHello(), false); });
  EXPECT_EQ(node_.Ups(), 1U);
}

// Those who ask for this run, and for another or none, have places and rates of their own.
TEST_F(TransportAdmission, WhoNamesAnotherRunTakesNoPlaceOfThisOne) {
  node_.options.admission.half_open = 2;
  node_.options.admission.unnamed_per_second = 1;
  node_.options.admission.half_open_grace = base::Seconds(60);
  node_.Start(io_);
  const std::string other = FirstBytesOf(*MakeTlsContext(*TestKey(5), RunId(9)));
  std::vector<std::unique_ptr<RawPeer>> strangers;
  for (int i = 0; i < 20; ++i) {
    strangers.push_back(std::make_unique<RawPeer>(node_.port(), RawTls().Context()));
    strangers.back()->SendBytes(other);
  }
  ASSERT_TRUE(RunUntil(io_, [&] { return Refused(Refusal::kQuota) >= 17; })) << node_.AllNotices();
  RawPeer member(node_.port(), *MakeTlsContext(*TestKey(4), RunId(7)));
  RunScript(io_, member, [&] { member.Link(GoodHello(), false); });
  EXPECT_EQ(node_.Ups(), 1U);
}

// A member that restarts more often than strangers may come is let in each time: its key is proven.
TEST_F(TransportAdmission, AMemberIsNoStranger) {
  node_.options.admission.handshakes_per_second = 1;
  node_.options.admission.half_open = 1;
  node_.Start(io_);
  for (std::uint64_t instance = 1; instance <= 12; ++instance) {
    RawPeer member(node_.port(), *MakeTlsContext(*TestKey(4), RunId(7)));
    RunScript(io_, member, [&] { member.Link(GoodHello(instance), false); });
    ASSERT_EQ(node_.Ups(), instance) << node_.AllNotices();
  }
}

// One who began a handshake and left it has his time, and then gives way.
TEST_F(TransportAdmission, WhoHadHisTimeGivesWay) {
  node_.options.admission.half_open = 3;
  node_.options.admission.half_open_grace = base::Milliseconds(50);
  node_.Start(io_);
  const std::string hello = FirstBytesOf(*MakeTlsContext(*TestKey(5), RunId(7)));
  std::vector<std::unique_ptr<RawPeer>> stalled;
  for (int i = 0; i < 3; ++i) {
    stalled.push_back(std::make_unique<RawPeer>(node_.port(), RawTls().Context()));
    stalled.back()->SendBytes(hello);
  }
  ASSERT_TRUE(RunUntil(io_, [&] { return node_.transport->counters().half_open == 3; }));
  RunUntil(
      io_, [] { return false; }, base::Milliseconds(60));
  RawPeer member(node_.port(), *MakeTlsContext(*TestKey(4), RunId(7)));
  RunScript(io_, member, [&] { member.Link(GoodHello(), false); });
  EXPECT_EQ(node_.Ups(), 1u);
  EXPECT_TRUE(node_.Noticed("gave way to others: it was half-open for long"));
  EXPECT_EQ(Refused(Refusal::kQuota), 1u);
  EXPECT_EQ(node_.transport->counters().half_open, 2u);
}

// Who has proven a member's key gives way to no stranger.
TEST_F(TransportAdmission, AMemberGivesNoWay) {
  node_.options.admission.half_open = 1;
  node_.options.admission.half_open_grace = {};
  node_.Start(io_);
  const auto member = HalfOpen(4);
  const std::string hello = FirstBytesOf(*MakeTlsContext(*TestKey(5)));
  RawPeer stalled(node_.port(), RawTls().Context());
  stalled.SendBytes(hello);
  ASSERT_TRUE(RunUntil(io_, [&] { return node_.transport->counters().half_open == 2; }));
  RawPeer next(node_.port(), RawTls().Context());
  next.SendBytes(hello);
  ASSERT_TRUE(RunUntil(io_, [&] { return node_.Noticed("gave way"); }));
  RunScript(io_, *member, [&] {
    member->Say(GoodHello());
    member->Read(RecordType::kGo);
  });
  EXPECT_EQ(node_.Ups(), 1u);
}

TEST_F(TransportAdmission, FewNonMembersAtATimeAreToldWhy) {
  node_.options.admission.non_members = 2;
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
  node_.options.admission.half_open_per_member = 2;
  node_.Start(io_);
  const auto first = HalfOpen(4);
  const auto second = HalfOpen(4);
  ExpectRefusedAfterTls(4, "has 2 other connections half-open");
}

TEST_F(TransportAdmission, AFloodThatNamesTheRunIsRefusedWithoutAHandshake) {
  node_.options.admission.half_open = 2;
  node_.options.admission.handshakes_per_second = 1;
  node_.Start(io_);
  const std::string hello = FirstBytesOf(*MakeTlsContext(*TestKey(5), RunId(7)));
  std::vector<std::unique_ptr<RawPeer>> peers;
  for (int i = 0; i < 20; ++i) {
    peers.push_back(std::make_unique<RawPeer>(node_.port(), RawTls().Context()));
    peers.back()->SendBytes(hello);
  }
  // A burst of four is charged, of which two have a place; some more a second.
  ASSERT_TRUE(RunUntil(io_, [&] { return Refused(Refusal::kQuota) >= 16; })) << node_.AllNotices();
  EXPECT_TRUE(node_.Noticed("came while more than 1 strangers a second did")) << node_.AllNotices();
}

// Connects to each port so many times a second, and says nothing; from a thread of its own.
class Crowd {
 public:
  Crowd(std::vector<std::uint16_t> ports, int per_second)
      : thread_([this, ports = std::move(ports), per_second] { Run(ports, per_second); }) {}
  ~Crowd() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    is_over_.notify_one();
    thread_.join();
    for (const int fd : held_) close(fd);
  }
  int made() const { return made_; }

 private:
  void Run(const std::vector<std::uint16_t>& ports, int per_second) {
    const auto begin = std::chrono::steady_clock::now();
    for (int round = 0;; ++round) {
      {
        std::unique_lock lock(mutex_);
        const auto due = begin + round * std::chrono::seconds(1) / per_second;
        if (is_over_.wait_until(lock, due, [this] { return over_; })) return;
      }
      for (const std::uint16_t port : ports) {
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
        held_.push_back(fd);
        ++made_;
      }
      while (held_.size() > 400) {
        close(held_.front());
        held_.pop_front();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable is_over_;
  bool over_ = false;
  std::atomic<int> made_ = 0;
  std::deque<int> held_;
  std::thread thread_;
};

// The attack of attacks-2026-11 (5): 400 bare connections a second at every door, and one of four
// members starts again. Its address tells nobody who it is: loopback is everybody's.
TEST(TransportCrowd, AMemberThatStartsAgainHasItsLinksWithinFiveSeconds) {
  boost::asio::io_context io;
  std::vector<std::unique_ptr<TestNode>> nodes;
  std::vector<TestNode*> all;
  for (std::size_t i = 0; i < 4; ++i) {
    nodes.push_back(std::make_unique<TestNode>(i));
    nodes.back()->options.timeouts = {};
    nodes.back()->options.backoff = {};
    all.push_back(nodes.back().get());
  }
  Introduce(all);
  for (TestNode* node : all) node->Start(io);
  const auto links = [](const TestNode& node) { return node.transport->counters().links_up; };
  ASSERT_TRUE(RunUntil(io, [&] {
    return std::all_of(all.begin(), all.end(), [&](TestNode* node) { return links(*node) == 3; });
  }));
  for (const std::size_t back : {3U, 0U}) {
    std::vector<std::uint16_t> ports;
    for (TestNode* node : all) ports.push_back(node->port());
    const Crowd crowd(std::move(ports), 400);
    RunUntil(
        io, [&] { return crowd.made() >= 1600; }, base::Seconds(5));
    all[back]->Kill();
    const auto begin = std::chrono::steady_clock::now();
    all[back]->Start(io);
    EXPECT_TRUE(RunUntil(
        io, [&] { return links(*all[back]) == 3; }, base::Seconds(5)))
        << all[back]->AllNotices();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::printf("3 links after %.3f s, %d strangers so far\n", took.count(), crowd.made());
  }
}

// Nodes on [::] meet members of both families, and both count as what they are.
TEST_F(TransportAdmission, BothFamiliesOfAddresses) {
  TestNode v6(5);
  const auto make = [this](TestNode& node) {
    node.options.listen_fd = *os::ListenOn("[::]:0");
    const std::uint16_t port = *os::ListeningPort(node.options.listen_fd);
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
}  // namespace ostraka::net::transport_admission_test
