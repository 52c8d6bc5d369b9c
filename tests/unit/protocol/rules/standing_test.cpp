// What a removal costs, and the way back.
#include "node/protocol/rules/standing.h"

#include <gtest/gtest.h>

#include "node/protocol/rules/judgement.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol {
namespace {

using scene::Banned;
using scene::ManifestOf;
using scene::NumbersOfPeers;
using scene::PeerNumber;
using scene::ViewBefore;

constexpr std::uint64_t kStep = 50;

class StandingTest : public testing::Test {
 protected:
  StandingTest() : view_(ViewBefore(ManifestOf(8), kStep)) {}
  Standing After(FaultKind fault, std::uint64_t step) {
    view_.standings = StandingsAfter(view_, {{PeerNumber(3), fault}}, {}, {}, step);
    return *StandingOf(view_.standings, PeerNumber(3));
  }
  Block view_;
};

TEST_F(StandingTest, TheFirstDropAllowsAReturnAtOnceAndTheNextWaits) {
  Standing standing = After(FaultKind::kDrop, 10);
  EXPECT_EQ(standing.drops, 1u);
  EXPECT_EQ(standing.last_drop_step, 10u);
  EXPECT_EQ(standing.barred_until, 0u);
  standing = After(FaultKind::kDrop, 30);
  EXPECT_EQ(standing.drops, 2u);
  EXPECT_EQ(standing.barred_until, 1030u);
  EXPECT_FALSE(standing.banned);
}

TEST_F(StandingTest, SilenceAfterTheCoinWaitsAtOnce) {
  EXPECT_EQ(After(FaultKind::kDropAtReveal, 10).barred_until, 1010u);
  EXPECT_EQ(After(FaultKind::kDrop, 2000).barred_until, 3000u) << "no first drop any more";
}

TEST_F(StandingTest, ABanIsForEver) {
  EXPECT_TRUE(After(FaultKind::kBan, 10).banned);
  EXPECT_TRUE(After(FaultKind::kDrop, 20).banned);
}

TEST_F(StandingTest, AreByKeyAndKeepTheOthers) {
  view_.standings = {{PeerNumber(5), true, 0, 0, 0}};
  const auto standings = StandingsAfter(
      view_, {{PeerNumber(7), FaultKind::kDrop}, {PeerNumber(1), FaultKind::kBan}}, {}, {}, kStep);
  ASSERT_EQ(standings.size(), 3u);
  EXPECT_EQ(standings[0].peer, PeerNumber(1));
  EXPECT_TRUE(standings[1].banned);
  EXPECT_EQ(standings[2].peer, PeerNumber(7));
  EXPECT_EQ(StandingOf(standings, PeerNumber(2)), nullptr);
}

TEST_F(StandingTest, LeavingCostsNothing) {
  view_.standings = StandingsAfter(view_, {}, {PeerNumber(2)}, {}, 10);
  EXPECT_EQ(StandingOf(view_.standings, PeerNumber(2))->left_step, 10u);
  std::erase(view_.members, PeerNumber(2));
  EXPECT_TRUE(MayRejoin(view_, PeerNumber(2), 11));
}

// Attack: keys that take turns in coming and going.
TEST_F(StandingTest, LeavingSoonAfterAReturnBars) {
  view_.standings = StandingsAfter(view_, {}, {PeerNumber(2)}, {}, 10);
  view_.standings = StandingsAfter(view_, {}, {}, {PeerNumber(2)}, 20);
  EXPECT_EQ(StandingOf(view_.standings, PeerNumber(2))->returned_step, 20u);
  view_.standings = StandingsAfter(view_, {}, {PeerNumber(2)}, {}, 1019);
  EXPECT_EQ(StandingOf(view_.standings, PeerNumber(2))->barred_until, 2019u);
  EXPECT_EQ(StandingOf(view_.standings, PeerNumber(2))->drops, 1u);
  view_.standings = StandingsAfter(view_, {}, {}, {PeerNumber(2)}, 2020);
  view_.standings = StandingsAfter(view_, {}, {PeerNumber(2)}, {}, 3020);
  EXPECT_EQ(StandingOf(view_.standings, PeerNumber(2))->drops, 1u) << "1000 steps after";
}

TEST_F(StandingTest, ARemovedKeyThatIsNeitherBannedNorBarredMayRejoin) {
  for (const std::uint32_t gone : {1u, 2u, 3u}) std::erase(view_.members, PeerNumber(gone));
  view_.standings = {{PeerNumber(1), true, 0, 0, 0},
                     {PeerNumber(2), false, 2, 10, kStep},
                     {PeerNumber(3), false, 1, 40, 0},
                     {PeerNumber(4), false, 1, 5, 0}};
  EXPECT_FALSE(MayRejoin(view_, PeerNumber(1), kStep)) << "banned";
  EXPECT_FALSE(MayRejoin(view_, PeerNumber(2), kStep - 1)) << "barred";
  EXPECT_TRUE(MayRejoin(view_, PeerNumber(2), kStep));
  EXPECT_TRUE(MayRejoin(view_, PeerNumber(3), kStep));
  EXPECT_FALSE(MayRejoin(view_, PeerNumber(4), kStep)) << "a member";
  EXPECT_FALSE(MayRejoin(view_, PeerNumber(8), kStep)) << "never was one";
}

TEST_F(StandingTest, KeysAreTheMembersAndAllThatWereRemoved) {
  view_.members = {PeerNumber(0), PeerNumber(2)};
  std::sort(view_.members.begin(), view_.members.end());
  view_.standings = {{PeerNumber(1), true, 0, 0, 0}, {PeerNumber(2), false, 1, 5, 0}};
  std::vector<PeerId> keys = {PeerNumber(0), PeerNumber(1), PeerNumber(2)};
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(KeysOf(view_), keys);
  for (const PeerId& key : keys) EXPECT_TRUE(IsKey(view_, key));
  EXPECT_FALSE(IsKey(view_, PeerNumber(3)));
}

// --- the way back
// ---------------------------------------------------------------------------------

// Seven of eight members; member 3 was dropped. t_s = 2 of 7, so three confirm.
class ReturnTest : public testing::Test {
 protected:
  ReturnTest() : manifest_(ManifestOf(8)), view_(ViewBefore(manifest_, kStep)) {
    std::erase(view_.members, PeerNumber(3));
    view_.thresholds = ThresholdsIn(manifest_, 7);
    view_.standings = {{PeerNumber(3), false, 1, 40, 0}};
  }
  // The next block, in which so many members confirm member 3.
  const Block& Next(std::uint32_t confirming, const SealedFaults& faults = {}) {
    SealedStep sealed;
    sealed.step = view_.step + 1;
    for (const PeerId& member : view_.members) {
      wire::Proof& proof = sealed.proofs[member];
      if (confirming == 0) continue;
      --confirming;
      proof.joins = {PeerNumber(3)};
    }
    view_ = JudgeStep(sealed, view_, manifest_, {{}, {}, {}, faults});
    return view_;
  }
  bool IsBack() const { return IsMember(view_.members, PeerNumber(3)); }

