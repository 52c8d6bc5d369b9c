#include "sim/check/arrival_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sim/checked_peers.h"

namespace ostraka::sim::arrival_checker_test {
namespace {

using testing::HasSubstr;

// Peers 1 and 2 come: peer 1 is honest, peer 2 is not.
Roster TwoCome() {
  Roster roster = ThreePeers();
  roster.genesis = 1;
  return roster;
}

class ArrivalCheckerTest : public testing::Test {
 protected:
  wire::Block BlockWith(std::uint64_t step, std::vector<base::PeerId> members,
                        std::vector<base::PeerId> joined = {}) {
    wire::Block block = ABlock(step);
    block.members = std::move(members);
    block.joined = std::move(joined);
    return block;
  }
  std::string See(const wire::Block& block, std::uint32_t peer = 0) {
    return Fault(checker_.OnAction(peer, Done(block)));
  }

  const base::PeerId genesis_ = Key(0)->id();
  const base::PeerId honest_ = Key(1)->id();
  const base::PeerId other_ = Key(2)->id();
  ArrivalChecker checker_{TwoCome(), {{0, 1}, {0, 1}}, 2, true};
};

TEST_F(ArrivalCheckerTest, AllowsOneToComeInByOneUse) {
  EXPECT_EQ(See(BlockWith(3, {genesis_})), "");
  EXPECT_EQ(See(BlockWith(4, {genesis_, honest_}, {honest_})), "");
  EXPECT_EQ(See(BlockWith(5, {genesis_, honest_})), "");
}

TEST_F(ArrivalCheckerTest, FiresOnASecondUse) {
  EXPECT_EQ(See(BlockWith(4, {genesis_, honest_}, {honest_})), "");
  EXPECT_THAT(See(BlockWith(5, {genesis_, other_}, {other_})), HasSubstr("lets in 1"));
}

TEST_F(ArrivalCheckerTest, ALaterReturnIsNoUse) {
  EXPECT_EQ(See(BlockWith(4, {genesis_, honest_}, {honest_})), "");
  EXPECT_EQ(See(BlockWith(5, {genesis_})), "");
  EXPECT_EQ(See(BlockWith(9, {genesis_, honest_}, {honest_})), "");
}

// Peer 1 comes in with the block of step 4.
class WhoLeftTest : public ArrivalCheckerTest {
 protected:
  WhoLeftTest() { Joins(4); }
  std::string Joins(std::uint64_t step) {
    return See(BlockWith(step, {genesis_, honest_}, {honest_}));
  }
  void Leaves(std::uint64_t step) {
    wire::Block gone = BlockWith(step, {genesis_});
    gone.left = {honest_};
    EXPECT_EQ(See(gone), "");
  }
};

TEST_F(WhoLeftTest, ComesAgainByItsUsedInvite) {
  Leaves(9);
  EXPECT_EQ(Joins(1009), "");
  EXPECT_THAT(See(BlockWith(1010, {genesis_, other_}, {other_})), HasSubstr("lets in 1"))
      << "the use is its own";
}

TEST_F(WhoLeftTest, ComesAgainWhileThatIsInForce) {
  checker_ = ArrivalChecker(TwoCome(), {{0, 1, 1009}, {0, 1, 1009}}, 2, true);
  Joins(4);
  Leaves(9);
  EXPECT_THAT(Joins(1009), HasSubstr("has ended with step 1009"));
}

TEST_F(WhoLeftTest, ReturnsInItsSeatWhateverHasEnded) {
  checker_ = ArrivalChecker(TwoCome(), {{0, 1, 500}, {0, 1, 500}}, 2, true);
  Joins(4);
  Leaves(9);
  EXPECT_EQ(Joins(1008), "");
}

// Its seat is lost 1000 steps after it left, or after the bar if it leaves too soon.
TEST_F(WhoLeftTest, KeepsItsSeatBeyondABar) {
  checker_ = ArrivalChecker(TwoCome(), {{0, 1, 3010}, {0, 1, 3010}}, 2, true);
  Joins(4);
  Leaves(9);
  EXPECT_EQ(Joins(1009), "");
  Leaves(1011);
  EXPECT_EQ(Joins(3010), "");
  Leaves(3011);
  EXPECT_THAT(Joins(5011), HasSubstr("has ended with step 3010"));
}

TEST_F(ArrivalCheckerTest, FiresOnMoreAttackersThanTheMembersBear) {
  wire::Block block = BlockWith(4, {genesis_, other_}, {other_});
  block.thresholds = {.n = 2, .t_s = 0, .t_a = 0};
  EXPECT_THAT(See(block), HasSubstr("1 of 2 members"));
}

TEST_F(ArrivalCheckerTest, FiresOnAMemberThatNeverCameIn) {
  EXPECT_THAT(See(BlockWith(4, {genesis_, honest_})), HasSubstr("came never in"));
}

TEST_F(ArrivalCheckerTest, FiresOnMoreMembersThanSeats) {
  EXPECT_THAT(See(BlockWith(4, {genesis_, genesis_, genesis_})), HasSubstr("2 seats"));
}

TEST_F(ArrivalCheckerTest, FiresOnAnHonestGuestThatIsKeptOut) {
  EXPECT_EQ(See(BlockWith(4, {genesis_}), 1), "") << "it follows";
  EXPECT_EQ(See(BlockWith(20, {genesis_})), "");
  EXPECT_THAT(See(BlockWith(40, {genesis_})), HasSubstr("not let in"));
}

TEST_F(ArrivalCheckerTest, AnAttackerMayBeKeptOut) {
  EXPECT_EQ(See(BlockWith(4, {genesis_}), 2), "");
  EXPECT_EQ(See(BlockWith(90, {genesis_})), "");
}

}  // namespace
}  // namespace ostraka::sim::arrival_checker_test
