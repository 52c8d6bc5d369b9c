#include "node/protocol/ground/reach.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::reach_test {
namespace {

using scene::ManifestOf;
using scene::PeerNumber;
using scene::ViewBefore;

Block HeadWith(std::uint32_t n, const std::vector<std::uint32_t>& dialers) {
  Block head = ViewBefore(ManifestOf(n), 5);
  for (const std::uint32_t number : dialers) head.reach.push_back({PeerNumber(number), true, 0});
  return head;
}

TEST(ReachTest, WhoIsNotListedCanBeDialed) {
  Block head = HeadWith(8, {2, 5});
  head.reach.push_back({PeerNumber(7), false, 140});
  EXPECT_TRUE(OnlyDials(head, PeerNumber(2)));
  EXPECT_FALSE(OnlyDials(head, PeerNumber(3)));
  EXPECT_FALSE(OnlyDials(head, PeerNumber(7)));
  EXPECT_TRUE(Apart(head, PeerNumber(2), PeerNumber(5)));
  EXPECT_FALSE(Apart(head, PeerNumber(2), PeerNumber(3)));
  EXPECT_EQ(ReachableIn(head).size(), 6U);
}

TEST(ReachTest, GenesisTakesTheManifestsWord) {
  Manifest manifest = ManifestOf(8);
  EXPECT_TRUE(ReachAtGenesis(manifest).empty());
  manifest.members[3].only_dials = true;
  const std::vector<Reach> reach = ReachAtGenesis(manifest);
  ASSERT_EQ(reach.size(), 1U);
  EXPECT_EQ(reach[0].peer, PeerNumber(3));
  EXPECT_TRUE(reach[0].only_dials);
  EXPECT_EQ(reach[0].changes_from, 0U);
}

// --- changes -------------------------------------------------------------------------------------

class ReachChangeTest : public testing::Test {
 protected:
  // What the run says of member 1 after the step, in which it declared `only_dials`.
  bool After(std::uint64_t step, bool only_dials) {
    head_.reach = ReachAfter(head_, step, {{PeerNumber(1), only_dials}});
    return OnlyDials(head_, PeerNumber(1));
  }
  Block head_ = HeadWith(8, {});
};

TEST_F(ReachChangeTest, TheFirstChangeCountsAtOnce) { EXPECT_TRUE(After(5, true)); }

TEST_F(ReachChangeTest, AMemberCanBeDialedAfterAllOnceInAHundredSteps) {
  EXPECT_TRUE(After(5, true));
  EXPECT_FALSE(After(6, false));
  EXPECT_TRUE(After(7, true));
  for (std::uint64_t step = 8; step < 106; ++step) EXPECT_TRUE(After(step, false)) << step;
  EXPECT_FALSE(After(106, false));
  EXPECT_TRUE(After(107, true));
  EXPECT_TRUE(After(205, false));
  EXPECT_FALSE(After(206, false));
}

// A path that a member has not is owed by nobody, however often it changes.
TEST_F(ReachChangeTest, ThatAMemberOnlyDialsCountsAtOnceWhenever) {
  EXPECT_TRUE(After(5, true));
  EXPECT_FALSE(After(6, false));
  for (std::uint64_t step = 7; step < 105; step += 7) {
    Block fresh = head_;
    EXPECT_TRUE(After(step, true)) << step;
    head_ = fresh;
  }
}

TEST_F(ReachChangeTest, WhoDeclaresTheSameKeepsItsChange) {
  for (std::uint64_t step = 5; step < 50; ++step) EXPECT_FALSE(After(step, false));
  EXPECT_TRUE(head_.reach.empty());
  EXPECT_TRUE(After(50, true));
}

TEST_F(ReachChangeTest, AListedPeerIsForgottenWhenItIsAsAnyOther) {
  EXPECT_TRUE(After(5, true));
  EXPECT_FALSE(After(105, false));
  EXPECT_FALSE(After(203, false));
  EXPECT_EQ(head_.reach.size(), 1U);
  EXPECT_EQ(head_.reach[0].changes_from, 205U);
  EXPECT_FALSE(After(204, false));
  EXPECT_TRUE(head_.reach.empty());
}

// A return would otherwise be a second change.
TEST_F(ReachChangeTest, AFormerMembersWordIsKept) {
  EXPECT_TRUE(After(3, true));
  EXPECT_FALSE(After(4, false));
  EXPECT_TRUE(After(5, true));
  head_.members.erase(head_.members.begin() + 1);
  head_.reach = ReachAfter(head_, 6, {});
  EXPECT_TRUE(OnlyDials(head_, PeerNumber(1)));
  EXPECT_EQ(head_.reach[0].changes_from, 104U);
}

// --- of whom bulk data can be had ----------------------------------------------------------------

TEST(LinkableTest, WhoOnlyDialsHasALinkWithThoseThatCanBeDialed) {
  const Block head = HeadWith(6, {1, 4});
  EXPECT_EQ(LinkableIn(head, PeerNumber(0)), head.members);
  std::vector<PeerId> expected = head.members;
  std::erase(expected, PeerNumber(4));
  EXPECT_EQ(LinkableIn(head, PeerNumber(1)), expected);
}

TEST(LinkableTest, WhenNobodyIsLeftAllAre) {
  const Block head = HeadWith(4, {0, 1, 2, 3});
  EXPECT_EQ(LinkableIn(head, PeerNumber(2)), head.members);
}

TEST(LinkableTest, AFormerMemberIsNoneOfThem) {
  Block head = HeadWith(6, {1, 4});
  std::erase(head.members, PeerNumber(1));
  std::vector<PeerId> expected = head.members;
  std::erase(expected, PeerNumber(4));
  EXPECT_EQ(LinkableIn(head, PeerNumber(1)), expected);
}

// --- carriers ------------------------------------------------------------------------------------

TEST(CarriersTest, AreTheMembersThatCanBeDialedInAnOrderOfThePair) {
  const Block head = HeadWith(16, {2, 5, 9});
  const auto carriers = CarriersOf(head, PeerNumber(2), PeerNumber(5));
  EXPECT_EQ(carriers, CarriersOf(head, PeerNumber(5), PeerNumber(2)));
  EXPECT_NE(carriers, CarriersOf(head, PeerNumber(2), PeerNumber(9)));
  EXPECT_EQ(std::set(carriers.begin(), carriers.end()).size(), 13U);
  EXPECT_EQ(std::count(carriers.begin(), carriers.end(), PeerNumber(9)), 0);
}

TEST(CarriersTest, OneMoreThanCanBeAtFaultAreNeeded) {
  const Block head = HeadWith(16, {2, 5});
  EXPECT_EQ(CarriersNeeded(head), FaultBound(head.thresholds) + 1);
}

// --- people --------------------------------------------------------------------------------------

TEST(ReachWarningTest, SaysWhatTooFewMean) {
  EXPECT_FALSE(ReachWarning(HeadWith(8, {})));
  EXPECT_FALSE(ReachWarning(HeadWith(8, {0})));  // 7 = 2 x 3 + 1
  EXPECT_NE(ReachWarning(HeadWith(8, {0, 1}))->find("may own most columns"), std::string::npos);
  EXPECT_NE(ReachWarning(HeadWith(8, {0, 1, 2, 3, 4}))->find("cut off"), std::string::npos);
  EXPECT_NE(ReachWarning(HeadWith(8, {0, 1, 2, 3, 4, 5}))->find("trains nothing"),
            std::string::npos);
  const auto few = ReachWarning(HeadWith(4, {0}));  // F = 1
  ASSERT_TRUE(few);
  EXPECT_NE(few->find("spared to validate"), std::string::npos) << *few;
  EXPECT_NE(few->find("4 are enough: whoever can should listen (--listen"), std::string::npos);
  const auto five = ReachWarning(HeadWith(7, {0, 1, 2}));
  ASSERT_TRUE(five);
  EXPECT_EQ(five->find("spared to validate"), std::string::npos) << *five;
}

}  // namespace
}  // namespace ostraka::protocol::reach_test
