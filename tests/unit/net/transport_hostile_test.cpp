// Members that lie: they get as far as a link, and then say what no honest peer says. Each lie must
// close the link with its reason, and nothing of it may reach the node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include "node/wire/limits.h"
#include "tests/unit/net/transport_raw_peer.h"

namespace ostraka::net::transport_hostile_test {
namespace {

class TransportHostile : public ::testing::Test {
 protected:
  // The liar has the larger id, so the node decides; Decider() is for the others.
  TransportHostile() : node_(1) {
    node_.options.members = {{TestKey(4)->id(), ""}, {TestKey(0)->id(), ""}};
    node_.options.max_blob_bytes = 8 << 20;
  }

  // A link to a liar that then runs `lie` and is closed; returns the reason.
  std::string Lie(const std::function<void(RawPeer&)>& lie) {
    node_.Start(io_);
    RawPeer peer(node_.port(), *MakeTlsContext(*TestKey(4)));
    std::string reason;
    RunScript(io_, peer, [&] {
      peer.Link(GoodHello(), false);
      lie(peer);
      reason = peer.ReadUntilClosed();
    });
    EXPECT_TRUE(RunUntil(io_, [&] { return node_.Downs() == 1; }));
    EXPECT_TRUE(node_.Noticed("is down: it " + reason)) << node_.AllNotices();
    EXPECT_TRUE(node_.messages.empty());
    return reason;
  }

