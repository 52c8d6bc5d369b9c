// Each checker fires on the faulty column that it is for, and on no other.
#include "sim/check/column_checkers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sim/checked_peers.h"

namespace ostraka::sim::column_checkers_test {
namespace {

using testing::HasSubstr;

// --- aggregation --------------------------------------------------------------------------------

base::Status AfterAggregating(std::uint32_t peer, const std::vector<float>& result, double tau) {
  Aggregation checker(ThreePeers());
  protocol::AggregateSpec spec;
  spec.size = 2;
  for (const float value : {0.0F, 1.0F, 20.0F}) spec.parts.push_back(Blob({value, 0}));
  spec.tau = tau;
  spec.eps = 1e-6;
  const std::vector<protocol::Action> starts = {
      protocol::StartJob{4, std::make_shared<const protocol::JobSpec>(spec)}};
  checker.OnStep({{1}, 1, peer, protocol::TimerFired{1}, starts});
  const auto done =
      std::make_shared<const protocol::JobResult>(protocol::AggregateResult{Blob(result)});
  checker.OnStep({{2}, 2, peer, protocol::JobDone{4, done}, {}});
  return checker.OnAction(0, protocol::CancelTimer{1});
}

// With radius 1 the far row counts as one at distance 1: 1 - v + 0 - v + 1 = 0.
TEST(Aggregation, FiresOnAResultOffTheFixedPoint) {
  EXPECT_TRUE(AfterAggregating(0, {1, 0}, 1).ok());
  EXPECT_THAT(Fault(AfterAggregating(0, {7, 0}, 1)), HasSubstr("3 parts"));
  EXPECT_FALSE(AfterAggregating(0, {1.0001F, 0}, 1).ok());
  EXPECT_TRUE(AfterAggregating(0, {7, 0}, 100).ok())
      << "the mean is right where nothing is clipped";
  EXPECT_TRUE(AfterAggregating(2, {7, 0}, 1).ok()) << "an adversary may aggregate what it likes";
}

// --- columns ------------------------------------------------------------------------------------

// Four peers, the last one Byzantine; one column of two coordinates, owned by peer 0.
class ColumnsTest : public testing::Test {
 protected:
  ColumnsTest() : checker_(FourPeers(), std::make_shared<const protocol::Manifest>()) {
    EXPECT_TRUE(Accept(ABlock(4), {1, 2}).ok());
  }
  static Roster FourPeers() {
    Roster roster;
    for (std::uint32_t i = 0; i < 4; ++i) roster.ids.push_back(Key(i)->id());
    roster.byzantine = {false, false, false, true};
    return roster;
  }
  static std::vector<base::PeerId> Sorted(std::vector<base::PeerId> ids) {
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  base::Status Accept(wire::Block block, std::vector<float> parameters) {
    block.members = Sorted(FourPeers().ids);
    block.thresholds = {.n = 4, .t_s = 1, .t_a = 0};
    protocol::ModelState state{std::make_shared<const std::vector<float>>(std::move(parameters)),
                               {{"velocity", std::make_shared<const std::vector<float>>(2)}}};
    return checker_.OnAction(0, Done(std::move(block), std::move(state)));
  }
  wire::Block StepFive(wire::ColumnFate fate, std::size_t senders) const {
    wire::Block block = ABlock(5);
    block.columns = {fate};
    block.result_roots = {result_->root};
    std::vector<base::PeerId> ids = FourPeers().ids;
    ids.resize(senders);
    block.aggregated = {{Key(0)->id(), Sorted(ids)}};
    return block;
  }
  void Say(std::uint32_t peer, wire::Phase phase, wire::MessageType type, base::Bytes body,
           protocol::SharedBlob blob = nullptr) {
    wire::Slot slot;
    slot.step = 5;
    slot.phase = phase;
    slot.type = type;
    const auto message = wire::Seal({slot, {}, Key(peer)->id(), std::move(body)}, *Key(peer));
    const std::vector<protocol::Action> says = {
        protocol::Send{Key(1)->id(), message.frame, std::move(blob)}};
    checker_.OnStep({{1}, 1, peer, protocol::TimerFired{1}, says});
  }
  void Prove(std::uint32_t peer, double s) {
    wire::Proof proof;
    proof.columns.resize(1);
    proof.columns[0].norm = 1;
    proof.columns[0].s[2] = s;
    Say(peer, wire::Phase::kC, wire::MessageType::kProof, wire::Encode(proof));
  }
  void Aggregate() {
    Say(0, wire::Phase::kA, wire::MessageType::kResult, wire::Encode(wire::Result{}), result_);
  }

  protocol::SharedBlob result_ = Blob({3, 4});
  Columns checker_;
};

TEST_F(ColumnsTest, FiresOnFewerThan2bPlus1Senders) {
  wire::Block block = StepFive(wire::ColumnFate::kApplied, 0);
  EXPECT_THAT(Fault(Accept(block, {5, 5})), HasSubstr("applied with 0 senders of at least 3"));
  block.step = 6;
  block.aggregated[0].senders = Sorted({Key(0)->id(), Key(3)->id()});
  EXPECT_THAT(Fault(Accept(block, {5, 5})), HasSubstr("applied with 2 senders of at least 3"));
}

// Three hold a role, and bear no fault.
TEST_F(ColumnsTest, AsksForNoMoreThanTheMembersWithARoleBear) {
  wire::Block before = ABlock(5);
  before.leaving = {Key(3)->id()};
  EXPECT_TRUE(Accept(before, {3, 4}).ok());
  wire::Block block = StepFive(wire::ColumnFate::kApplied, 0);
  block.step = 6;
  EXPECT_THAT(Fault(Accept(block, {5, 5})), HasSubstr("applied with 0 senders of at least 1"));
}

TEST_F(ColumnsTest, PassesSumsThatVanish) {
  Aggregate();
  for (std::uint32_t peer = 0; peer < 3; ++peer) Prove(peer, peer == 1 ? -0.5 : 0.25);
  EXPECT_TRUE(Accept(StepFive(wire::ColumnFate::kApplied, 3), {5, 5}).ok());
}

TEST_F(ColumnsTest, FiresOnASumBeyondTheTolerance) {
  Aggregate();
  for (std::uint32_t peer = 0; peer < 3; ++peer) Prove(peer, peer == 1 ? -0.5 : 0.26);
  EXPECT_THAT(Fault(Accept(StepFive(wire::ColumnFate::kApplied, 3), {5, 5})),
              HasSubstr("tolerances"));
}

TEST_F(ColumnsTest, PassesColumnsWithUnknownProofs) {
  Aggregate();
  for (std::uint32_t peer = 0; peer < 3; ++peer) Prove(peer, 0.5);
  Prove(1, -1);  // two PROOFs, and the block does not say which is sealed
  EXPECT_TRUE(Accept(StepFive(wire::ColumnFate::kApplied, 3), {5, 5}).ok());
}

TEST_F(ColumnsTest, FiresIfAVoidColumnChangesTheState) {
  EXPECT_TRUE(Accept(StepFive(wire::ColumnFate::kSumCheck, 3), {1, 2}).ok());
  wire::Block next = StepFive(wire::ColumnFate::kSumCheck, 3);
  next.step = 6;
  EXPECT_THAT(Fault(Accept(next, {1, 2.5F})), HasSubstr("is void and changed the state"));
}

}  // namespace
}  // namespace ostraka::sim::column_checkers_test
