// Members that come and go, and addresses that change, while the transport runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <boost/asio/post.hpp>
#include <map>

#include "node/base/rng.h"
#include "tests/unit/net/transport_raw_peer.h"

namespace ostraka::net::transport_members_test {
namespace {

using ::testing::IsEmpty;

// Far beyond what a test may take: a test that waits for it fails.
constexpr Duration kForEver = base::Seconds(3600);

// link(up) and link(down) alternate for each peer, up first (transport.h).
void ExpectAlternates(const TestNode& node) {
  std::map<PeerId, bool> up;
  for (const auto& [peer, is_up] : node.links) {
    EXPECT_NE(up[peer], is_up) << peer.Short();
    up[peer] = is_up;
  }
}

class TransportMembers : public ::testing::Test {
 protected:
  // Both run, and know nobody.
  void Start() {
    a_.Start(io_);
    b_.Start(io_);
  }
  base::Status AddTo(TestNode& node, const TestNode& other) {
    return node.transport->Add(other.id(), {other.address()});
  }
  void Connect() {
    Start();
    ASSERT_TRUE(AddTo(a_, b_).ok());
    ASSERT_TRUE(AddTo(b_, a_).ok());
    ASSERT_TRUE(RunUntil(io_, [this] { return BothUp(); })) << a_.AllNotices() << b_.AllNotices();
  }
  bool BothUp() const { return a_.transport->IsUp(b_.id()) && b_.transport->IsUp(a_.id()); }
  // Until everything that is already posted has run.
  void RunWhatIsPosted() {
    bool done = false;
    boost::asio::post(io_, [&done] { done = true; });
    ASSERT_TRUE(RunUntil(io_, [&done] { return done; }));
  }

