// Four peers with trainers, the last one Byzantine, and one column of two coordinates.
#include "sim/check/size_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sim/checked_peers.h"

namespace ostraka::sim::size_checker_test {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kStep = 5;

class SizesTest : public testing::Test {
 protected:
  // `t_s`: Byzantine members that the head bears.
  explicit SizesTest(std::uint32_t t_s = 1, std::vector<bool> unlucky = {})
      : checker_(FourPeers(std::move(unlucky)), std::make_shared<protocol::Manifest>()) {
    wire::Block before = ABlock(kStep - 1);
    before.members = FourPeers().ids;
    before.thresholds.t_s = t_s;
    before.tau = 1;
    EXPECT_TRUE(checker_.OnAction(0, Done(before, AState({10, 20}))).ok());
    for (std::uint32_t peer = 0; peer < 3; ++peer) Train(peer, {3, 4});  // of size 5
  }
  static Roster FourPeers(std::vector<bool> unlucky = {}) {
    Roster roster;
    roster.unlucky = std::move(unlucky);
    for (std::uint32_t i = 0; i < 4; ++i) roster.ids.push_back(Key(i)->id());
    roster.byzantine = {false, false, false, true};
    return roster;
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
  // The Byzantine owner's result, applied in a block with these senders.
  base::Status Apply(std::vector<std::uint32_t> senders, const std::vector<float>& result) {
    wire::Slot slot;
    slot.step = kStep;
    slot.phase = wire::Phase::kA;
    slot.type = wire::MessageType::kResult;
    const auto message =
        wire::Seal({slot, {}, Key(3)->id(), wire::Encode(wire::Result{})}, *Key(3));
    const std::vector<protocol::Action> says = {
        protocol::Send{Key(1)->id(), message.frame, Blob(result)}};
    checker_.OnStep({{3}, 3, 3, protocol::TimerFired{1}, says});
    wire::Block block = ABlock(kStep);
    block.columns = {wire::ColumnFate::kApplied};
    block.result_roots = {Blob(result)->root};
    block.aggregated = {{Key(3)->id(), {}}};
    for (const std::uint32_t sender : senders) {
      block.aggregated[0].senders.push_back(Key(sender)->id());
    }
    return checker_.OnAction(1, Done(std::move(block), AState({1, 2})));
  }

  Sizes checker_;
};

TEST_F(SizesTest, AllowsSizesThatHonestRowsCanGive) {
  EXPECT_TRUE(Apply({0, 1, 2, 3}, {3, 4}).ok());
}

// One of four lies: 5 / sqrt(1 - (1.25 / 3)^2) = 5.5, and 5 + 1.25 / 3 = 5.42.
TEST_F(SizesTest, FiresBeyondTheirBound) {
  EXPECT_THAT(Fault(Apply({0, 1, 2, 3}, {0, 5.6F})), HasSubstr("beyond the 5.5"));
}

TEST_F(SizesTest, FiresWithoutAnHonestMajority) {
  EXPECT_THAT(Fault(Apply({0, 3}, {0, 1})), HasSubstr("only 1 are known to be honest"));
}

// A straggler of a run with six attackers of sixteen: while it sends nothing, it is one fault more
// than the head bears [swarm seed 223839432829609].
class SizesBesideAStragglerTest : public SizesTest {
 protected:
  SizesBesideAStragglerTest() : SizesTest(1, {false, true, false, false}) {}
};
TEST_F(SizesBesideAStragglerTest, CountsItAsAFaultWhereItDidNotSend) {
  EXPECT_TRUE(Apply({0, 3}, {0, 1}).ok());
}
TEST_F(SizesBesideAStragglerTest, IsHonestWhereItSent) {
  EXPECT_THAT(Fault(Apply({1, 3}, {0, 1})), HasSubstr("only 1 are known to be honest"));
}

class SizesOfTooFewTest : public SizesTest {
 protected:
  SizesOfTooFewTest() : SizesTest(0) {}
};
TEST_F(SizesOfTooFewTest, PassesWhileMoreMembersAreByzantineThanTheHeadBears) {
  EXPECT_TRUE(Apply({0, 3}, {0, 1}).ok());
}

}  // namespace
}  // namespace ostraka::sim::size_checker_test
