// The parts of the channel that touch no socket: HELLO, the queue of a peer and the assembly of a
// blob, addresses, back-off, notices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/base/little_endian.h"
#include "node/net/link/channel_errors.h"
#include "node/net/mesh/backoff.h"
#include "node/net/mesh/notices.h"
#include "node/net/records/blob_receiver.h"
#include "node/net/records/hello.h"
#include "node/net/records/rate_floor.h"
#include "node/net/records/send_queue.h"
#include "node/net/records/token_bucket.h"
#include "node/os/endpoint.h"
#include "tests/unit/net/transport_net.h"

namespace ostraka::net::transport_parts_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Hello SomeHello() {
  return {.version = 1,
          .run_id = RunId(3),
          .capabilities = 4,
          .instance = 0x0123456789abcdef,
          .lost_link = 77};
}

TEST(HelloRecord, HasTheDocumentedBytes) {
  const base::Bytes bytes = EncodeHello(SomeHello());
  EXPECT_EQ(base::ToHex(bytes),
            "6f737472616b6100"
            "01000000"
            "0303030303030303030303030303030303030303030303030303030303030303"
            "0400000000000000"
            "efcdab8967452301"
            "4d00000000000000");
  const auto decoded = DecodeHello(bytes, 1);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(*decoded, SomeHello());
}

TEST(HelloRecord, EveryTruncationIsRefused) {
  const base::Bytes bytes = EncodeHello(SomeHello());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeHello({bytes.data(), size}, 1).ok()) << size;
  }
  base::Bytes longer = bytes;
  longer.push_back(0);
  EXPECT_FALSE(DecodeHello(longer, 1).ok());
}

TEST(HelloRecord, OfAnotherVersionOnlyTheVersionCounts) {
  Hello hello = SomeHello();
  hello.version = 2;
  base::Bytes bytes = EncodeHello(hello);
  bytes.resize(12);
  const auto decoded = DecodeHello(bytes, 1);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(base::MessageOf(CheckCompatible(SomeHello(), *decoded)),
            "speaks protocol 2, we speak 1");
}

TEST(HelloRecord, UnknownCapabilitiesAreIgnored) {
  Hello theirs = SomeHello();
  theirs.capabilities = 0xfffffffffffffffe;
  EXPECT_TRUE(CheckCompatible(SomeHello(), theirs).ok());
  theirs.capabilities |= kCapabilityUnhashed;
  EXPECT_FALSE(CheckCompatible(SomeHello(), theirs).ok());
}

// Any wrong byte of what must fit ours. The rest is the speaker's to choose: unknown capabilities,
// a number of its process and of a link; TLS sees to it that it arrives as it was said.
TEST(HelloRecord, AnyWrongByteThatMattersIsRefused) {
  const base::Bytes good = EncodeHello(SomeHello());
  constexpr std::size_t kRunEnd = 8 + 4 + 32;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (int wrong = 1; wrong < 256; ++wrong) {
      base::Bytes bytes = good;
      bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ wrong);
      const auto hello = DecodeHello(bytes, 1);
      const bool accepted = hello.ok() && CheckCompatible(SomeHello(), *hello).ok();
      const bool matters = at < kRunEnd || (at == kRunEnd && (wrong & 1) != 0);
      ASSERT_EQ(accepted, !matters) << at << " " << wrong;
    }
  }
}

std::vector<int> TypesOf(SendQueue& queue) {
  std::vector<int> types;
  while (!queue.empty()) types.push_back(queue.Next().value().head()[0]);
  return types;
}

