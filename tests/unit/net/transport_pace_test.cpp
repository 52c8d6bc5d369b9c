// Rates: control goes through whatever bulk does, a cap holds, and who is too slow is let go.
#include <gtest/gtest.h>
#include <malloc.h>

#include <chrono>
#include <set>

#include "node/os/steady_clock.h"
#include "tests/unit/net/transport_raw_peer.h"

namespace ostraka::net::transport_pace_test {
namespace {

class TransportPace : public ::testing::Test {
 protected:
  // Two nodes and the link between them.
  void Connect(TestNode& a, TestNode& b) {
    Introduce({&a, &b});
    a.Start(io_);
    b.Start(io_);
    ASSERT_TRUE(RunUntil(io_, [&] { return a.Ups() == 1 && b.Ups() == 1; }));
  }
  // Looks every 20 ms, so that ten of them are over soon.
  static void LookOften(TestNode& node) {
    node.options.link.look = base::Milliseconds(20);
    node.options.link.slow_looks = 10;
    node.options.link.min_bytes_per_second = 100'000;
  }
  // A member with the larger id that speaks by hand, and the node that it meets.
  void Meet(TestNode& node, RawPeer& peer) {
    RunScript(io_, peer, [&] { peer.Link(GoodHello(), false); });
    ASSERT_TRUE(RunUntil(io_, [&] { return node.Ups() == 1; }));
  }