  boost::asio::io_context io_;
  TestNode node_;
  const base::Bytes data_ = TestBlob(200'000)->data;  // four chunks
  const base::Digest root_ = TestBlob(200'000)->root;
  base::Bytes Chunk(std::size_t index) const {
    const std::size_t begin = index * crypto::kChunkBytes;
    return {data_.begin() + begin,
            data_.begin() + std::min(begin + crypto::kChunkBytes, data_.size())};
  }
};

TEST_F(TransportHostile, ACorruptedChunk) {
  EXPECT_EQ(Lie([this](RawPeer& peer) {
              peer.Write(RecordType::kAnnounce, Announcement(data_.size(), root_));
              peer.Write(RecordType::kLeaves, LeavesOf(data_));
              peer.Write(RecordType::kChunk, Chunk(0));
              base::Bytes corrupted = Chunk(1);
              corrupted[12345] ^= 1;
              peer.Write(RecordType::kChunk, corrupted);
            }),
            "sent chunk 1 that does not match its leaf");
}

TEST_F(TransportHostile, LeavesThatDoNotMakeTheRoot) {
  EXPECT_EQ(Lie([this](RawPeer& peer) {
              peer.Write(RecordType::kAnnounce, Announcement(data_.size(), root_));
              base::Bytes leaves = LeavesOf(data_);
              leaves.back() ^= 1;
              peer.Write(RecordType::kLeaves, leaves);
            }),
            "sent leaves that do not make the announced root");
}

TEST_F(TransportHostile, AnEmptyBlobWithAnotherRoot) {
  EXPECT_EQ(
      Lie([this](RawPeer& peer) { peer.Write(RecordType::kAnnounce, Announcement(0, root_)); }),
      "sent leaves that do not make the announced root");
}

TEST_F(TransportHostile, ABlobWithoutARoot) {
  EXPECT_EQ(Lie([](RawPeer& peer) {
              peer.Write(RecordType::kAnnounce, Announcement(10, base::Digest{}));
            }),
            "announced a blob without a root");
}

TEST_F(TransportHostile, ABlobThatIsTooLarge) {
  for (const std::uint64_t size : {(std::uint64_t{8} << 20) + 1, ~std::uint64_t{0}}) {
    node_.Kill();
    node_.links.clear();
    EXPECT_EQ(
        Lie([&](RawPeer& peer) { peer.Write(RecordType::kAnnounce, Announcement(size, root_)); }),
        "announced a blob of " + std::to_string(size) + " bytes, we take at most 8388608");
  }
}

TEST_F(TransportHostile, ABlobWithinABlob) {
  EXPECT_EQ(Lie([this](RawPeer& peer) {
              peer.Write(RecordType::kAnnounce, Announcement(data_.size(), root_));
              peer.Write(RecordType::kAnnounce, Announcement(data_.size(), root_));
            }),
            "announced a blob within a blob");
}

TEST_F(TransportHostile, ChunksBeforeLeaves) {
  EXPECT_EQ(Lie([this](RawPeer& peer) {
              peer.Write(RecordType::kAnnounce, Announcement(data_.size(), root_));
              peer.Write(RecordType::kChunk, Chunk(0));
            }),
            "sent a chunk that nobody awaits");
}

TEST_F(TransportHostile, ALeafWithoutABlob) {
  EXPECT_EQ(Lie([](RawPeer& peer) { peer.Write(RecordType::kLeaves, base::Bytes(32)); }),
            "sent leaves that nobody awaits");
}

TEST_F(TransportHostile, AChunkOfAWrongLength) {
  EXPECT_EQ(Lie([this](RawPeer& peer) {
              peer.Write(RecordType::kAnnounce, Announcement(data_.size(), root_));
              peer.Write(RecordType::kLeaves, LeavesOf(data_));
              peer.Write(RecordType::kChunk, {1, 2, 3});
            }),
            "sent a chunk of a wrong length");
}

TEST_F(TransportHostile, AnAnnouncementWithoutAFrame) {
  EXPECT_EQ(Lie([this](RawPeer& peer) {
              peer.Write(RecordType::kAnnounce, Announcement(10, root_, ""));
            }),
            "announced without a frame");
}

TEST_F(TransportHostile, AFrameThatIsTooLong) {
  EXPECT_EQ(Lie([](RawPeer& peer) {
              peer.Write(RecordType::kControl, base::Bytes(wire::kMaxFrameBytes + 1));
            }),
            "sent a message of " + std::to_string(wire::kMaxFrameBytes + 1) + " bytes");
}

TEST_F(TransportHostile, ARecordThatIsTooLong) {
  EXPECT_EQ(Lie([](RawPeer& peer) {
              peer.Write(RecordType::kControl, base::Bytes(4 * wire::kMaxFrameBytes));
            }),
            "sent a record of more than " + std::to_string(kMaxRecordBytes) + " bytes");
}

TEST_F(TransportHostile, AnEmptyFrame) {
  EXPECT_EQ(Lie([](RawPeer& peer) { peer.Write(RecordType::kControl, {}); }),
            "sent a message of 0 bytes");
}

TEST_F(TransportHostile, AnEmptyRecord) {
  EXPECT_EQ(Lie([](RawPeer& peer) { peer.WriteBytes({}); }), "sent an empty record");
}

TEST_F(TransportHostile, AnUnknownRecord) {
  EXPECT_EQ(Lie([](RawPeer& peer) {
              peer.WriteBytes({77, 1});
            }),
            "sent a record of unknown type 77");
}

TEST_F(TransportHostile, AText) {
  EXPECT_EQ(Lie([](RawPeer& peer) { peer.WriteBytes({'h', 'i'}, false); }), "sent a text message");
}

TEST_F(TransportHostile, AGoThatIsOursToSay) {
  EXPECT_EQ(Lie([](RawPeer& peer) { peer.Write(RecordType::kGo, base::Bytes(8)); }),
            "sent a record of unknown type 2");
}

TEST_F(TransportHostile, ControlGoesThroughABlobThatNeverEnds) {
  node_.Start(io_);
  RawPeer peer(node_.port(), *MakeTlsContext(*TestKey(4)));
  RunScript(io_, peer, [&] {
    peer.Link(GoodHello(), false);
    peer.Write(RecordType::kAnnounce, Announcement(data_.size(), root_));
    peer.Write(RecordType::kControl, {'a'});
    peer.Write(RecordType::kLeaves, LeavesOf(data_));
    peer.Write(RecordType::kControl, {'b'});
    peer.Write(RecordType::kChunk, Chunk(0));
    peer.Write(RecordType::kControl, {'c'});
  });
  ASSERT_TRUE(RunUntil(io_, [&] { return node_.messages.size() == 3; }));
  EXPECT_EQ(node_.messages[2].frame, "c");
}

TEST_F(TransportHostile, AnnouncingMuchCostsNothing) {
  node_.options.max_blob_bytes = std::uint64_t{1} << 40;
  node_.Start(io_);
  RawPeer peer(node_.port(), *MakeTlsContext(*TestKey(4)));
  RunScript(io_, peer, [&] {
    peer.Link(GoodHello(), false);
    peer.Write(RecordType::kControl, {'a'});
  });
  ASSERT_TRUE(RunUntil(io_, [&] { return node_.messages.size() == 1; }));
  const auto in_use = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
  const std::size_t before = in_use();
  RunScript(io_, peer, [&] {
    peer.Write(RecordType::kAnnounce, Announcement(std::uint64_t{1} << 40, root_));
    peer.Write(RecordType::kLeaves, base::Bytes(kLeavesPerRecord * 32));
    peer.Write(RecordType::kControl, {'b'});
  });
  ASSERT_TRUE(RunUntil(io_, [&] { return node_.messages.size() == 2; }));
  EXPECT_LT(in_use(), before + (2 << 20));
}

TEST_F(TransportHostile, SilenceEndsALink) {
  node_.options.timeouts.idle = base::Milliseconds(300);
  node_.Start(io_);
  RawPeer peer(node_.port(), *MakeTlsContext(*TestKey(4)));
  RunScript(io_, peer, [&] { peer.Link(GoodHello(), false); });
  // The peer holds its socket open, but reads no ping and so sends no pong.
  ASSERT_TRUE(RunUntil(io_, [&] { return node_.Downs() == 1; }));
  EXPECT_TRUE(node_.Noticed("was silent for 300 ms")) << node_.AllNotices();
}

TEST_F(TransportHostile, PingsKeepAQuietLink) {
  TestNode other(2);
  node_.options.timeouts.idle = other.options.timeouts.idle = base::Milliseconds(300);
  Introduce({&node_, &other});
  node_.options.members = {other.AsMember()};
  node_.Start(io_);
  other.Start(io_);
  ASSERT_TRUE(RunUntil(io_, [&] { return node_.Ups() == 1 && other.Ups() == 1; }));
  EXPECT_FALSE(RunUntil(
      io_, [&] { return node_.Downs() + other.Downs() > 0; }, base::Milliseconds(1500)));
}

TEST_F(TransportHostile, APeerThatTakesNothing) {
  node_.options.link.bulk_queue_bytes = 64 << 20;
  node_.Start(io_);
  RawPeer peer(node_.port(), *MakeTlsContext(*TestKey(4)));
  RunScript(io_, peer, [&] { peer.Link(GoodHello(), false); });
  ASSERT_TRUE(RunUntil(io_, [&] { return node_.Ups() == 1; }));
  const auto frame = Frame(std::string(100'000, 'x'));
  ASSERT_TRUE(RunUntil(io_, [&] {
    node_.transport->Send(TestKey(4)->id(), frame);
    return node_.Downs() == 1;
  }));
  EXPECT_TRUE(node_.Noticed("takes our messages too slowly")) << node_.AllNotices();
  // Its socket is given up after a moment, though it never answers the close.
  bool done = false;
  node_.transport->Shutdown(base::Seconds(20), [&done] { done = true; });
  EXPECT_TRUE(RunUntil(
      io_, [&] { return done; }, base::Seconds(10)));
}

TEST_F(TransportHostile, ShutdownDoesNotWaitForeverForAPeerThatTakesNothing) {
  node_.Start(io_);
  RawPeer peer(node_.port(), *MakeTlsContext(*TestKey(4)));
  RunScript(io_, peer, [&] { peer.Link(GoodHello(), false); });
  ASSERT_TRUE(RunUntil(io_, [&] { return node_.Ups() == 1; }));
  for (int i = 0; i < 8; ++i) {
    node_.transport->Send(TestKey(4)->id(), Frame("f"), TestBlob(8 << 20));
  }
  bool done = false;
  node_.transport->Shutdown(base::Milliseconds(300), [&done] { done = true; });
  EXPECT_TRUE(RunUntil(
      io_, [&] { return done; }, base::Seconds(5)));
}

// --- which connection is the link, step by step -------------------------------------------------

// A second connection while the first is fine is a duplicate, whatever the peer hopes.
TEST_F(TransportHostile, ASecondConnectionIsADuplicate) {
  node_.Start(io_);
  const TlsContext tls = *MakeTlsContext(*TestKey(4));
  RawPeer first(node_.port(), tls), second(node_.port(), tls);
  RunScript(io_, first, [&] { first.Link(GoodHello(1), false); });
  RunScript(io_, second, [&] {
    second.Tls();
    second.Upgrade();
    second.Say(GoodHello(1));
    second.ReadUntilClosed();
  });
  EXPECT_EQ(second.close_code(), 4000);
  EXPECT_EQ(node_.links.size(), 1u);
  RunScript(io_, first, [&] { first.Write(RecordType::kControl, {'a'}); });
  EXPECT_TRUE(RunUntil(io_, [&] { return node_.messages.size() == 1; }));
}

// The peer restarted and we have not noticed yet: its new instance says so.
TEST_F(TransportHostile, ANewInstanceReplacesTheLink) {
  node_.Start(io_);
  const TlsContext tls = *MakeTlsContext(*TestKey(4));
  RawPeer first(node_.port(), tls), second(node_.port(), tls);
  RunScript(io_, first, [&] { first.Link(GoodHello(1), false); });
  RunScript(io_, second, [&] { second.Link(GoodHello(2), false); });
  const PeerId peer = TestKey(4)->id();
  EXPECT_EQ(node_.links,
            (std::vector<std::pair<PeerId, bool>>{{peer, true}, {peer, false}, {peer, true}}));
  EXPECT_TRUE(node_.Noticed("it made a new connection"));
}

// The peer saw the link die and we did not: it names the link.
TEST_F(TransportHostile, ALinkThatThePeerLostIsReplaced) {
  node_.Start(io_);
  const TlsContext tls = *MakeTlsContext(*TestKey(4));
  RawPeer first(node_.port(), tls), second(node_.port(), tls);
  std::uint64_t link_id = 0;
  RunScript(io_, first, [&] { link_id = first.Link(GoodHello(1), false); });
  RunScript(io_, second, [&] { second.Link(GoodHello(1, link_id), false); });
  EXPECT_EQ(node_.links.size(), 3u);
  EXPECT_TRUE(node_.transport->IsUp(TestKey(4)->id()));
}

// On the side that does not decide, GO on a new connection replaces the link ...
TEST_F(TransportHostile, TheDeciderMayMoveTheLink) {
  node_.Start(io_);
  const TlsContext tls = *MakeTlsContext(*TestKey(0));
  RawPeer first(node_.port(), tls), second(node_.port(), tls);
  RunScript(io_, first, [&] { first.Link(GoodHello(1), true, 10); });
  ASSERT_TRUE(RunUntil(io_, [&] { return node_.Ups() == 1; }));
  RunScript(io_, second, [&] { second.Link(GoodHello(1), true, 11); });
  ASSERT_TRUE(RunUntil(io_, [&] { return node_.Ups() == 2; }));
  EXPECT_EQ(node_.Downs(), 1u);
}

// ... but a GO that was overtaken by a later one does not.
TEST_F(TransportHostile, AnOvertakenGoIsIgnored) {
  node_.Start(io_);
  const TlsContext tls = *MakeTlsContext(*TestKey(0));
  RawPeer first(node_.port(), tls), second(node_.port(), tls);
  RunScript(io_, first, [&] { first.Link(GoodHello(1), true, 11); });
  ASSERT_TRUE(RunUntil(io_, [&] { return node_.Ups() == 1; }));
  RunScript(io_, second, [&] {
    second.Link(GoodHello(1), true, 10);
    second.ReadUntilClosed();
  });
  EXPECT_EQ(second.close_code(), 4000);
  EXPECT_EQ(node_.links.size(), 1u);
}

}  // namespace
}  // namespace ostraka::net::transport_hostile_test
