#include "sim/adversary/false_aggregates.h"

#include <gtest/gtest.h>

#include "tests/unit/sim/adversary/one_turn.h"

namespace ostraka::sim::false_aggregates_test {
namespace {

using Do = Deviation::Do;
using wire::MessageType;

class FalseAggregatesTest : public testing::Test {
 protected:
  static const Deviation* Nothing(const wire::Slot&) { return nullptr; }
  auto Content() const {
    return [this](const wire::Slot& slot) {
      return slot.type == MessageType::kAggregate ? &how_ : nullptr;
    };
  }
  protocol::SharedBlob Lied(const protocol::SharedBlob& truth) {
    protocol::SharedBlob told;
    turn_.Run(1, [&](EditorTurn& turn) {
      protocol::AggregateSpec aggregate;
      aggregate.size = 2;
      const protocol::JobSpec spec = aggregate;
      const auto done = lies_.Lied(
          turn, &spec,
          {3, std::make_shared<const protocol::JobResult>(protocol::AggregateResult{truth})},
          Content());
      EXPECT_EQ(done.id, 3U);
      told = std::get<protocol::AggregateResult>(*done.result).result;
    });
    return told;
  }
  protocol::Record RecordOf(MessageType type, base::Bytes body) const {
    wire::Envelope envelope;
    envelope.slot.step = 4;
    envelope.slot.phase = wire::Phase::kA;
    envelope.slot.type = type;
    envelope.sender = turn_.key()->id();
    envelope.body = std::move(body);
    return {protocol::RecordKind::kSlot, {1}, *wire::EncodeUnsigned(envelope)};
  }
  protocol::Record AggregateRecord() const {
    wire::Aggregate aggregate;
    aggregate.included = {0b1, 0};
    aggregate.commits_root.bytes[0] = 6;
    return RecordOf(MessageType::kAggregate, wire::Encode(aggregate));
  }
  // The messages signed in place of that store's; nullopt if it is left alone.
  std::optional<std::vector<base::SharedBytes>> Changed(std::vector<protocol::Record> records) {
    turn_.Run(1, [&](EditorTurn& turn) {
      lies_.Prepare(turn, 0, {7, std::move(records)}, Content());
    });
    return lies_.Take(0, 7);
  }

  OneTurn turn_;
  FalseAggregates lies_{turn_.key()};
  Deviation how_;
};

TEST_F(FalseAggregatesTest, ScalesAResultOrSpoilsItsRoot) {
  const auto truth = BlobOfFloats({1, -2});
  how_.what = Do::kScale;
  how_.scale = 3;
  const auto scaled = Lied(truth);
  EXPECT_EQ(FloatsOf(*scaled), (std::vector<float>{3, -6}));
  EXPECT_EQ(lies_.result(), scaled);
  EXPECT_TRUE(turn_.HasConfessed());
  how_.what = Do::kZeroRoot;
  EXPECT_TRUE(Lied(truth)->root.is_zero());
  how_.what = Do::kWrongRoot;
  const auto wrong = Lied(truth);
  EXPECT_FALSE(wrong->root.is_zero());
  EXPECT_NE(wrong->root, truth->root);
  EXPECT_EQ(wrong->data, truth->data);
}

TEST_F(FalseAggregatesTest, LeavesAResultAloneThatTheBodyLiesAbout) {
  const auto truth = BlobOfFloats({1, -2});
  for (const Do what : {Do::kFullBitmap, Do::kCommitsRoot}) {
    how_.what = what;
    EXPECT_EQ(Lied(truth), truth);
    EXPECT_EQ(lies_.result(), truth);
  }
  EXPECT_FALSE(turn_.HasConfessed());
}

TEST_F(FalseAggregatesTest, SignsAllMessagesOfAChangedStore) {
  turn_.Begin(4, 9);
  how_.what = Do::kFullBitmap;
  const auto frames = Changed({RecordOf(MessageType::kResult, {5}), AggregateRecord()});
  ASSERT_TRUE(frames && frames->size() == 2);
  const auto result = wire::Open((*frames)[0]);
  const auto aggregate = wire::Open((*frames)[1]);
  ASSERT_TRUE(result.ok() && aggregate.ok());
  EXPECT_EQ(result->envelope.body, base::Bytes{5});
  const auto body = wire::Decode<wire::Aggregate>(aggregate->envelope.body);
  ASSERT_TRUE(body.ok());
  EXPECT_EQ(body->included, (base::Bytes{0xff, 0b1})) << "the nine workers";
  EXPECT_EQ(lies_.Take(0, 7), std::nullopt) << "once";
}

TEST_F(FalseAggregatesTest, ChangesTheRootOfTheCommits) {
  how_.what = Do::kCommitsRoot;
  const auto frames = Changed({AggregateRecord()});
  ASSERT_TRUE(frames.has_value());
  const auto opened = wire::Open(frames->front());
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(wire::Decode<wire::Aggregate>(opened->envelope.body)->commits_root.bytes[0], 7);
}

TEST_F(FalseAggregatesTest, LeavesOtherStoresAlone) {
  how_.what = Do::kScale;  // the result lies, not the body
  EXPECT_EQ(Changed({AggregateRecord()}), std::nullopt);
  how_.what = Do::kCommitsRoot;
  EXPECT_EQ(Changed({RecordOf(MessageType::kResult, {5})}), std::nullopt);
  EXPECT_EQ(Changed({AggregateRecord(), {protocol::RecordKind::kBlock, {1}, {2}}}), std::nullopt)
      << "it holds more than messages";
  EXPECT_EQ(Changed({RecordOf(MessageType::kAggregate, {0xff})}), std::nullopt) << "unreadable";
}

}  // namespace
}  // namespace ostraka::sim::false_aggregates_test