  boost::asio::io_context io_;
};

TEST_F(TransportPace, ACapHoldsForAllLinksTogether) {
  constexpr std::uint64_t kRate = 4 << 20;
  constexpr std::size_t kBlob = 1 << 20;
  TestNode a(0), b(1), c(2);
  a.options.max_bytes_per_second = kRate;
  Introduce({&a, &b, &c});
  for (TestNode* node : {&a, &b, &c}) node->Start(io_);
  ASSERT_TRUE(RunUntil(io_, [&] { return a.Ups() == 2; }));
  const base::Time begin = os::SteadyNow();
  for (TestNode* to : {&b, &c}) {
    for (int i = 0; i < 2; ++i) a.transport->Send(to->id(), Frame("f"), TestBlob(kBlob));
  }
  ASSERT_TRUE(RunUntil(io_, [&] { return b.messages.size() + c.messages.size() == 4; }));
  // Four MiB at four a second, less the burst of an eighth.
  EXPECT_GE((os::SteadyNow() - begin).seconds(), 0.85);
  EXPECT_LE((os::SteadyNow() - begin).seconds(), 3);
  // Each in its turn: nobody had all of his before the other had any.
  EXPECT_EQ(b.messages.size(), 2u);
  EXPECT_EQ(c.messages.size(), 2u);
}

// --- guests: keys that are no members ---

TEST_F(TransportPace, BulkOfGuestsWaitsForThatOfMembers) {
  constexpr std::size_t kBlob = 512 << 10;
  TestNode a(0), b(1), c(2);
  a.options.max_bytes_per_second = 2 << 20;
  Introduce({&a, &b, &c});
  for (TestNode* node : {&a, &b, &c}) node->Start(io_);
  ASSERT_TRUE(RunUntil(io_, [&] { return a.Ups() == 2; }));
  a.transport->Expect({}, std::set<PeerId>{a.id(), b.id()});
  for (int i = 0; i < 6; ++i) a.transport->Send(c.id(), Frame("guest"), TestBlob(kBlob));
  for (int i = 0; i < 4; ++i) a.transport->Send(b.id(), Frame("member"), TestBlob(kBlob));
  ASSERT_TRUE(RunUntil(io_, [&] { return b.messages.size() == 4; }));
  EXPECT_LE(c.messages.size(), 1u) << "a turn in eight, though it was asked first";
  ASSERT_TRUE(RunUntil(io_, [&] { return c.messages.size() == 6; })) << "it has all turns then";
}

TEST_F(TransportPace, LentChunksWaitForBulkOfMembers) {
  constexpr std::size_t kBytes = 2 << 20;
  TestNode a(0), b(1), c(2);
  a.options.max_bytes_per_second = 2 << 20;
  Introduce({&a, &b, &c});
  std::size_t lent = 0;
  c.on_data = [&](const PeerId&, const DataRecord& record) {
    lent += std::get<DataPiece>(record).bytes.size();
  };
  for (TestNode* node : {&a, &b, &c}) node->Start(io_);
  ASSERT_TRUE(RunUntil(io_, [&] { return a.Ups() == 2; }));
  ASSERT_TRUE(a.transport->Lend(c.id(), 1, std::make_shared<const base::Bytes>(kBytes)));
  for (int i = 0; i < 4; ++i) a.transport->Send(b.id(), Frame("member"), TestBlob(kBytes / 4));
  ASSERT_TRUE(RunUntil(io_, [&] { return b.messages.size() == 4; }));
  EXPECT_LE(lent, kBytes / 4) << "a turn in eight, though it was lent first";
  ASSERT_TRUE(RunUntil(io_, [&] { return lent == kBytes; }));
}

TEST_F(TransportPace, WhatWaitsForAllGuestsTogetherIsBounded) {
  TestNode a(0), b(1), c(2), d(3);
  a.options.max_bytes_per_second = 100'000;
  a.options.link.bulk_queue_bytes = 1 << 20;
  a.options.link.control_queue_bytes = 64 << 10;
  Introduce({&a, &b, &c, &d});
  for (TestNode* node : {&a, &b, &c, &d}) node->Start(io_);
  ASSERT_TRUE(RunUntil(io_, [&] { return a.Ups() == 3; }));
  a.transport->Expect({}, std::set<PeerId>{b.id()});
  a.transport->Send(b.id(), Frame("f"), TestBlob(900 << 10));
  a.transport->Send(c.id(), Frame("f"), TestBlob(500 << 10));
  a.transport->Send(d.id(), Frame("f"), TestBlob(400 << 10));
  a.transport->Send(d.id(), Frame("f"), TestBlob(400 << 10));
  ASSERT_TRUE(RunUntil(io_, [&] { return a.Noticed("wait for all that are no members"); }))
      << a.AllNotices();
  EXPECT_TRUE(a.transport->IsUp(b.id())) << "a member";
  EXPECT_TRUE(a.transport->IsUp(c.id())) << "more waited for the other one";
  const bool closed = RunUntil(io_, [&] { return d.Downs() == 1; });
  EXPECT_TRUE(closed);
}

TEST_F(TransportPace, WhatGuestsSendIsReadNoFasterThanTheirShare) {
  constexpr std::size_t kFrame = 64 << 10;
  TestNode a(0), b(1);
  a.options.max_bytes_per_second = 8 << 20;
  b.options.link.control_queue_bytes = 8 << 20;
  Introduce({&a, &b});
  for (TestNode* node : {&a, &b}) node->Start(io_);
  ASSERT_TRUE(RunUntil(io_, [&] { return a.Ups() == 1 && b.Ups() == 1; }));
  a.transport->Expect({}, std::set<PeerId>{});
  const base::Time begin = os::SteadyNow();
  for (int i = 0; i < 32; ++i) b.transport->Send(a.id(), Frame(std::string(kFrame, 'x')));
  ASSERT_TRUE(RunUntil(io_, [&] { return a.messages.size() == 32; }));
  // Two MiB at one a second, less the burst of an eighth.
  EXPECT_GE((os::SteadyNow() - begin).seconds(), 1.5);
}

TEST_F(TransportPace, ACapHoldsForWhatIsReceived) {
  TestNode a(0), b(1);
  b.options.max_bytes_per_second = 4 << 20;
  Connect(a, b);
  const base::Time begin = os::SteadyNow();
  a.transport->Send(b.id(), Frame("f"), TestBlob(5 << 20));
  ASSERT_TRUE(RunUntil(io_, [&] { return b.messages.size() == 1; }));
  EXPECT_GE((os::SteadyNow() - begin).seconds(), 0.85);
  EXPECT_LE((os::SteadyNow() - begin).seconds(), 3);
}

// The claim of credits: what lies in front of a control message is bounded, even where the receiver
// is the one that is slow. Without them megabytes would wait in the kernel's buffers.
TEST_F(TransportPace, ControlOvertakesBulkThatTheReceiverHoldsBack) {
  TestNode a(0), b(1);
  b.options.max_bytes_per_second = 1 << 20;
  Connect(a, b);
  a.transport->Send(b.id(), Frame("bulk"), TestBlob(32 << 20));  // half a minute
  ASSERT_TRUE(
      RunUntil(io_, [&] { return b.transport->counters().total.payload_received >= (1 << 20); }));
  for (int i = 0; i < 10; ++i) {
    const std::uint64_t bulk = b.transport->counters().total.payload_received;
    const std::size_t before = b.messages.size();
    a.transport->Send(b.id(), Frame("control"));
    ASSERT_TRUE(RunUntil(io_, [&] { return b.messages.size() > before; }));
    EXPECT_EQ(b.messages.back().frame, "control");
    // A quarter of a second's bulk.
    EXPECT_LT(b.transport->counters().total.payload_received - bulk, 256U << 10);
  }
}

// The same where the sender is capped, and control is many times what the cap allows.
TEST_F(TransportPace, ControlIsNotHeldBackByACap) {
  TestNode a(0), b(1);
  a.options.max_bytes_per_second = 100'000;
  Connect(a, b);
  a.transport->Send(b.id(), Frame("bulk"), TestBlob(1 << 20));
  const base::Time begin = os::SteadyNow();
  for (int i = 0; i < 50; ++i) a.transport->Send(b.id(), Frame(std::string(10'000, 'c')));
  ASSERT_TRUE(RunUntil(io_, [&] { return b.messages.size() == 50; }));
  EXPECT_LT((os::SteadyNow() - begin).seconds(), 2);  // at the cap: five
}

TEST_F(TransportPace, AQueueThatWaitsForItsOwnPaceAccusesNobody) {
  TestNode a(0), b(1);
  LookOften(a);
  LookOften(b);
  a.options.link.slow_looks = b.options.link.slow_looks = 50;
  a.options.link.min_bytes_per_second = b.options.link.min_bytes_per_second = 50'000;
  b.options.max_bytes_per_second = 400'000;
  a.options.max_bytes_per_second = 300'000;
  Connect(a, b);
  a.transport->Send(b.id(), Frame("bulk"), TestBlob(600'000));
  ASSERT_TRUE(RunUntil(io_, [&] { return b.messages.size() == 1; }));
  EXPECT_EQ(a.Downs() + b.Downs(), 0u) << a.AllNotices() << b.AllNotices();
}

TEST_F(TransportPace, ACapThatHonestMembersCouldNotKeepIsRefused) {
  TestNode a(0), b(1), c(2);
  Introduce({&a, &b, &c});
  a.options.max_bytes_per_second = 16'000;
  TransportEvents events;
  events.message = [](const PeerId&, base::SharedBytes, crypto::SharedBlob) {};
  events.link = [](const PeerId&, bool) {};
  const int fd = std::exchange(a.options.listen_fd, -1);
  const auto made = Transport::Make(io_, a.options, events);
  a.options.listen_fd = fd;
  EXPECT_EQ(base::MessageOf(made.status()),
            "a bandwidth of 16000 bytes a second is too little for 2 members: give at least 16384");
}

// --- who is too slow -----------------------------------------------------------------------------

TEST_F(TransportPace, AReaderThatGivesNoCreditIsLetGo) {
  TestNode node(1);
  LookOften(node);
  node.options.members = {{TestKey(4)->id(), ""}};
  node.Start(io_);
  RawPeer peer(node.port(), *MakeTlsContext(*TestKey(4)));
  Meet(node, peer);
  node.transport->Send(TestKey(4)->id(), Frame("f"), TestBlob(8 << 20));
  std::string reason;
  RunScript(io_, peer, [&] { reason = peer.ReadUntilClosed(); });
  EXPECT_EQ(reason, "takes what we send too slowly: less than 100000 bytes a second");
  EXPECT_EQ(peer.close_code(), 4003);
  EXPECT_EQ(node.transport->counters().refused_by[static_cast<std::size_t>(Refusal::kSlow)], 1u);
}

TEST_F(TransportPace, ASenderThatStopsWithinABlobIsLetGo) {
  TestNode node(1);
  LookOften(node);
  node.options.members = {{TestKey(4)->id(), ""}};
  node.Start(io_);
  RawPeer peer(node.port(), *MakeTlsContext(*TestKey(4)));
  Meet(node, peer);
  std::string reason;
  RunScript(io_, peer, [&] {
    peer.Write(RecordType::kAnnounce, Announcement(200'000, TestBlob(200'000)->root));
    reason = peer.ReadUntilClosed();
  });
  EXPECT_EQ(reason, "sends what it has begun too slowly: less than 100000 bytes a second");
  EXPECT_TRUE(node.messages.empty());
}

TEST_F(TransportPace, AQuietLinkOwesNothing) {
  TestNode a(0), b(1);
  LookOften(a);
  LookOften(b);
  Connect(a, b);
  EXPECT_FALSE(RunUntil(
      io_, [&] { return a.Downs() + b.Downs() > 0; }, base::Milliseconds(600)));
}

TEST_F(TransportPace, MoreThanTheCreditIsALie) {
  TestNode node(1);
  node.options.link.credit_bytes = kInitialCredit;
  node.options.members = {{TestKey(4)->id(), ""}};
  node.options.max_bytes_per_second = 100'000;  // so that no more is granted soon
  node.Start(io_);
  RawPeer peer(node.port(), *MakeTlsContext(*TestKey(4)));
  Meet(node, peer);
  const auto blob = TestBlob(4 << 20);
  std::string reason;
  RunScript(io_, peer, [&] {
    peer.Write(RecordType::kAnnounce, Announcement(blob->data.size(), blob->root));
    peer.Write(RecordType::kLeaves, LeavesOf(blob->data));
    for (std::size_t at = 0; at < (1 << 20); at += crypto::kChunkBytes) {
      peer.Write(RecordType::kChunk,
                 {blob->data.begin() + static_cast<std::ptrdiff_t>(at),
                  blob->data.begin() + static_cast<std::ptrdiff_t>(at + crypto::kChunkBytes)});
    }
    reason = peer.ReadUntilClosed();
  });
  EXPECT_EQ(reason, "sent more bulk than it had credit for");
}

TEST_F(TransportPace, CreditThatLies) {
  TestNode node(1);
  node.options.members = {{TestKey(4)->id(), ""}};
  node.Start(io_);
  const std::vector<std::pair<base::Bytes, std::string>> lies = {
      {base::Bytes(8), "took back credit that it gave"},
      {base::Bytes(7, 0xff), "sent a credit of a wrong length"}};
  for (const auto& lie : lies) {
    RawPeer peer(node.port(), *MakeTlsContext(*TestKey(4)));
    std::string reason;
    RunScript(io_, peer, [&] {
      peer.Link(GoodHello(), false);
      peer.Write(RecordType::kCredit, lie.first);
      reason = peer.ReadUntilClosed();
    });
    EXPECT_EQ(reason, lie.second);
    node.Kill();
    node.Start(io_);
  }
}

// --- the bound on memory (transport.h) -----------------------------------------------------------

std::size_t InUse() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// It gives all the credit there is and reads nothing, so that everything ends up in queues.
TEST_F(TransportPace, AHostileReaderCostsItsQueuesAndNoMore) {
  TestNode node(1);
  node.options.members = {{TestKey(4)->id(), ""}};
  node.options.link.bulk_queue_bytes = 4 << 20;
  node.options.link.control_queue_bytes = 1 << 20;
  node.Start(io_);
  RawPeer peer(node.port(), *MakeTlsContext(*TestKey(4)));
  RunScript(io_, peer, [&] {
    peer.Link(GoodHello(), false);
    peer.Write(RecordType::kCredit, base::Bytes(8, 0xff));
  });
  ASSERT_TRUE(RunUntil(io_, [&] { return node.Ups() == 1; }));
  const std::size_t before = InUse();
  std::size_t most = 0;
  std::uint64_t offered = 0;
  // Blobs that nobody else holds, until it is let go.
  while (node.transport->IsUp(TestKey(4)->id()) && offered < (64 << 20)) {
    node.transport->Send(TestKey(4)->id(), Frame(std::string(10'000, 'x')), TestBlob(256 << 10));
    offered += 256 << 10;
    RunUntil(
        io_, [] { return false; }, base::Milliseconds(1));
    most = std::max(most, InUse());
  }
  ASSERT_TRUE(RunUntil(io_, [&] { return node.Downs() == 1; }));
  EXPECT_TRUE(node.Noticed("takes our blobs too slowly")) << node.AllNotices();
  // The queues, a blob at hand, and the buffers of TLS and WebSocket.
  EXPECT_LT(most, before + (4 << 20) + (1 << 20) + (512 << 10));
  // And gone with the link.
  EXPECT_TRUE(RunUntil(io_, [&] { return InUse() < before + (256 << 10); }));
}

// It sends one blob after another and never the last chunk of the last.
TEST_F(TransportPace, AHostileSenderCostsOneBlob) {
  constexpr std::size_t kBlob = 4 << 20;
  TestNode node(1);
  LookOften(node);
  node.options.members = {{TestKey(4)->id(), ""}};
  node.options.max_blob_bytes = kBlob;
  std::size_t most = 0;
  node.Start(io_);
  RawPeer peer(node.port(), *MakeTlsContext(*TestKey(4)));
  Meet(node, peer);
  const auto blob = TestBlob(kBlob);
  const base::Bytes leaves = LeavesOf(blob->data);
  const std::size_t before = InUse();
  std::string reason;
  RunScript(io_, peer, [&] {
    peer.Write(RecordType::kAnnounce, Announcement(kBlob, blob->root));
    peer.Write(RecordType::kLeaves, leaves);
    for (std::size_t at = 0; at + crypto::kChunkBytes < kBlob; at += crypto::kChunkBytes) {
      peer.Write(RecordType::kChunk,
                 {blob->data.begin() + static_cast<std::ptrdiff_t>(at),
                  blob->data.begin() + static_cast<std::ptrdiff_t>(at + crypto::kChunkBytes)});
      most = std::max(most, InUse());
    }
    reason = peer.ReadUntilClosed();
  });
  EXPECT_EQ(reason, "sends what it has begun too slowly: less than 100000 bytes a second");
  EXPECT_TRUE(node.messages.empty());
  // One blob, its leaves, and what the link's buffers and the script itself hold.
  EXPECT_LT(most, before + kBlob + kBlob / 16 + (1024 << 10));
  EXPECT_TRUE(RunUntil(io_, [&] { return InUse() < before + (256 << 10); }));
}

}  // namespace
}  // namespace ostraka::net::transport_pace_test