  boost::asio::io_context io_;
  TestNode a_{0}, b_{1};
};

// --- adding --------------------------------------------------------------------------------------

TEST_F(TransportMembers, AMemberThatIsAddedLaterIsLinked) {
  Connect();
  a_.transport->Send(b_.id(), Frame("from a"));
  b_.transport->Send(a_.id(), Frame("from b"));
  ASSERT_TRUE(RunUntil(io_, [this] { return !a_.messages.empty() && !b_.messages.empty(); }));
  EXPECT_EQ(a_.links.size(), 1u);
}

TEST_F(TransportMembers, OneAddressIsEnoughWhicheverSideHasIt) {
  for (TestNode* dialer : {&a_, &b_}) {
    TestNode* other = dialer == &a_ ? &b_ : &a_;
    Start();
    ASSERT_TRUE(dialer->transport->Add(other->id(), {other->address()}).ok());
    ASSERT_TRUE(other->transport->Add(dialer->id(), {}).ok());
    ASSERT_TRUE(RunUntil(io_, [this] { return BothUp(); }));
    EXPECT_EQ(other->transport->counters().dialed, 0u);
    a_.Kill();
    b_.Kill();
  }
}

TEST_F(TransportMembers, AddedTwiceAMemberKeepsItsLinkAndItsAddresses) {
  Connect();
  const base::Status again = a_.transport->Add(b_.id(), {"192.0.2.1:1"});
  EXPECT_EQ(again.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(base::MessageOf(again), "is a member already");
  RunWhatIsPosted();
  EXPECT_TRUE(BothUp());
  ASSERT_EQ(a_.transport->AddressesOf(b_.id()).size(), 1u);
  EXPECT_EQ(a_.transport->AddressesOf(b_.id())[0].text, b_.address());
}

TEST_F(TransportMembers, WhatMakesNoSenseIsRefusedAndChangesNothing) {
  a_.options.max_members = 2;
  a_.options.members = {a_.AsMember(), {TestKey(4)->id(), ""}};  // itself does not count
  Start();
  EXPECT_EQ(a_.transport->Add(a_.id(), {}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(a_.transport->Add(b_.id(), {"nonsense"}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(a_.transport->Add(b_.id(), {"a:1", "b:1", "c:1", "d:1", "e:1"}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(a_.transport->Add(b_.id(), {}).ok());
  for (std::size_t rank = 5; rank < kTestKeys; ++rank) {
    EXPECT_EQ(a_.transport->Add(TestKey(rank)->id(), {}).code(), absl::StatusCode::kUnavailable);
  }
  a_.transport->Forget(b_.id());
  EXPECT_EQ(a_.transport->Add(TestKey(5)->id(), {}).code(), absl::StatusCode::kUnavailable)
      << "a forgotten member keeps its place";
  EXPECT_EQ(base::MessageOf(a_.transport->Add(b_.id(), {})), "was removed from this run");
  EXPECT_TRUE(a_.transport->Remove(b_.id()));
  EXPECT_TRUE(a_.transport->Add(TestKey(5)->id(), {}).ok());
  EXPECT_EQ(a_.transport->counters().by_peer.size(), 2u);
}

TEST_F(TransportMembers, MoreMembersThanTheBoundAreRefusedByMake) {
  a_.options.max_members = 1;
  a_.options.members = {{TestKey(4)->id(), ""}, {TestKey(5)->id(), ""}};
  TransportEvents events;
  events.message = [](const PeerId&, base::SharedBytes, crypto::SharedBlob) {};
  events.link = [](const PeerId&, bool) {};
  const int fd = std::exchange(a_.options.listen_fd, -1);
  const auto made = Transport::Make(io_, a_.options, events);
  a_.options.listen_fd = fd;
  EXPECT_EQ(base::MessageOf(made.status()), "there are 2 members; at most 1 are taken");
}

// It came as a stranger, and was admitted before it said HELLO.
TEST_F(TransportMembers, AStrangerThatIsAddedDuringItsHandshakeIsAdmitted) {
  b_.Start(io_);
  RawPeer peer(b_.port(), *MakeTlsContext(*TestKey(4), RunId(7)));
  RunScript(io_, peer, [&peer] {
    peer.Tls();
    peer.Upgrade();
    peer.ReadHello();
  });
  ASSERT_TRUE(b_.transport->Add(TestKey(4)->id(), {}).ok());
  RunScript(io_, peer, [&peer] {
    peer.Say(GoodHello());
    peer.Read(RecordType::kGo);
  });
  EXPECT_EQ(b_.Ups(), 1u);
  EXPECT_EQ(b_.transport->counters().half_open, 0u);
}

TEST_F(TransportMembers, ARateThatIsTooLowForOneMoreMemberIsSaid) {
  a_.options.max_bytes_per_second = 2 * a_.options.link.min_bytes_per_second;
  a_.options.members = {{TestKey(4)->id(), ""}};
  Start();
  EXPECT_FALSE(a_.Noticed("is too little"));
  ASSERT_TRUE(AddTo(a_, b_).ok()) << "the run has decided, so it is a member all the same";
  EXPECT_TRUE(a_.Noticed("is too little for 2 members: give at least 16384")) << a_.AllNotices();
}

// --- removing ------------------------------------------------------------------------------------

TEST_F(TransportMembers, ARemovedMemberIsAStranger) {
  Connect();
  EXPECT_TRUE(a_.transport->Remove(b_.id()));
  EXPECT_FALSE(a_.transport->IsUp(b_.id()));
  EXPECT_EQ(a_.Downs(), 0u) << "the event came from within Remove";
  EXPECT_TRUE(a_.transport->counters().by_peer.empty());
  EXPECT_THAT(a_.transport->AddressesOf(b_.id()), IsEmpty());
  a_.transport->Send(b_.id(), Frame("into the void"));
  ASSERT_TRUE(RunUntil(io_, [this] { return a_.Downs() == 1 && b_.Downs() == 1; }));
  EXPECT_TRUE(b_.Noticed("its reason: was removed from this run")) << b_.AllNotices();
  // b dials again and again, and hears what strangers hear.
  ASSERT_TRUE(RunUntil(io_, [this] { return b_.transport->counters().dialed >= 3; }));
  EXPECT_TRUE(b_.Noticed("its reason: is not a member of this run")) << b_.AllNotices();
  EXPECT_EQ(a_.links.size(), 2u);
  EXPECT_EQ(a_.transport->counters().links_up, 0u);
  EXPECT_THAT(b_.messages, IsEmpty());
}

TEST_F(TransportMembers, RemovingAStrangerDoesNothing) {
  Connect();
  EXPECT_FALSE(a_.transport->Remove(TestKey(4)->id()));
  EXPECT_TRUE(a_.transport->Remove(b_.id()));
  EXPECT_FALSE(a_.transport->Remove(b_.id()));
  ASSERT_TRUE(RunUntil(io_, [this] { return a_.Downs() == 1; }));
  RunWhatIsPosted();
  EXPECT_EQ(a_.links.size(), 2u);
}

TEST_F(TransportMembers, AddedAgainAMemberIsLinkedAgain) {
  Connect();
  a_.transport->Remove(b_.id());
  ASSERT_TRUE(RunUntil(io_, [this] { return a_.Downs() == 1; }));
  ASSERT_TRUE(AddTo(a_, b_).ok());
  ASSERT_TRUE(RunUntil(io_, [this] { return a_.Ups() == 2 && BothUp(); }));
  a_.transport->Send(b_.id(), Frame("again"));
  ASSERT_TRUE(RunUntil(io_, [this] { return !b_.messages.empty(); }));
  ExpectAlternates(a_);
  ExpectAlternates(b_);
}

// The old link ends for people before the new one begins, though the membership changed at once.
TEST_F(TransportMembers, RemovedAndAddedInOneCallTheEventsStillAlternate) {
  for (TestNode* node : {&a_, &b_}) {
    TestNode* other = node == &a_ ? &b_ : &a_;
    Connect();
    EXPECT_TRUE(node->transport->Remove(other->id()));
    ASSERT_TRUE(AddTo(*node, *other).ok());
    EXPECT_FALSE(node->transport->IsUp(other->id()));
    ASSERT_TRUE(RunUntil(io_, [&] { return node->Ups() == 2 && BothUp(); }));
    EXPECT_EQ(node->links, (std::vector<std::pair<PeerId, bool>>{
                               {other->id(), true}, {other->id(), false}, {other->id(), true}}));
    for (TestNode* each : {&a_, &b_}) {
      each->Kill();
      each->links.clear();
    }
  }
}

// The name server is asked in a thread of its own; its answer must find nobody.
TEST_F(TransportMembers, RemovedWhileItsAddressIsResolved) {
  Start();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(a_.transport->Add(b_.id(), {"localhost:" + std::to_string(b_.port())}).ok());
    EXPECT_EQ(a_.transport->counters().connections_open, 1u);
    EXPECT_TRUE(a_.transport->Remove(b_.id()));
    RunWhatIsPosted();
    ASSERT_EQ(a_.transport->counters().connections_open, 0u) << "it awaits the name server";
  }
  EXPECT_THAT(a_.links, IsEmpty());
  EXPECT_EQ(a_.transport->counters().dialed, 20u) << "it is dialed no more";
}

TEST_F(TransportMembers, RemovedWhileTheDialIsInItsHandshake) {
  // Reads the ClientHello, and never answers it.
  boost::asio::ip::tcp::acceptor acceptor(io_, {boost::asio::ip::address_v4::loopback(), 0});
  boost::asio::ip::tcp::socket silent(io_);
  std::array<char, 5> first{};
  bool has_hello = false;
  acceptor.async_accept(silent, [&](boost::system::error_code) {
    silent.async_read_some(boost::asio::buffer(first),
                           [&](boost::system::error_code, std::size_t) { has_hello = true; });
  });
  a_.options.timeouts.handshake = kForEver;
  a_.options.timeouts.hello = kForEver + kForEver;
  a_.Start(io_);
  const std::string port = std::to_string(acceptor.local_endpoint().port());
  ASSERT_TRUE(a_.transport->Add(b_.id(), {"127.0.0.1:" + port}).ok());
  ASSERT_TRUE(RunUntil(io_, [&has_hello] { return has_hello; }));
  EXPECT_EQ(a_.transport->counters().connections_open, 1u);
  EXPECT_TRUE(a_.transport->Remove(b_.id()));
  EXPECT_TRUE(RunUntil(io_, [this] { return a_.transport->counters().connections_open == 0; }));
}

TEST_F(TransportMembers, RemovedWhileItsOwnHandshakeIsUnderWay) {
  b_.options.members = {{TestKey(4)->id(), ""}};
  b_.Start(io_);
  RawPeer peer(b_.port(), *MakeTlsContext(*TestKey(4), RunId(7)));
  RunScript(io_, peer, [&peer] {
    peer.Tls();
    peer.Upgrade();
    peer.ReadHello();
  });
  EXPECT_TRUE(b_.transport->Remove(TestKey(4)->id()));
  std::string reason;
  RunScript(io_, peer, [&] {
    peer.Say(GoodHello());
    reason = peer.ReadUntilClosed();
  });
  EXPECT_EQ(reason, "was removed from this run");
  EXPECT_EQ(peer.close_code(), 4002);
  EXPECT_THAT(b_.links, IsEmpty());
}

// Removed between TLS and its end: what it is, is judged when it says HELLO.
TEST_F(TransportMembers, RemovedBeforeItsKeyIsProven) {
  b_.options.members = {{TestKey(4)->id(), ""}};
  b_.Start(io_);
  RawPeer peer(b_.port(), *MakeTlsContext(*TestKey(4), RunId(7)));
  ASSERT_TRUE(RunUntil(io_, [this] { return b_.transport->counters().accepted == 1; }));
  EXPECT_TRUE(b_.transport->Remove(TestKey(4)->id()));
  std::string reason;
  RunScript(io_, peer, [&] {
    peer.Tls();
    peer.Upgrade();
    peer.Say(GoodHello());
    reason = peer.ReadUntilClosed();
  });
  EXPECT_EQ(reason, "is not a member of this run");
  EXPECT_EQ(peer.close_code(), 4001);
}

// It reads nothing, so that everything waits in its queue.
TEST_F(TransportMembers, RemovedWhileBulkWaitsForItTheQueueIsFreedAtOnce) {
  b_.options.members = {{TestKey(4)->id(), ""}};
  b_.options.timeouts.close = base::Milliseconds(100);
  b_.Start(io_);
  RawPeer peer(b_.port(), *MakeTlsContext(*TestKey(4), RunId(7)));
  RunScript(io_, peer, [&peer] { peer.Link(GoodHello(), false); });
  ASSERT_TRUE(RunUntil(io_, [this] { return b_.Ups() == 1; }));
  const crypto::SharedBlob blob = TestBlob(4 << 20);
  for (int i = 0; i < 4; ++i) b_.transport->Send(TestKey(4)->id(), Frame("bulk"), blob);
  ASSERT_TRUE(
      RunUntil(io_, [this] { return b_.transport->counters().total.payload_sent >= (64 << 10); }));
  EXPECT_GT(b_.transport->counters().queued_bulk_bytes, std::uint64_t{8} << 20);
  EXPECT_TRUE(b_.transport->Remove(TestKey(4)->id()));
  EXPECT_EQ(b_.transport->counters().queued_bulk_bytes, 0u);
  ASSERT_TRUE(RunUntil(io_, [this] { return b_.transport->counters().connections_open == 0; }));
  EXPECT_EQ(b_.Downs(), 1u);
  EXPECT_TRUE(RunUntil(io_, [&blob] { return blob.use_count() == 1; })) << "somebody holds it";
}

TEST_F(TransportMembers, ARemovedPeerThatKeepsDialingIsRefusedEachTime) {
  b_.options.members = {{TestKey(4)->id(), ""}};
  b_.Start(io_);
  const TlsContext tls = *MakeTlsContext(*TestKey(4), RunId(7));
  RawPeer first(b_.port(), tls);
  RunScript(io_, first, [&first] { first.Link(GoodHello(), false); });
  b_.transport->Remove(TestKey(4)->id());
  for (int i = 0; i < 12; ++i) {
    RawPeer peer(b_.port(), tls);
    std::string reason;
    RunScript(io_, peer, [&] {
      peer.Tls();
      peer.Upgrade();
      peer.Say(GoodHello(1, 1));
      reason = peer.ReadUntilClosed();
    });
    EXPECT_EQ(reason, "is not a member of this run");
    EXPECT_EQ(peer.close_code(), 4001);
  }
  EXPECT_EQ(b_.links.size(), 2u);
  EXPECT_EQ(b_.transport->counters().refused_by[static_cast<std::size_t>(Refusal::kIdentity)], 12u);
  EXPECT_TRUE(RunUntil(io_, [this] { return b_.transport->counters().half_open == 0; }));
}

TEST_F(TransportMembers, ChangesFromWithinEvents) {
  Start();
  b_.on_message = [this](const Received& received) {
    if (received.frame == "remove") b_.transport->Remove(received.from);
  };
  // Comes back as soon as it is gone, from within the event that says so.
  b_.on_link = [this](const PeerId& peer, bool up) {
    if (!up && b_.Downs() <= 2) {
      EXPECT_TRUE(b_.transport->Add(peer, {a_.address()}).ok());
    }
    if (up && b_.Ups() == 3) b_.transport->Remove(peer);
  };
  ASSERT_TRUE(AddTo(a_, b_).ok());
  ASSERT_TRUE(AddTo(b_, a_).ok());
  for (std::size_t round = 1; round <= 2; ++round) {
    ASSERT_TRUE(RunUntil(io_, [&] { return b_.Ups() == round && BothUp(); })) << round;
    a_.transport->Send(b_.id(), Frame("remove"));
    a_.transport->Send(b_.id(), Frame("never"));
    ASSERT_TRUE(RunUntil(io_, [&] { return b_.Downs() == round; })) << round;
    EXPECT_EQ(b_.messages.size(), round) << "a message came after Remove";
  }
  ASSERT_TRUE(RunUntil(io_, [this] { return b_.Downs() == 3; }));
  ExpectAlternates(a_);
  ExpectAlternates(b_);
  EXPECT_FALSE(b_.transport->IsUp(a_.id()));
}

// A new instance replaces the link; the event of the old one removes the member.
TEST_F(TransportMembers, RemovedFromWithinTheEventOfAReplacedLink) {
  b_.options.members = {{TestKey(4)->id(), ""}};
  b_.on_link = [this](const PeerId& peer, bool up) {
    if (up) return;
    b_.transport->Remove(peer);
    EXPECT_TRUE(b_.transport->Add(peer, {}).ok());
  };
  b_.Start(io_);
  const TlsContext tls = *MakeTlsContext(*TestKey(4), RunId(7));
  RawPeer first(b_.port(), tls), second(b_.port(), tls), third(b_.port(), tls);
  RunScript(io_, first, [&first] { first.Link(GoodHello(1), false); });
  std::string reason;
  RunScript(io_, second, [&] {
    second.Tls();
    second.Upgrade();
    second.Say(GoodHello(2));
    reason = second.ReadUntilClosed();
  });
  EXPECT_EQ(reason, "was removed from this run");
  EXPECT_EQ(b_.links.size(), 2u);
  RunScript(io_, third, [&third] { third.Link(GoodHello(3), false); });
  ASSERT_TRUE(RunUntil(io_, [this] { return b_.Ups() == 2; }));
  ExpectAlternates(b_);
}

// --- the end -------------------------------------------------------------------------------------

TEST_F(TransportMembers, AMemberThatIsRemovedIsAwaitedNoMore) {
  Connect();
  b_.Kill();
  ASSERT_TRUE(RunUntil(io_, [this] { return a_.Downs() == 1; }));
  bool done = false;
  a_.transport->Part(kForEver, [&done] { done = true; });
  RunWhatIsPosted();
  EXPECT_FALSE(done) << "it did not wait";
  EXPECT_EQ(a_.transport->Add(TestKey(4)->id(), {}).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(a_.transport->Remove(b_.id()));
  EXPECT_TRUE(RunUntil(io_, [&done] { return done; }));
}

TEST_F(TransportMembers, RemovedAfterShutdownBegan) {
  Connect();
  bool done = false;
  a_.transport->Send(b_.id(), Frame("bulk"), TestBlob(8 << 20));
  a_.transport->Shutdown(kForEver, [&done] { done = true; });
  EXPECT_TRUE(a_.transport->Remove(b_.id()));
  EXPECT_TRUE(RunUntil(io_, [&] { return done && a_.Downs() == 1; }));
}

// --- churn ---------------------------------------------------------------------------------------

// Any order of calls: the events alternate, the invariants of the classes hold (they are CHECKed),
// and in the end everybody is linked with everybody.
TEST_F(TransportMembers, AnyOrderOfChangesEndsInACompleteMesh) {
  TestNode c(2);
  const std::vector<TestNode*> nodes = {&a_, &b_, &c};
  for (TestNode* node : nodes) {
    node->options.backoff.first = node->options.backoff.longest = base::Milliseconds(5);
    node->options.timeouts.close = base::Milliseconds(50);
    node->options.admission.handshakes_per_second = 1'000'000'000;  // removed ones are strangers
    node->Start(io_);
  }
  base::Rng rng(2026);
  const auto change = [&] {
    TestNode* node = nodes[rng.Below(3)];
    const TestNode* other = nodes[rng.Below(3)];
    switch (rng.Below(6)) {
      case 0:
        node->transport->Remove(other->id());
        return;
      case 1:
        node->transport->SetAddresses(other->id(), {other->address()}, AddressSource::kAnnounced)
            .IgnoreError();
        return;
      case 2:
        node->transport->Send(other->id(), Frame("f"), TestBlob(100'000));
        return;
      default:
        node->transport->Add(other->id(), {other->address()}).IgnoreError();
        return;
    }
  };
  for (int i = 0; i < 300; ++i) {
    change();
    io_.restart();
    for (std::uint64_t handlers = rng.Below(60); handlers > 0; --handlers) {
      io_.run_one_for(std::chrono::milliseconds(1));
    }
  }
  for (TestNode* node : nodes) {
    for (const TestNode* other : nodes) {
      node->transport->Add(other->id(), {other->address()}).IgnoreError();
    }
  }
  ASSERT_TRUE(RunUntil(io_, [&] {
    return std::all_of(nodes.begin(), nodes.end(), [](const TestNode* node) {
      return node->transport->counters().links_up == 2 &&
             node->transport->counters().connections_open == 2;
    });
  })) << a_.AllNotices();
  for (const TestNode* node : nodes) {
    ExpectAlternates(*node);
    EXPECT_GT(node->links.size(), 3u) << "nothing was churned";
  }
}

}  // namespace
}  // namespace ostraka::net::transport_members_test
