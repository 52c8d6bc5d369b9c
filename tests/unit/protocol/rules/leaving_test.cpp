// Members that go by their own word, and what keeps them.
#include "node/protocol/rules/leaving.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/unit/protocol/rules/cases_fixture.h"

namespace ostraka::protocol::leaving_test {
namespace {

using scene::DigestOf;
using scene::HonestStep;
using scene::MakeHonestStep;
using scene::ManifestOf;
using scene::NumbersOfPeers;
using scene::PeerNumber;
using scene::PeersUpTo;
using scene::RecordHonestStep;
using scene::ViewBefore;
using wire::CaseKind;

// A step in which the head's `leaving` hold no role.
HonestStep StepOfLeavers(const std::vector<std::uint32_t>& leaving, std::uint32_t n = 8) {
  HonestStep step = StepWith({}, {}, n);
  for (const std::uint32_t number : leaving) step.head.leaving.push_back(PeerNumber(number));
  const std::size_t stay = n - leaving.size();
  if (!leaving.empty()) step.head.t_s_in_role = ThresholdsIn(step.manifest, stay).t_s;
  return step;
}

TEST(LeavingTest, AFlagInACommitCountsForTheNextStep) {
  HonestStep step = StepOfLeavers({});
  step.sealed.commits.at(PeerNumber(2)).leaving = true;
  const Block block = step.Judge();
  EXPECT_EQ(NumbersOfPeers(block.leaving), std::vector<int>{2});
  EXPECT_TRUE(block.left.empty());
  EXPECT_EQ(block.members, PeersUpTo(8)) << "it still seals";
  EXPECT_EQ(block.t_s_in_role, 2u);
  EXPECT_FALSE(IsMember(InRole(block), PeerNumber(2)));
}

TEST(LeavingTest, GoesWithTheNextBlockIfNothingConcernsIt) {
  const Block block = StepOfLeavers({2}).Judge();
  EXPECT_EQ(NumbersOfPeers(block.left), std::vector<int>{2});
  EXPECT_TRUE(block.leaving.empty());
  EXPECT_FALSE(IsMember(block.members, PeerNumber(2)));
  EXPECT_EQ(block.thresholds, (Thresholds{7, 2, 1}));
  EXPECT_EQ(block.t_s_in_role, 0u);
  EXPECT_TRUE(block.removals.empty());
  EXPECT_EQ(block.last_removal_step, std::nullopt) << "it prolongs no run";
  ASSERT_EQ(block.standings.size(), 1u);
  EXPECT_EQ(block.standings[0].left_step, kStep);
}

TEST(LeavingTest, ADropComesFirst) {
  HonestStep step = StepOfLeavers({2});
  const Block block = step.Judge({{PeerNumber(2), {FaultKind::kDrop, {.old_text = "silent"}}}});
  EXPECT_TRUE(block.left.empty());
  EXPECT_TRUE(block.leaving.empty());
  ASSERT_EQ(block.removals.size(), 1u);
}

TEST(LeavingTest, SayingItOnceMoreChangesNothing) {
  HonestStep step = StepOfLeavers({2});
  step.sealed.commits.at(PeerNumber(2)).leaving = true;
  EXPECT_EQ(NumbersOfPeers(step.Judge().left), std::vector<int>{2});
}

// --- what keeps a member -------------------------------------------------------------------------

// Attack: it falsifies its numbers, or accuses, in the step in which it says that it leaves.
TEST(LeavingTest, APartyOfACaseStays) {
  for (const CaseKind kind : {CaseKind::kGradient, CaseKind::kNumbers}) {
    for (const std::uint32_t leaver : {4u, 6u}) {
      HonestStep step = StepOfLeavers({leaver});
      step.head.cases = {CaseOf(kind, 4, 6, 0)};
      const Block block = step.Judge();
      EXPECT_EQ(block.cases.size(), 1u);
      EXPECT_EQ(NumbersOfPeers(block.leaving), std::vector<int>{static_cast<int>(leaver)});
      EXPECT_TRUE(block.left.empty());
    }
  }
}

TEST(LeavingTest, WhoHasToShowAPartStays) {
  HonestStep step = StepOfLeavers({3, 4});
  step.head.cases = {CaseOf(CaseKind::kCover, 4, 3, 3)};
  const Block block = step.Judge();
  EXPECT_EQ(NumbersOfPeers(block.leaving), std::vector<int>{3});
  EXPECT_EQ(NumbersOfPeers(block.left), std::vector<int>{4}) << "a convicted worker is no party";
}

TEST(LeavingTest, WhoMayHaveToShowAPartStays) {
  HonestStep step = StepOfLeavers({1});
  step.head.cases = {CaseOf(4, 6)};
  step.head.cases[0].covering = kCovering;
  EXPECT_EQ(NumbersOfPeers(step.Judge().leaving), std::vector<int>{1});
  step.head.cases[0].covering = {{3, PeerNumber(3)}};
  EXPECT_EQ(NumbersOfPeers(step.Judge().left), std::vector<int>{1});
}

// The validators that this block draws will accuse in the next step: their targets' aggregators
// stay until then, and in the next block they go if nobody was accused.
TEST(LeavingTest, WhoAggregatedTheTargetOfADrawnValidatorStays) {
  HonestStep step = StepOfLeavers({});
  RecordHonestStep(step.head);
  step.head.leaving = {PeerNumber(1)};
  step.head.t_s_in_role = 2;
  const Block block = step.Judge();
  ASSERT_EQ(block.drawn.size(), 1u);
  const bool owns = std::any_of(block.drawn[0].covering.begin(), block.drawn[0].covering.end(),
                                [](const auto& one) { return one.owner == PeerNumber(1); });
  EXPECT_TRUE(owns) << "this coin draws its own worker: choose another";
  EXPECT_EQ(NumbersOfPeers(block.leaving), std::vector<int>{1});
}

TEST(LeavingTest, WhoOwesANameStays) {
  HonestStep step = StepOfLeavers({2});
  const std::uint32_t column = *step.sealed.roles.PartOwnedBy(PeerNumber(2));
  for (auto& [peer, proof] : step.sealed.proofs) {
    for (double& s : proof.columns[column].s) s = 0.01;  // V2
  }
  const Block block = step.Judge();
  ASSERT_EQ(NumbersOfPeers(block.owing), std::vector<int>{2});
  EXPECT_EQ(NumbersOfPeers(block.leaving), std::vector<int>{2});
}

TEST(LeavingTest, ThreeStay) {
  const Block block = StepOfLeavers({0, 1, 2, 3}, 5).Judge();
  EXPECT_EQ(NumbersOfPeers(block.left), (std::vector<int>{0, 1}));
  EXPECT_EQ(NumbersOfPeers(block.leaving), (std::vector<int>{2, 3}));
  EXPECT_EQ(block.members.size(), 3u);
}

TEST(LeavingTest, NobodyGoesInAClosingStep) {
  HonestStep step = StepOfLeavers({2});
  step.head.closing = 1;
  EXPECT_EQ(NumbersOfPeers(step.Judge().leaving), std::vector<int>{2});
}

// --- who is listed -------------------------------------------------------------------------------

// A run that bears a fault goes on bearing one, and can spare a validator: the others stay pending.
TEST(LeavingTest, AsManyAreListedAsTheRunCanDoWithout) {
  HonestStep step = StepOfLeavers({}, 6);
  for (auto& [member, commit] : step.sealed.commits) commit.leaving = true;
  EXPECT_EQ(NumbersOfPeers(step.Judge().leaving), (std::vector<int>{0, 1})) << "four bear a fault";
  step = StepOfLeavers({}, 4);
  step.sealed.commits.at(PeerNumber(0)).leaving = true;
  EXPECT_TRUE(step.Judge().leaving.empty());
}

TEST(LeavingTest, EnoughMustBeDialedToOwnColumns) {
  HonestStep step = StepOfLeavers({}, 8);
  step.manifest.members[7].only_dials = true;
  for (const std::uint32_t dialer : {4u, 5u, 6u, 7u}) {
    step.head.reach.push_back({PeerNumber(dialer), true, 0});
  }
  step.sealed.commits.at(PeerNumber(1)).leaving = true;
  step.sealed.commits.at(PeerNumber(5)).leaving = true;
  EXPECT_EQ(NumbersOfPeers(step.Judge().leaving), std::vector<int>{5});
}

TEST(LeavingTest, OneThatIsPendingMaySayItAgain) {
  HonestStep step = StepOfLeavers({}, 5);
  for (const std::uint32_t number : {1u, 3u}) {
    step.sealed.commits.at(PeerNumber(number)).leaving = true;
  }
  EXPECT_EQ(NumbersOfPeers(step.Judge().leaving), std::vector<int>{1});
}

// A member that is a block behind believes a head that F + 1 members of its own view attest to.
TEST(LeavingTest, InOneBlockAsManyGoAsLeaveEnoughToAttest) {
  const HonestStep step = StepOfLeavers({0, 1, 2, 3}, 9);  // F = 3
  EXPECT_EQ(NumbersOfPeers(step.Judge().left), (std::vector<int>{0, 1}));
}

// --- what it does to the others ------------------------------------------------------------------

// A head after which these leave, these are admitted, and these are in pairs of a case.
struct Traffic {
  std::uint32_t n;
  std::uint32_t leave;
  std::uint32_t join;
  std::uint32_t pairs;
  std::uint32_t validators;
};

// Whether the workers of such a step are enough for the column rule. The pairs begin with the
// leavers, one each.
bool AreEnough(const Traffic& traffic, Mode mode) {
  const Manifest manifest = ManifestOf(traffic.n, mode);
  Block before = ViewBefore(manifest, 5);
  for (std::uint32_t i = 0; i < traffic.pairs; ++i) {
    before.cases.push_back(CaseOf(i, traffic.n - 1 - i));
  }
  const Block view = HeadOfTheDraw(before, PeersUpTo(traffic.leave), manifest);
  Block head = view;
  head.drawn = DrawValidators(DigestOf(1), view, before.members, 7, traffic.validators);
  for (std::uint32_t i = 0; i < traffic.join; ++i) {
    head.joined.push_back(PeerNumber(traffic.n + i));
    head.members.push_back(PeerNumber(traffic.n + i));
  }
  head.thresholds = ThresholdsIn(manifest, head.members.size());
  head.t_s_in_role = ThresholdsIn(manifest, MembersInView(head)).t_s;
  const std::uint32_t b = FaultsAmongWorkers(head, 0);
  // Where t_a is the floor of b, pairs alone may leave too few, whoever leaves.
  if (b == std::min(head.thresholds.t_a, head.t_s_in_role) && traffic.pairs > 0) return true;
  const Roles roles = AssignRoles(head, 1000);
  return roles.owners.empty() || roles.workers.size() >= 2 * b + 1;
}

TEST(LeavingTest, ComingAndGoingVoidNoColumnByArithmetic) {
  for (const Mode mode : {Mode::kMajority, Mode::kBalanced, Mode::kThird}) {
    for (std::uint32_t n = 4; n <= 33; ++n) {
      for (std::uint32_t leave = 0; leave + 4 <= n && leave <= 5; ++leave) {
        for (std::uint32_t join = 0; join <= 2; ++join) {
          for (std::uint32_t pairs = 0; 2 * pairs + leave + 4 <= n && pairs <= 3; ++pairs) {
            for (const std::uint32_t m : {1u, 2u, 4u}) {
              EXPECT_TRUE(AreEnough({n, leave, join, pairs, m}, mode))
                  << ModeName(mode) << " " << n << ": " << leave << " leave, " << join << " join, "
                  << pairs << " pairs, " << m << " validators";
            }
          }
        }
      }
    }
  }
}

// n' counts a leaver that is in a pair: in the view without the other leavers the pair holds a
// fault, whichever of the two it is.
TEST(LeavingTest, APairOfALeaverCountsAsAnyOther) {
  Block head = ViewBefore(ManifestOf(8), 5);
  head.cases = {CaseOf(0, 1)};
  EXPECT_EQ(FaultsAmongWorkers(head, 0), 2u);
  head.leaving = {PeerNumber(1)};
  EXPECT_EQ(MembersInView(head), 8u);
  head.t_s_in_role = 3;
  EXPECT_EQ(FaultsAmongWorkers(head, 0), 2u);
  head.leaving = {PeerNumber(7)};
  EXPECT_EQ(MembersInView(head), 7u);
  head.t_s_in_role = 2;
  EXPECT_EQ(FaultsAmongWorkers(head, 0), 1u);
}

// Its last gradient is judged as any other: a validator may be drawn for it, and looks at it.
TEST(LeavingTest, ALeaverMayBeTheTargetOfAValidator) {
  Block head = ViewBefore(ManifestOf(8), 5);
  head.leaving = {PeerNumber(1)};
  EXPECT_TRUE(MayBeTarget(head, PeerNumber(1)));
  head.cases = {CaseOf(0, 1)};
  EXPECT_FALSE(MayBeTarget(head, PeerNumber(1)));
}

TEST(LeavingTest, TheTargetOfADrawnValidatorStays) {
  HonestStep step = StepOfLeavers({});
  RecordHonestStep(step.head);
  const Block block = step.Judge();
  ASSERT_EQ(block.drawn.size(), 1u);
  Block drawn = block;
  drawn.drawn[0].covering.clear();
  step.head.leaving = {block.drawn[0].target};
  const Docket docket(step.head.members, {});
  EXPECT_TRUE(GoingWith(drawn, step.head, step.head.leaving, docket).empty());
  drawn.drawn.clear();
  EXPECT_EQ(GoingWith(drawn, step.head, step.head.leaving, docket), step.head.leaving);
}

// A flag is fixed before the coin, so the draw for the next step leaves its sender out already.
TEST(LeavingTest, WhoSaysSoIsDrawnNoMore) {
  HonestStep step = StepOfLeavers({});
  RecordHonestStep(step.head);
  const PeerId drawn = step.Judge().drawn[0].validator;
  step.sealed.commits.at(drawn).leaving = true;
  const Block block = step.Judge();
  for (const Assignment& other : block.drawn) EXPECT_NE(other.validator, drawn);
}

// Attack: whoever leaves when it knows the coin would choose among the orders of the owners. The
// flag is older than the coin, and takes nobody else's place.
TEST(LeavingTest, MovesNoOtherOwner) {
  Block head = ViewBefore(ManifestOf(8), 5);
  head.randomness = DigestOf(77);
  const std::vector<PeerId> all = AssignRoles(head, 1000).owners;
  for (std::uint32_t leaver = 0; leaver < 8; ++leaver) {
    head.leaving = {PeerNumber(leaver)};
    std::vector<PeerId> expected = all;
    std::erase(expected, PeerNumber(leaver));
    EXPECT_EQ(AssignRoles(head, 1000).owners, expected);
  }
}

TEST(LeavingTest, EndsItsDisputes) {
  HonestStep step = StepOfLeavers({2});
  step.head.disputes = {{PeerNumber(1), PeerNumber(2), 10}, {PeerNumber(3), PeerNumber(4), 10}};
  const Block block = step.Judge();
  ASSERT_EQ(block.disputes.size(), 1u);
  EXPECT_EQ(block.disputes[0].worker, PeerNumber(3));
}

}  // namespace
}  // namespace ostraka::protocol::leaving_test