  Manifest manifest_;
  Block view_;
};

TEST_F(ReturnTest, FiveBlocksInARowAdmit) {
  for (std::uint64_t i = 0; i < 4; ++i) {
    Next(3);
    ASSERT_EQ(view_.candidates.size(), 1u) << i;
    EXPECT_EQ(view_.candidates[0].since, kStep);
    EXPECT_EQ(view_.candidates[0].confirmed, kStep + i);
    EXPECT_FALSE(IsBack());
  }
  Next(3);
  EXPECT_TRUE(IsBack());
  EXPECT_EQ(NumbersOfPeers(view_.joined), std::vector<int>{3});
  EXPECT_TRUE(view_.candidates.empty());
  EXPECT_EQ(view_.thresholds, (Thresholds{8, 3, 1}));
  EXPECT_EQ(view_.standings.size(), 1u) << "what it did is kept";
  EXPECT_TRUE(Next(0).joined.empty());
}

TEST_F(ReturnTest, TheManifestSaysHowMany) {
  manifest_.probation = 3;
  Next(7);
  Next(7);
  EXPECT_FALSE(IsBack());
  Next(7);
  EXPECT_TRUE(IsBack());
}

TEST_F(ReturnTest, AsManyAsCanBeAtFaultConfirmNobody) {
  Next(2);
  EXPECT_TRUE(view_.candidates.empty());
}

TEST_F(ReturnTest, AGapStartsAgain) {
  for (int i = 0; i < 4; ++i) Next(3);
  Next(2);
  EXPECT_TRUE(view_.candidates.empty());
  for (int i = 0; i < 4; ++i) Next(3);
  EXPECT_FALSE(IsBack());
  Next(3);
  EXPECT_TRUE(IsBack());
}

TEST_F(ReturnTest, NeitherTheBannedNorTheBarred) {
  view_.standings[0].barred_until = kStep + 2;
  Next(7);
  EXPECT_TRUE(view_.candidates.empty());
  Next(7);
  Next(7);
  EXPECT_EQ(view_.candidates.size(), 1u);
  EXPECT_EQ(view_.candidates[0].since, kStep + 2);
  Next(7, Banned({3}));
  EXPECT_TRUE(view_.candidates.empty());
  for (int i = 0; i < 6; ++i) Next(7);
  EXPECT_FALSE(IsBack());
}

TEST_F(ReturnTest, WhoIsRemovedIsNotAdmittedInThatBlock) {
  const std::uint64_t step = view_.step + 1;
  SealedStep sealed;
  sealed.step = step;
  for (const PeerId& member : view_.members) sealed.proofs[member].joins = {PeerNumber(5)};
  SealedFaults faults;
  NoteFault(faults, PeerNumber(5), FaultKind::kDrop, "absent");
  const Block block = JudgeStep(sealed, view_, manifest_, {{}, {}, {}, faults});
  EXPECT_FALSE(IsMember(block.members, PeerNumber(5)));
  EXPECT_TRUE(block.candidates.empty()) << "it was a member when they spoke";
}

TEST_F(ReturnTest, NamingOneTwiceIsOneVoice) {
  SealedStep sealed;
  sealed.step = kStep;
  for (const std::uint32_t member : {0u, 1u}) {
    sealed.proofs[PeerNumber(member)].joins = {PeerNumber(3), PeerNumber(3)};
  }
  EXPECT_TRUE(ReturnsAfter(sealed, view_, manifest_, {}).candidates.empty());
}

}  // namespace
}  // namespace ostraka::protocol
