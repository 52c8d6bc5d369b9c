// Four peers with trainers, the last one Byzantine, and one column of two coordinates: the applied
// aggregate is compared with what the trainers computed.
#include "sim/check/applied_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/sim/checked_peers.h"

namespace ostraka::sim::applied_checker_test {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kStep = 5;
constexpr double kTau = 1;

class AppliedTest : public testing::Test {
 protected:
  AppliedTest() : manifest_(PlainSgd()), checker_(FourPeers(), manifest_, {{"x", {2}}}) {
    wire::Block before = ABlock(kStep - 1);
    before.tau = kTau;
    EXPECT_TRUE(checker_.OnAction(0, Done(before, State({10, 20}))).ok());
  }
  // Rate 1, no momentum: the applied aggregate is subtracted.
  static std::shared_ptr<const protocol::Manifest> PlainSgd() {
    auto manifest = std::make_shared<protocol::Manifest>();
    manifest->training.learning_rate = 1;
    manifest->training.warmup_steps = 0;
    manifest->training.momentum = 0;
    manifest->training.weight_decay = 0;
    manifest->training.steps = 1'000'000'000;
    manifest->training.settle_steps = 0;
    return manifest;
  }
  static Roster FourPeers() {
    Roster roster;
    for (std::uint32_t i = 0; i < 4; ++i) roster.ids.push_back(Key(i)->id());
    roster.byzantine = {false, false, false, true};
    return roster;
  }
  static protocol::ModelState State(std::vector<float> parameters) {
    return {std::make_shared<const std::vector<float>>(std::move(parameters)),
            {{"velocity", std::make_shared<const std::vector<float>>(2)}}};
  }

  void Train(std::uint32_t peer, std::vector<float> gradient) {
    const std::vector<protocol::Action> starts = {protocol::StartJob{
        7, std::make_shared<const protocol::JobSpec>(protocol::GradientSpec{
               .step = kStep, .owner = Key(peer)->id(), .parameters = nullptr, .batch_seed = {}})}};
    checker_.OnStep({{1}, 1, peer, protocol::TimerFired{1}, starts});
    const auto done = std::make_shared<const protocol::JobResult>(
        protocol::GradientResult{std::make_shared<const std::vector<float>>(std::move(gradient))});
    checker_.OnStep({{2}, 2, peer, protocol::JobDone{7, done}, {}});
  }
  void Send(std::uint32_t peer, wire::MessageType type, base::Bytes body,
            const std::vector<float>& values) {
    wire::Slot slot;
    slot.step = kStep;
    slot.phase = wire::Phase::kA;
    slot.type = type;
    const auto message = wire::Seal({slot, {}, Key(peer)->id(), std::move(body)}, *Key(peer));
    const std::vector<protocol::Action> says = {
        protocol::Send{Key(1)->id(), message.frame, Blob(values)}};
    checker_.OnStep({{3}, 3, peer, protocol::TimerFired{1}, says});
  }
  void SendPart(std::uint32_t peer, const std::vector<float>& part) {
    Send(peer, wire::MessageType::kPart, wire::Encode(wire::Part{}), part);
  }

  // The aggregate of `senders` by `owner` is applied.
  base::Status Apply(std::uint32_t owner, std::vector<std::uint32_t> senders,
                     const std::vector<float>& result) {
    Send(owner, wire::MessageType::kResult, wire::Encode(wire::Result{}), result);
    // As the optimizer does, except for the velocity.
    protocol::ModelState after = State({10 - result[0], 20 - result[1]});
    after.slots.at(0).values = std::make_shared<const std::vector<float>>(result);
    return Accept(owner, std::move(senders), result, std::move(after));
  }
  base::Status Accept(std::uint32_t owner, std::vector<std::uint32_t> senders,
                      const std::vector<float>& result, protocol::ModelState after) {
    wire::Block block = ABlock(kStep);
    block.columns = {wire::ColumnFate::kApplied};
    block.result_roots = {Blob(result)->root};
    block.aggregated = {{Key(owner)->id(), {}}};
    for (const std::uint32_t sender : senders) {
      block.aggregated[0].senders.push_back(Key(sender)->id());
    }
    return checker_.OnAction(1, Done(std::move(block), std::move(after)));
  }

