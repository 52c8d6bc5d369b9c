// The parts of one connection that touch no socket, each alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "node/base/little_endian.h"
#include "node/net/link/lifecycle.h"
#include "node/net/link/pacer_turn.h"
#include "node/net/records/greeting.h"
#include "node/net/records/progress_watch.h"
#include "node/net/records/record_reader.h"
#include "node/net/records/record_writer.h"
#include "tests/unit/net/transport_raw_peer.h"

namespace ostraka::net::record_parts_test {
namespace {

using ::testing::HasSubstr;

std::string ReasonOf(const Greeting::Event& event) {
  const auto* refused = std::get_if<Greeting::Refused>(&event);
  if (refused == nullptr) return "accepted";
  return std::string(RefusalName(refused->refusal)) + ": " + refused->reason;
}

// --- Greeting ------------------------------------------------------------------------------------

TEST(Greeting, OneHelloAndThenOneGo) {
  Greeting greeting(GoodHello(1));
  EXPECT_TRUE(std::holds_alternative<Greeting::HelloCame>(
      greeting.Take(RecordType::kHello, EncodeHello(GoodHello(2, 5)))));
  EXPECT_EQ(greeting.theirs(), GoodHello(2, 5));
  const Greeting::Event event = greeting.Take(RecordType::kGo, EncodeGo(0x123456789));
  ASSERT_TRUE(std::holds_alternative<Greeting::GoCame>(event));
  EXPECT_EQ(std::get<Greeting::GoCame>(event).link_id, 0x123456789u);
  greeting.End();
  EXPECT_EQ(greeting.stage(), Greeting::Stage::kOver);
  EXPECT_DEATH(greeting.Take(RecordType::kGo, EncodeGo(1)), "CHECK failed");
}

TEST(Greeting, NothingElseIsAccepted) {
  const base::Bytes hello = EncodeHello(GoodHello(2));
  Greeting greeting(GoodHello(1));
  EXPECT_EQ(ReasonOf(greeting.Take(RecordType::kGo, EncodeGo(1))),
            "handshake: said something else before HELLO");
  EXPECT_EQ(ReasonOf(greeting.Take(RecordType::kHello, {})), "handshake: said no HELLO");
  Hello other_run = GoodHello(2);
  other_run.run_id = RunId(9);
  EXPECT_THAT(ReasonOf(greeting.Take(RecordType::kHello, EncodeHello(other_run))),
              HasSubstr("identity: has a manifest that differs"));
  EXPECT_EQ(greeting.stage(), Greeting::Stage::kBegun);
  EXPECT_DEATH(greeting.theirs(), "CHECK failed");
  EXPECT_EQ(ReasonOf(greeting.Take(RecordType::kHello, hello)), "accepted");
  for (const auto& [type, body] :
       std::vector<std::pair<RecordType, base::Bytes>>{{RecordType::kHello, hello},
                                                       {RecordType::kControl, {1}},
                                                       {RecordType::kGo, base::Bytes(7)},
                                                       {RecordType::kGo, base::Bytes(9)}}) {
    EXPECT_EQ(ReasonOf(greeting.Take(type, body)), "record: said something else before GO");
  }
  EXPECT_EQ(greeting.stage(), Greeting::Stage::kAccepted);
}

// --- Lifecycle -----------------------------------------------------------------------------------

TEST(Lifecycle, PhasesOnlyGrowAlongTheArrows) {
  Lifecycle life;
  EXPECT_DEATH(life.BecomeLink(), "CHECK failed");
  EXPECT_DEATH(life.End(), "CHECK failed");
  EXPECT_DEATH(life.Leave("early"), "CHECK failed");
  life.BeginGreeting();
  EXPECT_DEATH(life.BeginGreeting(), "CHECK failed");
  life.BecomeLink();
  EXPECT_TRUE(life.is_link());
  EXPECT_DEATH(life.why(), "CHECK failed");
  EXPECT_TRUE(life.Close({Closing::Why::kLost, "first"}, true));
  EXPECT_FALSE(life.Close({Closing::Why::kLocal, "second"}, true));
  EXPECT_EQ(life.why().reason, "first");
  EXPECT_TRUE(life.End());
  EXPECT_FALSE(life.End());
  EXPECT_FALSE(life.Close({Closing::Why::kLocal, "third"}, true));
}

TEST(Lifecycle, DeliveredMeansReadOrLeftByItself) {
  const auto delivered = [](bool leaves, bool all_written, std::uint16_t code) {
    Lifecycle life;
    life.BeginGreeting();
    life.BecomeLink();
    if (leaves) life.Leave("shutting down");
    life.Close({Closing::Why::kLocal, "shutting down"}, all_written);
    life.OnCloseAnswered(code);
    return life.delivered();
  };
  constexpr std::uint16_t kNormal = 1000;
  EXPECT_TRUE(delivered(true, true, kNormal));
  EXPECT_FALSE(delivered(true, false, kNormal)) << "something was not written";
  EXPECT_FALSE(delivered(false, true, kNormal)) << "it was not asked to leave";
  EXPECT_FALSE(delivered(true, true, 4001)) << "its own close crossed ours";
  EXPECT_TRUE(delivered(false, false, 4002)) << "it needs nothing more";
}

// --- RecordWriter --------------------------------------------------------------------------------

class RecordWriterTest : public ::testing::Test {
 protected:
  int NextType() {
    const auto record = writer_.Next().value();
    return record ? record->head()[0] : 0;
  }

