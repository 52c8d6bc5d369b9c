// What a removal costs, and the way back.
#include "node/protocol/rules/standing.h"

#include <gtest/gtest.h>

#include "node/protocol/rules/coming.h"
#include "node/protocol/rules/judgement.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::standing_test {
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
    view_.standings = StandingsAfter(view_, {{{PeerNumber(3), fault}}}, {}, {{}, {}}, step);
    return *StandingOf(view_.standings, PeerNumber(3));
  }
  void Leaves(std::uint32_t number, std::uint64_t step) {
    view_.standings = StandingsAfter(view_, {{}}, {PeerNumber(number)}, {{}, {}}, step);
  }
  void IsAdmitted(std::uint32_t number, bool came, std::uint64_t step) {
    const std::vector<PeerId> joined = {PeerNumber(number)};
    view_.standings =
        StandingsAfter(view_, {{}}, {}, {joined, came ? joined : std::vector<PeerId>()}, step);
  }
  const Standing& Of(std::uint32_t number) const {
    return *StandingOf(view_.standings, PeerNumber(number));
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
  const auto standings =
      StandingsAfter(view_, {{{PeerNumber(7), FaultKind::kDrop}, {PeerNumber(1), FaultKind::kBan}}},
                     {}, {{}, {}}, kStep);
  ASSERT_EQ(standings.size(), 3u);
  EXPECT_EQ(standings[0].peer, PeerNumber(1));
  EXPECT_TRUE(standings[1].banned);
  EXPECT_EQ(standings[2].peer, PeerNumber(7));
  EXPECT_EQ(StandingOf(standings, PeerNumber(2)), nullptr);
}

TEST_F(StandingTest, LeavingCostsNothing) {
  Leaves(2, 10);
  EXPECT_EQ(Of(2).left_step, 10u);
  std::erase(view_.members, PeerNumber(2));
  EXPECT_TRUE(MayReturn(view_, PeerNumber(2), 11));
}

// Attack: keys that take turns in coming and going.
TEST_F(StandingTest, LeavingSoonAfterAReturnBars) {
  Leaves(2, 10);
  IsAdmitted(2, false, 20);
  EXPECT_EQ(Of(2).returned_step, 20u);
  EXPECT_EQ(Of(2).came_step, 0u);
  Leaves(2, 1019);
  EXPECT_EQ(Of(2).barred_until, 2019u);
  EXPECT_EQ(Of(2).drops, 1u);
  IsAdmitted(2, false, 2020);
  Leaves(2, 3020);
  EXPECT_EQ(Of(2).drops, 1u) << "1000 steps after";
}

TEST_F(StandingTest, TheFirstAdmissionOfANewKeyIsNoReturn) {
  IsAdmitted(9, true, 20);
  EXPECT_EQ(Of(9).peer, PeerNumber(9));
  EXPECT_EQ(Of(9).came_step, 20u);
  EXPECT_EQ(Of(9).returned_step, 0u);
  Leaves(9, 30);
  EXPECT_EQ(Of(9).drops, 0u);
  IsAdmitted(9, true, 200);
  EXPECT_EQ(Of(9).came_step, 200u);
  EXPECT_EQ(Of(9).returned_step, 200u) << "it came like a new one, and is known";
  Leaves(9, 300);
  EXPECT_EQ(Of(9).barred_until, 1300u);
}

// For 1000 steps after it may return: who left no shorter than who was killed.
TEST_F(StandingTest, HowLongASeatIsKept) {
  const Standing left = {.peer = PeerNumber(1), .left_step = 50};
  EXPECT_TRUE(KeepsSeat(left, 1049));
  EXPECT_FALSE(KeepsSeat(left, 1050));
  const Standing dropped = {.peer = PeerNumber(1), .drops = 1, .last_drop_step = 50};
  EXPECT_TRUE(KeepsSeat(dropped, 1049));
  EXPECT_FALSE(KeepsSeat(dropped, 1050));
  const Standing barred = {
      .peer = PeerNumber(1), .drops = 2, .last_drop_step = 50, .barred_until = 1050};
  EXPECT_TRUE(KeepsSeat(barred, 2049));
  EXPECT_FALSE(KeepsSeat(barred, 2050));
  // Its departure counted as a drop.
  const Standing turned = {.peer = PeerNumber(1),
                           .drops = 1,
                           .last_drop_step = 50,
                           .barred_until = 1050,
                           .left_step = 50};
  EXPECT_TRUE(KeepsSeat(turned, 2049));
  EXPECT_FALSE(KeepsSeat(turned, 2050));
  // Its drop is older than its departure.
  const Standing later = {.peer = PeerNumber(1), .drops = 1, .last_drop_step = 40, .left_step = 50};
  EXPECT_TRUE(KeepsSeat(later, 1049));
  EXPECT_FALSE(KeepsSeat(later, 1050));
}

TEST_F(StandingTest, WhoseSeatIsNotKeptMayNotReturn) {
  std::erase(view_.members, PeerNumber(1));
  view_.standings = {{.peer = PeerNumber(1), .left_step = 50}};
  EXPECT_TRUE(MayReturn(view_, PeerNumber(1), 1049));
  EXPECT_FALSE(MayReturn(view_, PeerNumber(1), 1050));
}

TEST_F(StandingTest, ARemovedKeyThatIsNeitherBannedNorBarredMayReturn) {
  for (const std::uint32_t gone : {1u, 2u, 3u}) std::erase(view_.members, PeerNumber(gone));
  view_.standings = {{PeerNumber(1), true, 0, 0, 0},
                     {PeerNumber(2), false, 2, 10, kStep},
                     {PeerNumber(3), false, 1, 40, 0},
                     {PeerNumber(4), false, 1, 5, 0}};
  EXPECT_FALSE(MayReturn(view_, PeerNumber(1), kStep)) << "banned";
  EXPECT_FALSE(MayReturn(view_, PeerNumber(2), kStep - 1)) << "barred";
  EXPECT_TRUE(MayReturn(view_, PeerNumber(2), kStep));
  EXPECT_TRUE(MayReturn(view_, PeerNumber(3), kStep));
  EXPECT_FALSE(MayReturn(view_, PeerNumber(4), kStep)) << "a member";
  EXPECT_FALSE(MayReturn(view_, PeerNumber(8), kStep)) << "never was one";
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
  NoteFault(faults, PeerNumber(5), FaultKind::kDrop, {.cause = wire::Cause::kAbsent});
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
  EXPECT_TRUE(AdmissionsAfter(sealed, view_, manifest_, {}).candidates.empty());
}

}  // namespace
}  // namespace ostraka::protocol::standing_test