  std::shared_ptr<const protocol::Manifest> manifest_;
  Applied checker_;
};

// 0 - v + 1 - v + 1 = 0: the row at 20 counts as one at distance 1.
TEST_F(AppliedTest, PassesTheFixedPointOfWhatTrainersComputed) {
  Train(0, {0, 0});
  Train(1, {1, 0});
  Train(2, {20, 0});
  EXPECT_TRUE(Apply(0, {0, 1, 2}, {1, 0}).ok());
}

TEST_F(AppliedTest, FiresOnAnErrorLargerThanRounding) {
  Train(0, {0, 0});
  Train(1, {1, 0});
  Train(2, {20, 0});
  EXPECT_THAT(Fault(Apply(0, {0, 1, 2}, {1.0001F, 0})), HasSubstr("as far from CenteredClip"));
}

TEST_F(AppliedTest, TakesTauFromTheBlockBefore) {
  Train(0, {0, 0});
  Train(1, {1, 0});
  Train(2, {20, 0});
  EXPECT_THAT(Fault(Apply(0, {0, 1, 2}, {7, 0})), HasSubstr("as far from CenteredClip"))
      << "the mean is right for a larger tau only";
}

TEST_F(AppliedTest, FiresOnASenderWithAnotherGradient) {
  Train(0, {0, 0});
  Train(1, {0.5F, 0});
  Train(2, {20, 0});
  EXPECT_FALSE(Apply(0, {0, 1, 2}, {1, 0}).ok());
}

TEST_F(AppliedTest, TakesNonFiniteValuesAsZero) {
  Train(0, {0, 0});
  Train(1, {1, std::numeric_limits<float>::quiet_NaN()});
  Train(2, {20, std::numeric_limits<float>::infinity()});
  EXPECT_TRUE(Apply(0, {0, 1, 2}, {1, 0}).ok());
}

TEST_F(AppliedTest, FiresOnAPartThatNobodyMade) {
  Train(0, {0, 0});
  Train(1, {1, 0});
  EXPECT_THAT(Fault(Apply(0, {0, 1, 2}, {1, 0})), HasSubstr("never made"));
}

TEST_F(AppliedTest, FiresIfTheStateMovesDifferently) {
  Train(0, {0, 0});
  Send(0, wire::MessageType::kResult, wire::Encode(wire::Result{}), {0, 0});
  EXPECT_THAT(Fault(Accept(0, {0}, {0, 0}, State({10, 20.5F}))), HasSubstr("coordinate 1"));
}

TEST_F(AppliedTest, FiresOnAnAggregateThatNobodySent) {
  Train(0, {0, 0});
  EXPECT_THAT(Fault(Accept(0, {0}, {0, 0}, State({10, 20}))), HasSubstr("nobody sent"));
}

// --- of an adversary counts what it sent --------------------------------------------------------

TEST_F(AppliedTest, TakesAnAdversarysPartFromWhatItSent) {
  Train(0, {0, 0});
  Train(1, {1, 0});
  Train(3, {0, 0});  // its own gradient does not matter
  SendPart(3, {20, 0});
  EXPECT_TRUE(Apply(0, {0, 1, 3}, {1, 0}).ok());
}

TEST_F(AppliedTest, FiresIfAnAdversarysPartDiffersFromTheOneItSent) {
  Train(0, {0, 0});
  Train(1, {1, 0});
  SendPart(3, {-20, 0});
  EXPECT_FALSE(Apply(0, {0, 1, 3}, {1, 0}).ok());
}

TEST_F(AppliedTest, PassesColumnsWithUnknownParts) {
  Train(0, {0, 0});
  Train(1, {1, 0});
  SendPart(3, {20, 0});
  SendPart(3, {-20, 0});  // the owner holds one of the two
  EXPECT_TRUE(Apply(0, {0, 1, 3}, {1, 0}).ok());
}

// --- a Byzantine aggregator ---------------------------------------------------------------------

// Two rows are c away in one coordinate: each direction sees 2 c / sqrt(2).
TEST_F(AppliedTest, FiresOnAByzantineAggregatorWithoutCover) {
  Train(0, {0, 0});
  Train(1, {0, 0});
  EXPECT_THAT(Fault(Apply(3, {0, 1}, {0.01F, 0})), HasSubstr("shifted by its aggregator"));
}

TEST_F(AppliedTest, AllowsTheShiftThatACoveringColluderCanHide) {
  Train(0, {0, 0});
  Train(1, {0, 0});
  // One Byzantine sender may have sealed up to tau in each direction: 2 D / sqrt(2) < 1.
  EXPECT_TRUE(Apply(3, {0, 1, 3}, {0.7F, 0}).ok());
}

TEST_F(AppliedTest, FiresOnALargerShiftThanAColluderCanHide) {
  Train(0, {0, 0});
  Train(1, {0, 0});
  EXPECT_THAT(Fault(Apply(3, {0, 1, 3}, {0.72F, 0})), HasSubstr("shifted by its aggregator"));
}

}  // namespace
}  // namespace ostraka::sim::applied_checker_test