  bool may_send_bulk_ = true;
  int asked_ = 0;
  RecordWriter writer_{1000, 1 << 20, 1000, [this](bool /*lent*/) {
                         ++asked_;
                         return may_send_bulk_;
                       }};
};

TEST_F(RecordWriterTest, WhatIsCarriedWaitsApartAndIsDroppedBeyondItsLimit) {
  base::PeerId other;
  other.bytes[0] = 1;
  const std::string half(500, 'x');
  ASSERT_TRUE(
      writer_.QueueMessage(Frame("b"), std::make_shared<OutgoingBlob>(TestBlob(100'000))).ok());
  EXPECT_EQ(writer_.QueueCarried(other, Frame(half)).carried_dropped, 0u);
  EXPECT_EQ(writer_.QueueCarried(other, Frame(half)).carried_dropped, 0u);
  EXPECT_EQ(writer_.QueueCarried(other, Frame("c")).carried_dropped, 1u);
  EXPECT_EQ(writer_.queue().control_bytes(), 1000u);
  // Of the control queue nothing is used.
  ASSERT_TRUE(writer_.QueueMessage(Frame(std::string(1000, 'a')), nullptr).ok());
  EXPECT_FALSE(writer_.QueueMessage(Frame("a"), nullptr).ok());
  const auto next = [this] {
    const auto record = writer_.Next().value();
    EXPECT_TRUE(record);
    writer_.OnWritten();
    return record ? std::pair<int, int>(record->head()[0], record->body[0]) : std::pair(0, 0);
  };
  EXPECT_EQ(next(), (std::pair<int, int>{3, 'a'})) << "own messages first";
  EXPECT_EQ(next(), (std::pair<int, int>{3, 'x'}));
  EXPECT_EQ(next().first, 4) << "by turns with bulk";
  EXPECT_EQ(next(), (std::pair<int, int>{3, 'x'}));
  writer_.Drop();
  EXPECT_EQ(writer_.QueueCarried(other, Frame(half)).carried_dropped, 0u) << "it has ended";
}

TEST_F(RecordWriterTest, OneRecordAtATimeControlFirst) {
  EXPECT_TRUE(writer_.idle());
  ASSERT_TRUE(
      writer_.QueueMessage(Frame("b"), std::make_shared<OutgoingBlob>(TestBlob(100'000))).ok());
  ASSERT_TRUE(writer_.QueueMessage(Frame("a"), nullptr).ok());
  EXPECT_EQ(NextType(), 3);
  EXPECT_EQ(NextType(), 0) << "one is being written";
  EXPECT_FALSE(writer_.idle());
  EXPECT_EQ(asked_, 0) << "control waits for no turn";
  EXPECT_EQ(writer_.OnWritten().control_sent, 2u);
  EXPECT_EQ(NextType(), 4);
  writer_.OnWritten();
  EXPECT_EQ(NextType(), 5);
  writer_.OnWritten();
  EXPECT_EQ(NextType(), 6);
  const Traffic chunk = writer_.OnWritten();
  EXPECT_EQ(chunk.payload_sent, crypto::kChunkBytes);
  EXPECT_EQ(chunk.control_sent, 1u);
  EXPECT_DEATH(writer_.OnWritten(), "CHECK failed");
  EXPECT_EQ(NextType(), 6);
  writer_.OnWritten();
  EXPECT_TRUE(writer_.idle());
  EXPECT_EQ(asked_, 4);
}

TEST_F(RecordWriterTest, BulkWaitsForItsTurnAndControlDoesNot) {
  may_send_bulk_ = false;
  ASSERT_TRUE(writer_.QueueMessage(Frame("b"), std::make_shared<OutgoingBlob>(TestBlob(10))).ok());
  EXPECT_EQ(NextType(), 0);
  EXPECT_FALSE(writer_.waits_for_peer()) << "our own pace accuses nobody";
  writer_.QueueRecord(RecordType::kCredit, base::Bytes(8));
  EXPECT_EQ(NextType(), 7);
  EXPECT_TRUE(writer_.waits_for_peer()) << "a record is being written";
  writer_.OnWritten();
  may_send_bulk_ = true;
  EXPECT_EQ(NextType(), 4);
}

TEST_F(RecordWriterTest, WithoutCreditNoTurnIsUsedUp) {
  ASSERT_TRUE(
      writer_.QueueMessage(Frame("b"), std::make_shared<OutgoingBlob>(TestBlob(1 << 19))).ok());
  ASSERT_TRUE(
      writer_.QueueMessage(Frame("b"), std::make_shared<OutgoingBlob>(TestBlob(1 << 18))).ok());
  int bulk = 0;
  while (NextType() != 0) {
    writer_.OnWritten();
    ++bulk;
  }
  EXPECT_EQ(asked_, bulk);
  EXPECT_TRUE(writer_.waits_for_peer()) << "our bulk waits for its credit";
  EXPECT_FALSE(writer_.TakeCredit(1).ok());
  ASSERT_TRUE(writer_.TakeCredit(~std::uint64_t{0}).ok());
  EXPECT_NE(NextType(), 0);
}

TEST_F(RecordWriterTest, AfterDropNothingWaits) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(
        writer_.QueueMessage(Frame("b"), std::make_shared<OutgoingBlob>(TestBlob(1000))).ok());
  }
  const auto blob = TestBlob(1000);
  ASSERT_TRUE(writer_.QueueMessage(Frame("b"), std::make_shared<OutgoingBlob>(blob)).ok());
  EXPECT_GT(blob.use_count(), 1);
  writer_.Drop();
  EXPECT_EQ(blob.use_count(), 1) << "the queue still holds a blob";
  EXPECT_TRUE(writer_.QueueMessage(Frame("late"), nullptr).ok());
  EXPECT_EQ(NextType(), 0);
  EXPECT_TRUE(writer_.idle());
}

// --- RecordReader --------------------------------------------------------------------------------

TEST(RecordReader, AFirstRecordIsShortAndALinksIsNot) {
  RecordReader reader(1 << 20, false, kInitialCredit);
  EXPECT_TRUE(reader.CountBytes(256, kMaxFirstRecordBytes).ok());
  EXPECT_EQ(base::MessageOf(reader.CountBytes(1, kMaxFirstRecordBytes + 1)),
            "sent a record of more than 256 bytes");
  EXPECT_DEATH(reader.Take(RecordType::kControl, base::Bytes(1)).status().IgnoreError(),
               "CHECK failed");
  reader.OpenLink();
  EXPECT_TRUE(reader.CountBytes(1, kMaxRecordBytes).ok());
  EXPECT_FALSE(reader.CountBytes(1, kMaxRecordBytes + 1).ok());
  EXPECT_EQ(reader.bytes_received(), 256u + 3);
}

TEST(RecordReader, PassesOnWhatIsWhole) {
  RecordReader reader(1 << 20, false, kInitialCredit);
  reader.OpenLink();
  auto taken = reader.Take(RecordType::kControl, base::Bytes{'h', 'i'});
  ASSERT_TRUE(taken.ok() && taken->message.has_value());
  EXPECT_EQ(taken->message->blob, nullptr);
  taken = reader.Take(RecordType::kCredit, base::Bytes{7, 0, 0, 0, 0, 0, 0, 0});
  ASSERT_TRUE(taken.ok() && taken->credit.has_value());
  EXPECT_EQ(*taken->credit, 7u);
  const auto blob = TestBlob(1000);
  taken = reader.Take(RecordType::kAnnounce, Announcement(1000, blob->root));
  ASSERT_TRUE(taken.ok());
  EXPECT_FALSE(taken->message.has_value());
  EXPECT_TRUE(reader.owes_blob());
  ASSERT_TRUE(reader.Take(RecordType::kLeaves, LeavesOf(blob->data)).ok());
  taken = reader.Take(RecordType::kChunk, blob->data);
  ASSERT_TRUE(taken.ok() && taken->message.has_value());
  EXPECT_EQ(taken->message->blob->data, blob->data);
  EXPECT_FALSE(reader.owes_blob());
}

TEST(RecordReader, RefusesWhatBreaksTheRules) {
  const auto refusal_of = [](RecordType type, const base::Bytes& body) {
    RecordReader reader(1 << 20, false, kInitialCredit);
    reader.OpenLink();
    return base::MessageOf(reader.Take(type, body).status());
  };
  EXPECT_EQ(refusal_of(RecordType::kControl, {}), "sent a message of 0 bytes");
  EXPECT_EQ(refusal_of(RecordType::kControl, base::Bytes(wire::kMaxFrameBytes + 1)),
            "sent a message of 262145 bytes");
  EXPECT_EQ(refusal_of(RecordType::kCredit, base::Bytes(7)), "sent a credit of a wrong length");
  EXPECT_EQ(refusal_of(RecordType::kHello, {}), "sent a record of unknown type 1");
  EXPECT_EQ(refusal_of(static_cast<RecordType>(77), {}), "sent a record of unknown type 77");
  EXPECT_EQ(refusal_of(RecordType::kChunk, base::Bytes(1)), "sent a chunk that nobody awaits");
}

TEST(RecordReader, GrantsCreditOnceHalfIsUsedAndRefusesMore) {
  RecordReader reader(64 << 20, false, kInitialCredit);
  reader.OpenLink();
  EXPECT_FALSE(reader.wants_grant());
  const auto blob = TestBlob(4 << 20);
  ASSERT_TRUE(reader.Take(RecordType::kAnnounce, Announcement(4 << 20, blob->root)).ok());
  ASSERT_TRUE(reader.Take(RecordType::kLeaves, LeavesOf(blob->data)).ok());
  base::Status status = base::OkStatus();
  std::size_t at = 0;
  const auto chunk = [&] {
    const auto begin = blob->data.begin() + static_cast<std::ptrdiff_t>(at);
    at += crypto::kChunkBytes;
    return reader.Take(RecordType::kChunk, base::Bytes(begin, begin + crypto::kChunkBytes))
        .status();
  };
  while (!reader.wants_grant()) ASSERT_TRUE(chunk().ok());
  EXPECT_GE(at + (64 << 10), kInitialCredit / 2);
  const std::uint64_t granted = base::ReadLittleEndian(reader.Grant());
  EXPECT_GT(granted, kInitialCredit);
  while (status.ok() && at < blob->data.size()) status = chunk();
  EXPECT_EQ(base::MessageOf(status), "sent more bulk than it had credit for");
}

// --- ProgressWatch -------------------------------------------------------------------------------

TEST(ProgressWatch, NamesTheDirectionInWhichAPeerIsTooSlow) {
  ProgressWatch taking(100, 2, 50);
  ProgressWatch giving(100, 2, 50);
  std::optional<std::string> slow;
  for (int look = 0; look < 3; ++look) {
    EXPECT_EQ(slow, std::nullopt) << look;
    slow = taking.Look({.owes_taking = true, .sent = 0, .owes_giving = true, .received = 0});
  }
  EXPECT_EQ(slow, "takes what we send too slowly: less than 50 bytes a second");
  slow.reset();
  for (std::uint64_t look = 0; look < 3; ++look) {
    EXPECT_EQ(slow, std::nullopt) << look;
    slow =
        giving.Look({.owes_taking = true, .sent = look * 100, .owes_giving = true, .received = 0});
  }
  EXPECT_EQ(slow, "sends what it has begun too slowly: less than 50 bytes a second");
}

TEST(ProgressWatch, APeerThatOwesNothingIsNeverTooSlow) {
  ProgressWatch watch(100, 2, 50);
  for (int look = 0; look < 20; ++look) {
    const bool owes = look % 3 != 0;
    EXPECT_EQ(watch.Look({.owes_taking = owes, .sent = 0, .owes_giving = !owes, .received = 0}),
              std::nullopt);
  }
}

// --- PacerTurn -----------------------------------------------------------------------------------

constexpr std::uint64_t kFast = 1'000'000'000;  // its debts are over within the test

TEST(PacerTurn, AsksOnceAndHoldsTheTurnUntilItIsUsed) {
  boost::asio::io_context io;
  Pacer pacer(io, kFast);
  PacerTurn turn(pacer);
  int woken = 0;
  ASSERT_TRUE(turn.Take([&woken] { ++woken; })) << "no debt, no wait";
  pacer.Charge(kFast / 4);
  EXPECT_FALSE(turn.Take([&woken] { ++woken; }));
  EXPECT_FALSE(turn.Take([&woken] { ++woken; })) << "it is asked for already";
  EXPECT_EQ(woken, 0);
  io.run();
  EXPECT_EQ(woken, 1);
  pacer.Charge(kFast / 4);
  EXPECT_TRUE(turn.Take([] { FAIL() << "the turn is held, so nothing is asked"; }));
  EXPECT_FALSE(turn.Take([&woken] { ++woken; })) << "one turn serves once";
  io.restart();
  io.run();
  EXPECT_EQ(woken, 2);
}

TEST(PacerTurn, IsNotWokenAfterItsEnd) {
  boost::asio::io_context io;
  Pacer pacer(io, kFast);
  auto turn = std::make_unique<PacerTurn>(pacer);
  pacer.Charge(kFast / 4);
  ASSERT_FALSE(turn->Take([] { FAIL() << "its owner is gone"; }));
  turn.reset();
  io.run();
}

}  // namespace
}  // namespace ostraka::net::record_parts_test
