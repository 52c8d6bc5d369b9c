// Links between honest nodes: what arrives, in which order, and how links come and go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "node/wire/limits.h"
#include "tests/unit/net/transport_net.h"

namespace ostraka::net::transport_link_test {
namespace {

using ::testing::HasSubstr;

class TransportLink : public ::testing::Test {
 protected:
  // Starts both and waits until each has the other.
  void Connect(TestNode& a, TestNode& b) {
    Introduce({&a, &b});
    a.Start(io_);
    b.Start(io_);
    ASSERT_TRUE(RunUntil(io_, [&] { return BothUp(a, b); })) << a.AllNotices() << b.AllNotices();
  }
  static bool BothUp(const TestNode& a, const TestNode& b) {
    return a.transport->IsUp(b.id()) && b.transport->IsUp(a.id());
  }

  boost::asio::io_context io_;
};

TEST_F(TransportLink, MessagesGoBothWays) {
  TestNode a(0), b(1);
  Connect(a, b);
  a.transport->Send(b.id(), Frame("from a"));
  b.transport->Send(a.id(), Frame("from b"));
  ASSERT_TRUE(RunUntil(io_, [&] { return !a.messages.empty() && !b.messages.empty(); }));
  EXPECT_EQ(b.messages[0].frame, "from a");
  EXPECT_EQ(b.messages[0].from, a.id());
  EXPECT_EQ(b.messages[0].blob, nullptr);
  EXPECT_EQ(a.messages[0].frame, "from b");
}

TEST_F(TransportLink, BlobsOfAllSizesArriveWholeWithTheirRoot) {
  TestNode a(0), b(1);
  Connect(a, b);
  // Around the ends of chunks; 150 MiB of leaves would not fit one record, 5 MiB has 80.
  const std::vector<std::size_t> sizes = {0,      1,      65535,   65536,          65537,
                                          131072, 200001, 1 << 20, (5 << 20) + 123};
  for (const auto& [from, to] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    for (const std::size_t size : sizes) {
      from->transport->Send(to->id(), Frame("blob " + std::to_string(size)), TestBlob(size));
    }
    ASSERT_TRUE(RunUntil(io_, [&, to = to] { return to->messages.size() == sizes.size(); }))
        << to->AllNotices();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Received& received = to->messages[i];
      EXPECT_EQ(received.frame, "blob " + std::to_string(sizes[i]));
      ASSERT_NE(received.blob, nullptr);
      EXPECT_EQ(received.blob->data, TestBlob(sizes[i])->data) << sizes[i];
      EXPECT_EQ(received.blob->root, crypto::MerkleRootOfData(received.blob->data));
    }
  }
}

TEST_F(TransportLink, ABlobWithMoreLeavesThanOneRecordHolds) {
  TestNode a(0), b(1);
  a.options.max_blob_bytes = b.options.max_blob_bytes = 256 << 20;
  Connect(a, b);
  const crypto::SharedBlob blob = TestBlob((std::size_t{2049} << 16) + 5);
  a.transport->Send(b.id(), Frame("large"), blob);
  ASSERT_TRUE(RunUntil(
      io_, [&] { return !b.messages.empty(); }, base::Seconds(60)));
  EXPECT_EQ(b.messages[0].blob->root, blob->root);
  EXPECT_EQ(b.messages[0].blob->data, blob->data);
}

TEST_F(TransportLink, ControlKeepsItsOrder) {
  TestNode a(0), b(1);
  Connect(a, b);
  constexpr int kCount = 2000;
  for (int i = 0; i < kCount; ++i) a.transport->Send(b.id(), Frame(std::to_string(i)));
  ASSERT_TRUE(RunUntil(io_, [&] { return b.messages.size() == kCount; }));
  for (int i = 0; i < kCount; ++i) ASSERT_EQ(b.messages[i].frame, std::to_string(i));
}

TEST_F(TransportLink, ControlOvertakesABlobUnderWay) {
  TestNode a(0), b(1);
  Connect(a, b);
  a.transport->Send(b.id(), Frame("bulk"), TestBlob(48 << 20));
  ASSERT_TRUE(
      RunUntil(io_, [&] { return b.transport->counters().total.payload_received >= (1 << 20); }));
  ASSERT_TRUE(b.messages.empty());
  a.transport->Send(b.id(), Frame("control"));
  ASSERT_TRUE(RunUntil(io_, [&] { return b.messages.size() == 2; }));
  EXPECT_EQ(b.messages[0].frame, "control");
  EXPECT_EQ(b.messages[1].frame, "bulk");
}

TEST_F(TransportLink, TheLargestFrameArrivesWithAndWithoutABlob) {
  TestNode a(0), b(1);
  Connect(a, b);
  const std::string largest(wire::kMaxFrameBytes, 'x');
  a.transport->Send(b.id(), Frame(largest));
  a.transport->Send(b.id(), Frame(largest), TestBlob(10));
  ASSERT_TRUE(RunUntil(io_, [&] { return b.messages.size() == 2; })) << b.AllNotices();
  EXPECT_EQ(b.messages[0].frame, largest);
  EXPECT_EQ(b.messages[1].frame, largest);
}

TEST_F(TransportLink, UnhashedBlobsArriveAmongThoseWhoAllowThem) {
  TestNode a(0), b(1);
  a.options.allow_unhashed = b.options.allow_unhashed = true;
  Connect(a, b);
  const auto raw =
      std::make_shared<const crypto::Blob>(crypto::Blob{base::Bytes(200'000, 9), base::Digest{}});
  const auto empty = std::make_shared<const crypto::Blob>();
  a.transport->Send(b.id(), Frame("raw"), raw);
  a.transport->Send(b.id(), Frame("empty"), empty);
  a.transport->Send(b.id(), Frame("hashed"), TestBlob(70'000));
  ASSERT_TRUE(RunUntil(io_, [&] { return b.messages.size() == 3; }));
  EXPECT_EQ(b.messages[0].blob->data, raw->data);
  EXPECT_TRUE(b.messages[0].blob->root.is_zero());
  EXPECT_TRUE(b.messages[1].blob->data.empty());
  EXPECT_EQ(b.messages[2].blob->root, TestBlob(70'000)->root);
}

TEST_F(TransportLink, SimultaneousDialsMakeExactlyOneLink) {
  for (int round = 0; round < 20; ++round) {
    TestNode a(0), b(1);
    Connect(a, b);
    a.transport->Send(b.id(), Frame("a"));
    b.transport->Send(a.id(), Frame("b"));
    // No half-open connection is left on either side, so nothing is under way that could disturb.
    ASSERT_TRUE(RunUntil(io_, [&] {
      return a.messages.size() == 1 && b.messages.size() == 1 &&
             a.transport->counters().half_open == 0 && b.transport->counters().half_open == 0;
    }));
    EXPECT_EQ(a.transport->counters().dialed, 1u);
    EXPECT_EQ(b.transport->counters().dialed, 1u);
    EXPECT_EQ(a.links, (std::vector<std::pair<PeerId, bool>>{{b.id(), true}}));
    EXPECT_EQ(b.links, (std::vector<std::pair<PeerId, bool>>{{a.id(), true}}));
  }
}

TEST_F(TransportLink, AMeshOfEightIsComplete) {
  std::vector<std::unique_ptr<TestNode>> nodes;
  std::vector<TestNode*> all;
  for (std::size_t i = 0; i < kTestKeys; ++i) {
    nodes.push_back(std::make_unique<TestNode>(i));
    all.push_back(nodes.back().get());
  }
  Introduce(all);
  for (TestNode* node : all) node->Start(io_);
  const auto blob = TestBlob(300'000);
  ASSERT_TRUE(RunUntil(io_, [&] {
    return std::all_of(all.begin(), all.end(), [](const TestNode* node) {
      return node->transport->counters().links_up == kTestKeys - 1;
    });
  }));
  for (TestNode* from : all) {
    for (const TestNode* to : all) from->transport->Send(to->id(), Frame("hi"), blob);
  }
  ASSERT_TRUE(RunUntil(io_, [&] {
    return std::all_of(all.begin(), all.end(),
                       [](const TestNode* node) { return node->messages.size() == kTestKeys - 1; });
  }));
  for (const TestNode* node : all) EXPECT_EQ(node->links.size(), kTestKeys - 1);
}

TEST_F(TransportLink, OneSideAloneCanDial) {
  for (const std::size_t silent : {std::size_t{0}, std::size_t{1}}) {
    TestNode a(silent), b(1 - silent);
    a.options.members = {{b.id(), ""}};
    b.options.members = {a.AsMember()};
    a.Start(io_);
    b.Start(io_);
    ASSERT_TRUE(RunUntil(io_, [&] { return BothUp(a, b); })) << b.AllNotices();
    EXPECT_EQ(a.transport->counters().dialed, 0u);
  }
}

TEST_F(TransportLink, AMemberIsFoundByName) {
  TestNode a(0), b(1);
  a.options.members = {{b.id(), "localhost:" + std::to_string(b.port())}};
  b.options.members = {{a.id(), ""}};
  a.Start(io_);
  b.Start(io_);
  ASSERT_TRUE(RunUntil(io_, [&] { return BothUp(a, b); })) << a.AllNotices();
}

TEST_F(TransportLink, ReconnectsAfterEitherSideIsKilled) {
  for (const std::size_t survivor_rank : {std::size_t{0}, std::size_t{1}}) {
    TestNode survivor(survivor_rank), other(1 - survivor_rank);
    Connect(survivor, other);
    other.Kill();
    ASSERT_TRUE(RunUntil(io_, [&] { return survivor.Downs() == 1; }));
    EXPECT_FALSE(survivor.transport->IsUp(other.id()));
    survivor.transport->Send(other.id(), Frame("into the void"));
    other.Start(io_);
    ASSERT_TRUE(RunUntil(io_, [&] { return BothUp(survivor, other); }));
    survivor.transport->Send(other.id(), Frame("again"));
    ASSERT_TRUE(RunUntil(io_, [&] { return !other.messages.empty(); }));
    EXPECT_EQ(other.messages[0].frame, "again");
    EXPECT_EQ(survivor.links, (std::vector<std::pair<PeerId, bool>>{
                                  {other.id(), true}, {other.id(), false}, {other.id(), true}}));
  }
}

TEST_F(TransportLink, WaitsForAMemberThatStartsLater) {
  TestNode a(0), b(1);
  b.options.members = {{a.id(), ""}};  // only a dials
  a.options.members = {b.AsMember()};
  // Nobody listens there yet: a port that was free a moment ago.
  const int fd = b.options.listen_fd;
  a.Start(io_);
  ASSERT_TRUE(RunUntil(io_, [&] { return a.transport->counters().dialed >= 1; }));
  EXPECT_FALSE(a.transport->IsUp(b.id()));
  EXPECT_EQ(b.options.listen_fd, fd);
  b.Start(io_);
  ASSERT_TRUE(RunUntil(io_, [&] { return BothUp(a, b); }));
}

TEST_F(TransportLink, KeepsDialingAndSaysAFailureOnce) {
  TestNode a(0);
  std::uint16_t dead_port = 0;
  {
    TestNode gone(1);
    dead_port = gone.port();
  }
  a.options.backoff.longest = base::Milliseconds(20);
  a.options.members = {{TestKey(1)->id(), "127.0.0.1:" + std::to_string(dead_port)}};
  std::vector<std::string> loud;
  TransportEvents events;
  events.message = [](const PeerId&, base::SharedBytes, crypto::SharedBlob) {};
  events.link = [](const PeerId&, bool) {};
  events.notice = [&loud](NoticeLevel level, const std::string& line) {
    if (level != NoticeLevel::kDebug) loud.push_back(line);
  };
  auto transport = Transport::Make(io_, a.options, events);
  a.options.listen_fd = -1;
  ASSERT_TRUE(transport.ok());
  (*transport)->Start();
  ASSERT_TRUE(RunUntil(io_, [&] { return (*transport)->counters().dialed >= 5; }));
  ASSERT_EQ(loud.size(), 1u);
  EXPECT_THAT(loud[0], HasSubstr("cannot be reached: Connection refused"));
}

TEST_F(TransportLink, ShutdownFlushesWhatWasQueued) {
  TestNode a(0), b(1);
  Connect(a, b);
  bool done = false;
  a.transport->Send(b.id(), Frame("last blob"), TestBlob(5 << 20));
  for (int i = 0; i < 100; ++i) a.transport->Send(b.id(), Frame(std::to_string(i)));
  a.transport->Shutdown(base::Seconds(10), [&done] { done = true; });
  EXPECT_FALSE(done) << "called from within Shutdown";
  a.transport->Send(b.id(), Frame("too late"));
  ASSERT_TRUE(RunUntil(io_, [&] { return done && b.Downs() == 1; }));
  EXPECT_EQ(b.messages.size(), 101u);
  EXPECT_TRUE(b.Noticed("its reason: shutting down")) << b.AllNotices();
  EXPECT_EQ(a.Downs(), 1u);
}

TEST_F(TransportLink, BothShutDownAtOnce) {
  TestNode a(0), b(1);
  Connect(a, b);
  int done = 0;
  a.transport->Shutdown(base::Seconds(10), [&done] { ++done; });
  b.transport->Shutdown(base::Seconds(10), [&done] { ++done; });
  ASSERT_TRUE(RunUntil(
      io_, [&] { return done == 2; }, base::Seconds(5)));
}

TEST_F(TransportLink, ShutdownWithNothingOpenIsDoneAtOnce) {
  TestNode a(0);
  a.Start(io_);
  bool done = false;
  a.transport->Shutdown(base::Seconds(60), [&done] { done = true; });
  EXPECT_FALSE(done);
  EXPECT_TRUE(RunUntil(
      io_, [&] { return done; }, base::Seconds(5)));
}

TEST_F(TransportLink, ForgettingClosesAndRefusesForEver) {
  TestNode a(0), b(1);
  Connect(a, b);
  a.transport->Forget(b.id());
  EXPECT_FALSE(a.transport->IsUp(b.id()));
  EXPECT_TRUE(a.links.back().second) << "the event came from within Forget";
  ASSERT_TRUE(RunUntil(io_, [&] { return a.Downs() == 1 && b.Downs() == 1; }));
  // b dials again and again, and is told why.
  ASSERT_TRUE(RunUntil(io_, [&] { return b.transport->counters().dialed >= 3; }));
  EXPECT_TRUE(b.Noticed("was removed from this run")) << b.AllNotices();
  EXPECT_EQ(a.Ups(), 1u);
  EXPECT_EQ(a.transport->counters().links_up, 0u);
}

TEST_F(TransportLink, CallsFromWithinEventsAreSafe) {
  TestNode a(0), b(1);
  Connect(a, b);
  b.on_message = [&b](const Received& received) {
    if (received.frame == "echo") b.transport->Send(received.from, Frame("echoed"));
    if (received.frame == "forget") b.transport->Forget(received.from);
  };
  a.transport->Send(b.id(), Frame("echo"));
  a.transport->Send(b.id(), Frame("forget"));
  a.transport->Send(b.id(), Frame("never"));
  ASSERT_TRUE(RunUntil(io_, [&] { return b.Downs() == 1; }));
  EXPECT_EQ(b.messages.size(), 2u) << "a message came after Forget";
}

TEST_F(TransportLink, ControlBeyondTheQueueDisconnects) {
  TestNode a(0), b(1);
  a.options.link.control_queue_bytes = 10'000;
  a.options.members = {b.AsMember()};
  b.options.members = {{a.id(), ""}};  // one connection at a time
  a.Start(io_);
  b.Start(io_);
  ASSERT_TRUE(RunUntil(io_, [&] { return BothUp(a, b); }));
  for (int i = 0; i < 12; ++i) a.transport->Send(b.id(), Frame(std::string(1000, 'x')));
  EXPECT_FALSE(a.transport->IsUp(b.id()));
  EXPECT_EQ(a.Downs(), 0u) << "the event came from within Send";
  ASSERT_TRUE(RunUntil(io_, [&] { return a.Downs() == 1 && b.Downs() == 1 && BothUp(a, b); }));
  EXPECT_TRUE(a.Noticed("takes our messages too slowly")) << a.AllNotices();
  EXPECT_TRUE(b.Noticed("takes our messages too slowly")) << b.AllNotices();
}

TEST_F(TransportLink, CarriedBeyondTheQueueIsDroppedAndDisconnectsNobody) {
  TestNode a(0), b(1), c(2);
  a.options.link.control_queue_bytes = 10'000;
  a.options.link.carried_queue_bytes = 10'000;
  a.options.members = {b.AsMember()};
  b.options.members = {{a.id(), ""}};  // one connection at a time
  a.Start(io_);
  b.Start(io_);
  ASSERT_TRUE(RunUntil(io_, [&] { return BothUp(a, b); }));
  for (int i = 0; i < 40; ++i) {
    a.transport->SendCarried(b.id(), c.id(), Frame(std::string(1000, 'x')));
  }
  a.transport->Send(b.id(), Frame("own"));
  const std::uint64_t dropped = a.transport->counters().total.carried_dropped;
  EXPECT_GE(dropped, 29u) << "ten wait, and one may be on its way";
  ASSERT_TRUE(RunUntil(io_, [&] { return b.messages.size() + dropped == 41; }));
  const auto is_own = [](const Received& received) { return received.frame == "own"; };
  EXPECT_EQ(std::count_if(b.messages.begin(), b.messages.begin() + 2, is_own), 1)
      << "before what waits, whenever that came";
  EXPECT_EQ(a.transport->counters().by_peer.at(b.id()).carried_dropped, dropped);
  EXPECT_TRUE(BothUp(a, b));
  EXPECT_EQ(a.Downs(), 0u);
  EXPECT_LE(wire::kMaxForwardedBytes + 1024, LinkLimits{}.carried_queue_bytes);
}

TEST_F(TransportLink, BulkBeyondTheQueueDisconnects) {
  TestNode a(0), b(1);
  a.options.link.bulk_queue_bytes = 250'000;
  Connect(a, b);
  const auto blob = TestBlob(100'000);
  for (int i = 0; i < 3; ++i) a.transport->Send(b.id(), Frame("f"), blob);
  ASSERT_TRUE(RunUntil(io_, [&] { return a.Downs() == 1; }));
  EXPECT_TRUE(a.Noticed("takes our blobs too slowly")) << a.AllNotices();
}

TEST_F(TransportLink, CountsBytesByPeerAndKind) {
  TestNode a(0), b(1);
  // Only one dials, so that there is one HELLO each: then HELLO, GO, CREDIT.
  a.options.members = {b.AsMember()};
  b.options.members = {{a.id(), ""}};
  a.Start(io_);
  b.Start(io_);
  ASSERT_TRUE(RunUntil(io_, [&] { return BothUp(a, b); }));
  const auto sent_now = [&] { return a.transport->counters().by_peer.at(b.id()).control_sent; };
  ASSERT_TRUE(RunUntil(io_, [&] { return sent_now() == 69u + 9u + 9u; }));
  const Traffic before = a.transport->counters().by_peer.at(b.id());
  a.transport->Send(b.id(), Frame(std::string(1000, 'x')));
  a.transport->Send(b.id(), Frame("f"), TestBlob(200'000));
  ASSERT_TRUE(RunUntil(io_, [&] { return b.messages.size() == 2; }));
  const Traffic sent = a.transport->counters().by_peer.at(b.id());
  const Traffic received = b.transport->counters().by_peer.at(a.id());
  EXPECT_EQ(sent.payload_sent, 200'000u);
  EXPECT_EQ(received.payload_received, 200'000u);
  // A frame of 1,000 with its type; an announcement; four leaves; the types of four chunks.
  EXPECT_EQ(sent.control_sent - before.control_sent, 1001u + (1 + 40 + 1) + (1 + 4 * 32) + 4);
  EXPECT_EQ(a.transport->counters().total.payload_sent, 200'000u);
  EXPECT_EQ(a.transport->counters().links, 1u);
}

TEST_F(TransportLink, DestroyedInTheMiddleOfEverything) {
  for (int events = 0; events < 60; events += 3) {
    TestNode a(0), b(1);
    Introduce({&a, &b});
    a.Start(io_);
    b.Start(io_);
    for (int i = 0; i < events; ++i) {
      io_.restart();
      io_.run_one_for(std::chrono::milliseconds(1));
      a.transport->Send(b.id(), Frame("f"), TestBlob(100'000));
    }
    a.Kill();
    ASSERT_TRUE(RunUntil(io_, [&] { return b.Ups() == b.Downs(); }));
    b.Kill();
    io_.restart();
    io_.poll();  // handlers that were under way find nobody, and say nothing
  }
}

}  // namespace
}  // namespace ostraka::net::transport_link_test
