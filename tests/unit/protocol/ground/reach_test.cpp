#include "node/protocol/ground/reach.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol {
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

TEST_F(ReachChangeTest, AMemberChangesOnceInAHundredSteps) {
  EXPECT_TRUE(After(5, true));
  for (std::uint64_t step = 6; step < 105; ++step) EXPECT_TRUE(After(step, false)) << step;
  EXPECT_FALSE(After(105, false));
  for (std::uint64_t step = 106; step < 205; ++step) EXPECT_FALSE(After(step, true)) << step;
  EXPECT_TRUE(After(205, true));
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
  EXPECT_FALSE(After(204, false));
  EXPECT_TRUE(head_.reach.empty());
}

// A return would otherwise be a second change.
TEST_F(ReachChangeTest, AFormerMembersWordIsKept) {
  EXPECT_TRUE(After(5, true));
  head_.members.erase(head_.members.begin() + 1);
  head_.reach = ReachAfter(head_, 6, {});
  EXPECT_TRUE(OnlyDials(head_, PeerNumber(1)));
  EXPECT_EQ(head_.reach[0].changes_from, 105U);
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
  EXPECT_NE(few->find("colluders among them leave"), std::string::npos) << *few;
}

}  // namespace
}  // namespace ostraka::protocol