TEST(SendQueue, ControlGoesBeforeBulk) {
  SendQueue queue(1000, 1 << 20);
  const auto blob = std::make_shared<OutgoingBlob>(TestBlob(100'000));
  ASSERT_TRUE(queue.PushBulk(Frame("f"), blob).ok());
  ASSERT_TRUE(queue.PushControl(Frame("a")).ok());
  EXPECT_THAT(TypesOf(queue), ElementsAre(3, 4, 5, 6, 6));
}

TEST(SendQueue, ControlGoesBetweenChunks) {
  SendQueue queue(1000, 1 << 20);
  ASSERT_TRUE(queue.PushBulk(Frame("f"), std::make_shared<OutgoingBlob>(TestBlob(100'000))).ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.Next().ok());
  ASSERT_TRUE(queue.PushControl(Frame("a")).ok());
  EXPECT_THAT(TypesOf(queue), ElementsAre(3, 6));
}

// A flood of what is carried keeps neither control nor the blobs of this node back.
TEST(SendQueue, CarriedAndBulkTakeTurns) {
  SendQueue queue(1000, 1 << 20, 1000);
  ASSERT_TRUE(queue.PushBulk(Frame("f"), std::make_shared<OutgoingBlob>(TestBlob(100'000))).ok());
  for (int i = 0; i < 6; ++i) EXPECT_EQ(queue.PushCarried(base::PeerId(), Frame("c")), 0u);
  ASSERT_TRUE(queue.PushControl(Frame("a")).ok());
  EXPECT_THAT(TypesOf(queue), ElementsAre(3, 3, 4, 3, 5, 3, 6, 3, 6, 3, 3));
}

TEST(SendQueue, WhatIsCarriedGoesWhileBulkMayNot) {
  SendQueue queue(1000, 1 << 20, 1000);
  ASSERT_TRUE(queue.PushBulk(Frame("f"), std::make_shared<OutgoingBlob>(TestBlob(10))).ok());
  queue.PushCarried(base::PeerId(), Frame("c"));
  queue.PushCarried(base::PeerId(), Frame("c"));
  EXPECT_EQ(queue.Next(false).value().head()[0], 3);
  EXPECT_TRUE(queue.wants_bulk());
  EXPECT_EQ(queue.Next(false).value().head()[0], 3);
  EXPECT_EQ(queue.Next(true).value().head()[0], 4);
}

TEST(SendQueue, AnEmptyBlobIsOneRecord) {
  SendQueue queue(1000, 1 << 20);
  ASSERT_TRUE(queue.PushBulk(Frame("f"), std::make_shared<OutgoingBlob>(TestBlob(0))).ok());
  EXPECT_THAT(TypesOf(queue), ElementsAre(4));
}

TEST(SendQueue, BulkGoesAsFarAsCreditDoes) {
  SendQueue queue(1000, 10 << 20);
  ASSERT_TRUE(queue.PushBulk(Frame("f"), std::make_shared<OutgoingBlob>(TestBlob(1 << 20))).ok());
  std::uint64_t sent = 0;
  while (queue.has_credit()) {
    const SendQueue::Record record = queue.Next().value();
    sent += record.head().size() + record.body.size();
  }
  EXPECT_LE(sent, kInitialCredit);
  EXPECT_GT(sent + 1 + crypto::kChunkBytes, kInitialCredit);
  // Control goes all the same.
  ASSERT_TRUE(queue.PushControl(Frame("a")).ok());
  EXPECT_EQ(queue.Next().value().head()[0], 3);
  EXPECT_FALSE(queue.has_control() || queue.has_credit());
  // To the byte: one less than the next chunk is not enough.
  ASSERT_TRUE(queue.Grant(std::max(kInitialCredit, sent + crypto::kChunkBytes)).ok());
  EXPECT_FALSE(queue.has_credit());
  ASSERT_TRUE(queue.Grant(sent + 1 + crypto::kChunkBytes).ok());
  EXPECT_TRUE(queue.has_credit());
}

TEST(SendQueue, CreditIsNotTakenBack) {
  SendQueue queue(1000, 1 << 20);
  EXPECT_EQ(base::MessageOf(queue.Grant(kInitialCredit - 1)), "took back credit that it gave");
  EXPECT_TRUE(queue.Grant(~std::uint64_t{0}).ok());
  EXPECT_FALSE(queue.Grant(~std::uint64_t{0} - 1).ok());
}

TEST(SendQueue, LimitsCountWhatWaits) {
  SendQueue queue(10, 200);
  EXPECT_TRUE(queue.PushControl(Frame("12345678")).ok());
  EXPECT_FALSE(queue.PushControl(Frame("123")).ok());
  EXPECT_TRUE(queue.PushControl(Frame("12")).ok());
  ASSERT_TRUE(queue.Next().ok());
  EXPECT_TRUE(queue.PushControl(Frame("12345678")).ok());
  const auto blob = std::make_shared<OutgoingBlob>(TestBlob(100));
  EXPECT_TRUE(queue.PushBulk(Frame("f"), blob).ok());
  EXPECT_FALSE(queue.PushBulk(Frame("f"), blob).ok());
  while (!queue.empty()) ASSERT_TRUE(queue.Next().ok());
  EXPECT_TRUE(queue.PushBulk(Frame("f"), blob).ok());
}

// A blob whose bytes lie on a disk, which may fail or be changed.
class Disk final : public crypto::BulkSource {
 public:
  explicit Disk(base::Bytes bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size() const override { return bytes_.size(); }
  base::Status Read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    if (fails) return base::Unavailable("bulk: cannot be read");
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
    if (changed) out.back() ^= 1;
    return base::OkStatus();
  }
  bool fails = false;
  bool changed = false;

 private:
  const base::Bytes bytes_;
};

struct Left {
  explicit Left(const crypto::SharedBlob& whole)
      : disk(std::make_shared<Disk>(whole->data)), blob(crypto::LeftTo(disk, *whole)) {}
  std::shared_ptr<Disk> disk;
  crypto::SharedBlob blob;
};

TEST(SendQueue, ABlobThatIsReadGoesOutAsFromMemory) {
  for (const std::size_t size : {1u, 65536u, 200'000u}) {
    const crypto::SharedBlob whole = TestBlob(size);
    const Left left(whole);
    SendQueue from_memory(1000, 1 << 20);
    SendQueue from_disk(1000, 1 << 20);
    ASSERT_TRUE(from_memory.PushBulk(Frame("f"), std::make_shared<OutgoingBlob>(whole)).ok());
    ASSERT_TRUE(from_disk.PushBulk(Frame("f"), std::make_shared<OutgoingBlob>(left.blob)).ok());
    while (!from_memory.empty()) {
      const SendQueue::Record wanted = from_memory.Next().value();
      const SendQueue::Record got = from_disk.Next().value();
      EXPECT_TRUE(std::ranges::equal(got.head(), wanted.head()));
      EXPECT_TRUE(std::ranges::equal(got.body, wanted.body));
      EXPECT_EQ(got.is_payload, wanted.is_payload);
    }
    EXPECT_TRUE(from_disk.empty());
    from_disk.CheckInvariants();
  }
}

// The peer would call it a lie.
TEST(SendQueue, WhatTheDiskChangedOrHasNoMoreIsNotSent) {
  const Left left(TestBlob(100'000));
  SendQueue queue(1000, 1 << 20);
  ASSERT_TRUE(queue.PushBulk(Frame("f"), std::make_shared<OutgoingBlob>(left.blob)).ok());
  ASSERT_TRUE(queue.Next().ok());
  ASSERT_TRUE(queue.Next().ok());
  left.disk->changed = true;
  EXPECT_EQ(base::MessageOf(queue.Next().status()), "what was to be sent has changed");

  SendQueue other(1000, 1 << 20);
  ASSERT_TRUE(other.PushBulk(Frame("f"), std::make_shared<OutgoingBlob>(left.blob)).ok());
  ASSERT_TRUE(other.Next().ok());
  ASSERT_TRUE(other.Next().ok());
  left.disk->fails = true;
  EXPECT_EQ(base::MessageOf(other.Next().status()), "bulk: cannot be read");
}

// Whatever the queue cuts, the receiver puts together.
TEST(BlobReceiver, TakesWhatTheQueueCuts) {
  for (const std::size_t size : {0u, 1u, 65535u, 65536u, 65537u, 400'000u}) {
    SendQueue queue(1000, 1 << 20);
    ASSERT_TRUE(queue.Grant(~std::uint64_t{0}).ok());
    BlobReceiver receiver(size, false);
    const auto blob = TestBlob(size);
    // Twice: the receiver must start afresh.
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(queue.PushBulk(Frame("f"), std::make_shared<OutgoingBlob>(blob)).ok());
    }
    int messages = 0;
    while (!queue.empty()) {
      const SendQueue::Record record = queue.Next().value();
      base::Bytes body(record.head().begin() + 1, record.head().end());
      body.insert(body.end(), record.body.begin(), record.body.end());
      const auto type = static_cast<RecordType>(record.head()[0]);
      ASSERT_TRUE((type == RecordType::kAnnounce ? receiver.Announce(body)
                   : type == RecordType::kLeaves ? receiver.Leaves(body)
                                                 : receiver.Chunk(body))
                      .ok());
      const auto message = receiver.Take();
      if (!message) continue;
      ++messages;
      EXPECT_EQ(message->blob->data, blob->data);
      EXPECT_EQ(message->blob->root, blob->root);
    }
    EXPECT_EQ(messages, 2) << size;
  }
}

// One wrong byte in any record of a blob, and it does not arrive. The frame is the machine's to
// judge.
TEST(BlobReceiver, AnyWrongByteIsRefused) {
  const auto blob = TestBlob(crypto::kChunkBytes + 100);
  base::Bytes announce;
  base::AppendLittleEndian(announce, blob->data.size(), 8);
  announce.insert(announce.end(), blob->root.bytes.begin(), blob->root.bytes.end());
  announce.push_back('f');
  base::Bytes leaves;
  for (const base::Digest& leaf : crypto::ChunkLeaves(blob->data)) {
    leaves.insert(leaves.end(), leaf.bytes.begin(), leaf.bytes.end());
  }
  const auto chunk_end = blob->data.begin() + crypto::kChunkBytes;
  const std::array<base::Bytes, 4> records = {
      announce, leaves, {blob->data.begin(), chunk_end}, {chunk_end, blob->data.end()}};
  const auto arrives = [](const std::array<base::Bytes, 4>& bodies) {
    BlobReceiver receiver(1 << 20, false);
    return receiver.Announce(bodies[0]).ok() && receiver.Leaves(bodies[1]).ok() &&
           receiver.Chunk(bodies[2]).ok() && receiver.Chunk(bodies[3]).ok() &&
           receiver.Take().has_value();
  };
  ASSERT_TRUE(arrives(records));
  for (std::size_t i = 0; i < records.size(); ++i) {
    // Of the long chunk every 97th byte, for it is hashed as a whole each time.
    const std::size_t stride = i == 2 ? 97 : 1;
    const std::size_t end = records[i].size() - (i == 0 ? 1 : 0);
    for (std::size_t at = 0; at < end; at += stride) {
      std::array<base::Bytes, 4> bad = records;
      bad[i][at] = static_cast<std::uint8_t>(bad[i][at] ^ (1 + at % 255));
      ASSERT_FALSE(arrives(bad)) << "record " << i << ", byte " << at;
    }
  }
}

TEST(Backoff, DoublesUpToTheLongestWithJitter) {
  TransportBackoff options;
  base::Rng rng(1);
  Backoff backoff(options);
  double expected = 0.2;
  for (int i = 0; i < 12; ++i) {
    const double wait = backoff.Next(rng).seconds();
    EXPECT_GE(wait, expected * 0.699) << i;
    EXPECT_LE(wait, expected * 1.301) << i;
    expected = std::min(30.0, expected * 2);
  }
  // A link that flapped does not shorten it; one that was stable does.
  backoff.OnLinkEnded(base::Seconds(1));
  EXPECT_GE(backoff.Next(rng).seconds(), 20);
  backoff.OnLinkEnded(base::Seconds(10));
  EXPECT_LE(backoff.Next(rng).seconds(), 0.27);
}

TEST(Backoff, PeersDoNotComeAllAtOnce) {
  base::Rng rng(1);
  std::set<std::int64_t> waits;
  for (int i = 0; i < 100; ++i) waits.insert(Backoff({}).Next(rng).ns);
  EXPECT_GT(waits.size(), 95u);
}

TEST(TokenBucket, FillsAtItsRateAndCarriesDebt) {
  TokenBucket bucket(1000, 500);
  base::Time now{base::Seconds(1000).ns};
  ASSERT_TRUE(bucket.Ready(now));
  bucket.Take(1500);  // more than it holds: a debt of 1,000
  EXPECT_FALSE(bucket.Ready(now));
  EXPECT_GE(bucket.Wait(now), base::Seconds(1));
  EXPECT_LE(bucket.Wait(now), base::Milliseconds(1001));
  now = now + bucket.Wait(now);
  EXPECT_TRUE(bucket.Ready(now));
  EXPECT_FALSE(bucket.Full(now));
  now = now + base::Seconds(3600);
  EXPECT_TRUE(bucket.Full(now));
  bucket.Take(500);  // it never holds more than its capacity
  EXPECT_FALSE(bucket.Ready(now));
}

TEST(RateFloor, OnlyAFullRowOfLooksAccuses) {
  RateFloor floor(100, 3);
  std::uint64_t total = 0;
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(floor.TooSlow(i % 4 != 3, total)) << i;
  // The first look begins, the third after it judges.
  EXPECT_FALSE(floor.TooSlow(true, total));
  EXPECT_FALSE(floor.TooSlow(true, total));
  EXPECT_FALSE(floor.TooSlow(true, total));
  EXPECT_TRUE(floor.TooSlow(true, total + 299));
}

TEST(RateFloor, WhoKeepsTheRateIsNeverAccused) {
  RateFloor floor(100, 3);
  std::uint64_t total = 0;
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(floor.TooSlow(true, total += 100)) << i;
  // Then it stops: the next judgement or the one after sees it.
  int accused = 0;
  for (int i = 0; i < 6; ++i) accused += floor.TooSlow(true, total) ? 1 : 0;
  EXPECT_GE(accused, 1);
}

TEST(Notices, StrangersGetABurstAndThenOneASecond) {
  std::vector<std::string> said;
  Notices notices([&said](NoticeLevel, const std::string& line) { said.push_back(line); }, 20);
  const base::Time start{base::Seconds(1000).ns};
  for (int i = 0; i < 100; ++i) notices.SayOfStranger(start, "x");
  EXPECT_EQ(said.size(), 20u);
  notices.SayOfStranger(start + base::Seconds(1), "y");
  notices.SayOfStranger(start + base::Seconds(1), "y");
  ASSERT_EQ(said.size(), 20u + 1);
  EXPECT_EQ(said.back(), "y (80 such lines left out before it)");
}

TEST(Endpoint, ParsesHostAndPort) {
  const auto parse = [](std::string_view text) {
    const auto where = os::ParseHostPort(text);
    return where.ok() ? where->host + "|" + std::to_string(where->port)
                      : base::MessageOf(where.status());
  };
  EXPECT_EQ(parse("127.0.0.1:80"), "127.0.0.1|80");
  EXPECT_EQ(parse("node.example.org:65535"), "node.example.org|65535");
  EXPECT_EQ(parse("[::1]:0"), "::1|0");
  EXPECT_THAT(parse("::1:80"), HasSubstr("in brackets"));
  for (const char* bad : {"", ":", ":80", "host", "host:", "host:65536", "host:-1", "host:8x"}) {
    EXPECT_FALSE(os::ParseHostPort(bad).ok()) << bad;
  }
}

TEST(Endpoint, ListeningNeedsAnAddress) {
  EXPECT_EQ(os::ListenOn("localhost:0").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(os::ListenOn("192.0.2.1:0").status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(os::ListeningPort(0).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ChannelErrors, TextOfStrangersIsHarmless) {
  EXPECT_EQ(Printable("a\x1b[2Jb\nc\x7f\xff"), "a?[2Jb?c??");
  EXPECT_EQ(FormatSeconds(base::Seconds(5)), "5 s");
  EXPECT_EQ(FormatSeconds(base::Milliseconds(1500)), "1500 ms");
}

}  // namespace
}  // namespace ostraka::net::transport_parts_test
