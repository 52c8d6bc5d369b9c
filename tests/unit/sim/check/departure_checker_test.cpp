#include "sim/check/departure_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sim/checked_peers.h"

namespace ostraka::sim::departure_checker_test {
namespace {

using testing::HasSubstr;

// The members beside these three are nobody's concern.
wire::Block BlockWith(std::uint64_t step, std::vector<base::PeerId> leaving,
                      std::vector<base::PeerId> left = {}) {
  wire::Block block = ABlock(step);
  block.members.resize(8);
  block.leaving = std::move(leaving);
  block.left = std::move(left);
  return block;
}

class DepartureCheckerTest : public testing::Test {
 protected:
  void Say(std::uint32_t peer, std::uint64_t step, bool leaving) {
    wire::Commit body;
    body.coin_count = 1;
    body.leaving = leaving;
    wire::Slot slot;
    slot.step = step;
    slot.phase = wire::Phase::kA;
    slot.type = wire::MessageType::kCommit;
    const auto commit = wire::Seal({slot, {}, Key(peer)->id(), wire::Encode(body)}, *Key(peer));
    ASSERT_TRUE(checker_.OnAction(peer, SendOf(commit)).ok());
  }
  std::string See(const wire::Block& block) { return Fault(checker_.OnAction(0, Done(block))); }

  const base::PeerId honest_ = Key(1)->id();
  const base::PeerId byzantine_ = Key(2)->id();
  DepartureChecker checker_{ThreePeers(), std::make_shared<wire::PlainOpener>()};
};

TEST_F(DepartureCheckerTest, AllowsWhoSaysSoToGoSoon) {
  Say(1, 3, true);
  EXPECT_EQ(See(BlockWith(3, {honest_})), "");
  EXPECT_EQ(See(BlockWith(4, {honest_, byzantine_})), "");
  wire::Block gone = BlockWith(5, {byzantine_}, {honest_});
  std::erase(gone.members, honest_);
  EXPECT_EQ(See(gone), "");
}

TEST_F(DepartureCheckerTest, FiresOnAnHonestPeerThatNeverSaidSo) {
  Say(1, 3, false);
  EXPECT_THAT(See(BlockWith(3, {honest_})), HasSubstr("never said so"));
  EXPECT_THAT(See(BlockWith(4, {byzantine_})), testing::IsEmpty()) << "its own affair";
}

TEST_F(DepartureCheckerTest, FiresOnOneThatGoesWithoutBeingListed) {
  wire::Block block = BlockWith(3, {}, {byzantine_});
  std::erase(block.members, byzantine_);
  EXPECT_THAT(See(block), HasSubstr("no block before it lists"));
}

TEST_F(DepartureCheckerTest, FiresOnOneThatGoesAndStays) {
  EXPECT_EQ(See(BlockWith(3, {byzantine_})), "");
  EXPECT_THAT(See(BlockWith(4, {}, {byzantine_})), HasSubstr("and keeps it"));
}

TEST_F(DepartureCheckerTest, FiresOnOneThatIsHeldBack) {
  Say(1, 3, true);
  for (std::uint64_t step = 3; step <= 17; ++step) EXPECT_EQ(See(BlockWith(step, {honest_})), "");
  EXPECT_THAT(See(BlockWith(18, {honest_})), HasSubstr("is leaving since step 3"));
}

TEST_F(DepartureCheckerTest, NobodyMustGoFromThreeMembersOrAtTheEnd) {
  Say(1, 3, true);
  for (std::uint64_t step = 3; step <= 40; ++step) {
    wire::Block block = BlockWith(step, {honest_});
    if (step % 2 == 0) block.closing = 1;
    if (step % 2 != 0) block.members.resize(3);
    EXPECT_EQ(See(block), "");
  }
}

}  // namespace
}  // namespace ostraka::sim::departure_checker_test
