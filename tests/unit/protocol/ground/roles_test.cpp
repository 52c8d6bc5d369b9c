#include "node/protocol/ground/roles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::roles_test {
namespace {

using scene::DigestOf;
using scene::ManifestOf;
using scene::PeerNumber;
using scene::PeersUpTo;
using scene::ViewBefore;

wire::Case CaseOf(std::uint32_t accuser, std::uint32_t target) {
  return scene::GradientCase(accuser, target, 3, 5);
}

wire::Case CaseOf(wire::CaseKind kind, std::uint32_t accuser, std::uint32_t target) {
  wire::Case open = CaseOf(accuser, target);
  open.id.kind = kind;
  return open;
}

Roles RolesWith(Block head, std::vector<Assignment> drawn, std::uint64_t dimension = 100) {
  head.drawn = std::move(drawn);
  return AssignRoles(head, dimension);
}

std::vector<Assignment> Draw(const Block& head, std::uint32_t m, std::uint64_t coin = 1) {
  return DrawValidators(DigestOf(coin), head, head.members, head.step + 2, m);
}

// --- who is in role ------------------------------------------------------------------------------

TEST(InRoleTest, LeavesOutBothPartiesOfEveryOpenCase) {
  Block head = ViewBefore(ManifestOf(6), 5);
  EXPECT_EQ(InRole(head), PeersUpTo(6));
  head.cases = {CaseOf(4, 1), CaseOf(0, 5)};
  EXPECT_EQ(InRole(head), (std::vector<PeerId>{PeerNumber(2), PeerNumber(3)}));
}

class QuarantineTest : public testing::Test {
 protected:
  QuarantineTest() : view_(ViewBefore(ManifestOf(8), 5)) {}
  void Open(wire::CaseKind kind, std::uint32_t accuser, std::uint32_t target) {
    view_.cases.push_back(CaseOf(kind, accuser, target));
  }
  std::vector<std::pair<int, int>> Pairs() const {
    std::vector<std::pair<int, int>> pairs;
    for (const auto& [accuser, target] : QuarantinedPairs(view_)) {
      pairs.emplace_back(accuser.bytes[7], target.bytes[7]);
    }
    return pairs;
  }
  using Pairing = std::vector<std::pair<int, int>>;
  Block view_;
};

TEST_F(QuarantineTest, OneNamerOfALiarWhomAllName) {
  for (std::uint32_t namer = 1; namer < 8; ++namer) Open(wire::CaseKind::kNumbers, namer, 0);
  EXPECT_EQ(Pairs(), (Pairing{{1, 0}}));
  EXPECT_EQ(InRole(view_).size(), 6u);
}

TEST_F(QuarantineTest, OneOfThoseWhomANamerNames) {
  for (std::uint32_t target = 1; target < 8; ++target) Open(wire::CaseKind::kNumbers, 0, target);
  EXPECT_EQ(Pairs(), (Pairing{{0, 1}}));
}

TEST_F(QuarantineTest, TheOldestNamingStandsAndALaterOneCannotFreeItsTarget) {
  Open(wire::CaseKind::kNumbers, 5, 6);
  Open(wire::CaseKind::kNumbers, 0, 5);
  Open(wire::CaseKind::kNumbers, 1, 2);
  EXPECT_EQ(Pairs(), (Pairing{{5, 6}, {1, 2}}));
}

TEST_F(QuarantineTest, AnAccusationComesFirst) {
  Open(wire::CaseKind::kNumbers, 5, 6);
  Open(wire::CaseKind::kGradient, 4, 6);
  EXPECT_EQ(Pairs(), (Pairing{{4, 6}}));
  EXPECT_TRUE(IsMember(InRole(view_), PeerNumber(5)));
}

TEST_F(QuarantineTest, CoveringPutsNobodyOutOfRole) {
  Open(wire::CaseKind::kCover, 5, 6);
  EXPECT_TRUE(Pairs().empty());
  EXPECT_EQ(FaultsAmongWorkers(view_, 0), 3u);
}

// b counts a pair once, however many cases name its two.
TEST_F(QuarantineTest, OnlyDisjointPairsLowerB) {
  Open(wire::CaseKind::kNumbers, 0, 1);
  Open(wire::CaseKind::kNumbers, 2, 1);
  Open(wire::CaseKind::kNumbers, 0, 3);
  EXPECT_EQ(FaultsAmongWorkers(view_, 0), 2u);
}

// --- faults that an aggregation must bear --------------------------------------------------------

TEST(FaultsAmongWorkersTest, IsTheFaultsLeftAfterThoseThatAreKnown) {
  for (const Mode mode : {Mode::kMajority, Mode::kBalanced, Mode::kThird}) {
    for (std::uint32_t n = 2; n <= 24; ++n) {
      for (std::uint32_t pairs = 0; 2 * pairs <= n; ++pairs) {
        for (std::uint32_t known = 0; known <= n; ++known) {
          Block head = ViewBefore(ManifestOf(n, mode), 5);
          for (std::uint32_t i = 0; i < pairs; ++i) head.cases.push_back(CaseOf(2 * i, 2 * i + 1));
          std::uint32_t left = head.thresholds.t_s;
          for (std::uint32_t i = 0; i < pairs + known && left > 0; ++i) --left;
          EXPECT_EQ(FaultsAmongWorkers(head, known), std::max(left, head.thresholds.t_a))
              << n << " " << pairs << " " << known;
        }
      }
    }
  }
}

// --- the draw of validators ----------------------------------------------------------------------

TEST(DrawValidatorsTest, DrawsNoneBeforeStepTwo) {
  const Block head = ViewBefore(ManifestOf(8), 5);
  for (const std::uint64_t step : {0, 1}) {
    EXPECT_TRUE(DrawValidators(DigestOf(1), head, head.members, step, 1).empty());
  }
  EXPECT_EQ(DrawValidators(DigestOf(1), head, head.members, 2, 1).size(), 1u);
}

TEST(DrawValidatorsTest, AnAlarmDrawsMoreAndThoseThatCannotBeSparedWork) {
  Block head = ViewBefore(ManifestOf(16), 5);  // majority: one can be spared
  const std::uint64_t next = head.step + 2;
  const auto drawn_of = [&](std::uint32_t alarm) {
    return DrawValidators(DigestOf(1), head, head.members, next, 1, alarm);
  };
  EXPECT_EQ(drawn_of(4).size(), 1u) << "it does not ring";
  head.alarm_until = next;
  EXPECT_EQ(drawn_of(4).size(), 1u) << "nor any more";
  head.alarm_until = next + 1;
  const std::vector<Assignment> drawn = drawn_of(4);
  ASSERT_EQ(drawn.size(), 4u);
  for (std::size_t i = 0; i < drawn.size(); ++i) EXPECT_EQ(drawn[i].works, i > 0) << i;
  EXPECT_EQ(drawn_of(0).size(), 1u);
  EXPECT_EQ(drawn_of(1000).size(), 8u) << "half of those in role";
  std::set<PeerId> all;
  for (const Assignment& each : drawn) all.insert({each.validator, each.target});
  EXPECT_EQ(all.size(), 8u) << "nobody twice";
}

TEST(AssignRolesTest, WhoWorksAndValidatesIsBoth) {
  const Block head = ViewBefore(ManifestOf(8), 5);
  const Roles roles = RolesWith(
      head, {{PeerNumber(1), PeerNumber(2), 4, {}}, {PeerNumber(3), PeerNumber(4), 4, {}, true}});
  EXPECT_EQ(roles.validators.size(), 2u);
  EXPECT_FALSE(roles.IsWorker(PeerNumber(1)));
  EXPECT_TRUE(roles.IsWorker(PeerNumber(3)));
  EXPECT_TRUE(roles.AssignmentOf(PeerNumber(3))->works);
  EXPECT_EQ(roles.owners.size(), 7u);
  EXPECT_TRUE(roles.PartOwnedBy(PeerNumber(3)));
}

TEST(DefaultAlarmTest, IsAQuarterFromSixteenMembersOn) {
  EXPECT_EQ(DefaultAlarm(15), 0u);
  EXPECT_EQ(DefaultAlarm(16), 4u);
  EXPECT_EQ(DefaultAlarm(17), 5u);
  EXPECT_EQ(DefaultAlarm(256), 64u);
}

TEST(DrawValidatorsTest, CountIsMinOfMAndWhatTheAggregationCanSpare) {
  for (const Mode mode : {Mode::kMajority, Mode::kBalanced, Mode::kThird}) {
    for (std::uint32_t n = 2; n <= 24; ++n) {
      for (std::uint32_t pairs = 0; 2 * pairs <= n; ++pairs) {
        for (const std::uint32_t m : {0u, 1u, 2u, 5u, 100u}) {
          Block head = ViewBefore(ManifestOf(n, mode), 5);
          for (std::uint32_t i = 0; i < pairs; ++i) head.cases.push_back(CaseOf(2 * i, 2 * i + 1));
          const int in_role = static_cast<int>(n) - 2 * static_cast<int>(pairs);
          const int b = static_cast<int>(FaultsAmongWorkers(head, 0));
          // docs/protocol/checks.md, and never more pairs than there are members to make them of.
          int expected = std::min({static_cast<int>(m), in_role - 2 * b - 1, in_role - 3});
          expected = std::max(expected, 0);
          expected = std::min(expected, in_role - expected);
          EXPECT_EQ(static_cast<int>(Draw(head, m).size()), expected) << n << " " << pairs;
        }
      }
    }
  }
}

TEST(DrawValidatorsTest, EightAndSixteenMembersSpareOne) {
  EXPECT_EQ(Draw(ViewBefore(ManifestOf(8), 5), 3).size(), 1u);
  EXPECT_EQ(Draw(ViewBefore(ManifestOf(16), 5), 3).size(), 1u);
  EXPECT_EQ(Draw(ViewBefore(ManifestOf(16, Mode::kThird), 5), 3).size(), 3u);
}

TEST(DrawValidatorsTest, AllAreDistinctAndInRoleAndAboutTheStepBeforeLast) {
  for (std::uint64_t coin = 0; coin < 200; ++coin) {
    Block head = ViewBefore(ManifestOf(16, Mode::kThird), 9);
    head.cases = {CaseOf(2, 7)};
    const auto drawn = Draw(head, 4, coin);
    ASSERT_EQ(drawn.size(), 3u);
    std::set<PeerId> seen;
    for (const Assignment& assignment : drawn) {
      EXPECT_EQ(assignment.step, head.step);
      for (const PeerId& peer : {assignment.validator, assignment.target}) {
        EXPECT_TRUE(seen.insert(peer).second) << "drawn twice";
        EXPECT_TRUE(IsMember(InRole(head), peer));
      }
    }
  }
}

// A worker whose PROOF was not sealed stated nothing that could be compared.
TEST(DrawValidatorsTest, TargetsAreProvenWorkersOnly) {
  const Block head = ViewBefore(ManifestOf(16, Mode::kThird), 9);
  const std::vector<PeerId> proven = {PeerNumber(3), PeerNumber(8)};
  for (std::uint64_t coin = 0; coin < 200; ++coin) {
    const auto drawn = DrawValidators(DigestOf(coin), head, proven, 10, 4);
    EXPECT_LE(drawn.size(), proven.size());
    for (const Assignment& assignment : drawn) EXPECT_TRUE(IsMember(proven, assignment.target));
  }
  EXPECT_TRUE(DrawValidators(DigestOf(1), head, {}, 10, 4).empty());
}

// A worker that leaves after its PROOF was sealed is still a target; a banned one is not.
TEST(DrawValidatorsTest, TargetsMayHaveLeft) {
  Block head = ViewBefore(ManifestOf(16, Mode::kThird), 9);
  const std::vector<PeerId> proven = head.members;
  std::erase(head.members, PeerNumber(3));
  const auto ever_drawn = [&] {
    for (std::uint64_t coin = 0; coin < 200; ++coin) {
      for (const Assignment& drawn : DrawValidators(DigestOf(coin), head, proven, 10, 1)) {
        EXPECT_NE(drawn.validator, PeerNumber(3));
        if (drawn.target == PeerNumber(3)) return true;
      }
    }
    return false;
  };
  EXPECT_TRUE(ever_drawn());
  head.standings = {{.peer = PeerNumber(3), .banned = true}};
  EXPECT_FALSE(ever_drawn());
}

TEST(DrawValidatorsTest, EveryMemberComesToValidateAndToBeValidated) {
  const Block head = ViewBefore(ManifestOf(8), 5);
  std::map<PeerId, int> validated;
  std::map<PeerId, int> validator;
  constexpr int kDraws = 1600;
  for (std::uint64_t coin = 0; coin < kDraws; ++coin) {
    for (const Assignment& assignment : Draw(head, 1, coin)) {
      ++validated[assignment.target];
      ++validator[assignment.validator];
    }
  }
  for (const PeerId& peer : head.members) {  // 200 expected, deviation 13
    EXPECT_NEAR(validated[peer], kDraws / 8, 70);
    EXPECT_NEAR(validator[peer], kDraws / 8, 70);
  }
}

// Every peer must draw alike for ever: a change here is a new protocol version. These values, and
// the other golden ones of this folder, were computed by an independent program.
TEST(DrawValidatorsTest, IsGoldenForAFixedCoin) {
  const Block head = ViewBefore(ManifestOf(16, Mode::kThird), 9);
  std::vector<std::pair<int, int>> pairs;
  for (const Assignment& assignment : Draw(head, 4, 77)) {
    pairs.emplace_back(assignment.validator.bytes[7], assignment.target.bytes[7]);
  }
  EXPECT_EQ(pairs, (std::vector<std::pair<int, int>>{{1, 10}, {13, 0}, {3, 4}, {12, 9}}));
}

// --- roles ---------------------------------------------------------------------------------------

TEST(AssignRolesTest, EveryMemberInRoleWorksOrValidates) {
  const Block head = ViewBefore(ManifestOf(8), 5);
  const std::vector<Assignment> drawn = {{PeerNumber(2), PeerNumber(5), 3, {}}};
  const Roles roles = RolesWith(head, drawn, 1000);
  ASSERT_EQ(roles.validators.size(), 1u);
  EXPECT_FALSE(roles.IsWorker(PeerNumber(2)));
  EXPECT_EQ(roles.AssignmentOf(PeerNumber(2))->target, PeerNumber(5));
  EXPECT_FALSE(roles.AssignmentOf(PeerNumber(5)));
  std::vector<PeerId> expected = PeersUpTo(8);
  expected.erase(expected.begin() + 2);
  EXPECT_EQ(roles.workers, expected);
}

TEST(AssignRolesTest, PartsCoverTheDimensionAndEveryWorkerOwnsOne) {
  for (std::uint32_t n = 3; n <= 20; ++n) {
    const Block head = ViewBefore(ManifestOf(n), 5);
    const Roles roles = AssignRoles(head, 1003);
    ASSERT_EQ(roles.parts.size(), n);
    std::uint64_t next = 0;
    for (const PartRange& part : roles.parts) {
      EXPECT_EQ(part.begin, next);
      next = part.end;
    }
    EXPECT_EQ(next, 1003u);
    std::vector<PeerId> owners = roles.owners;
    std::sort(owners.begin(), owners.end());
    EXPECT_EQ(owners, roles.workers);
    for (std::uint32_t j = 0; j < n; ++j) EXPECT_EQ(roles.PartOwnedBy(roles.owners[j]), j);
    EXPECT_FALSE(roles.PartOwnedBy(PeerNumber(n)));
  }
}

TEST(AssignRolesTest, OwnersChangeWithTheCoin) {
  Block head = ViewBefore(ManifestOf(8), 5);
  const Roles first = AssignRoles(head, 100);
  EXPECT_EQ(AssignRoles(head, 100).owners, first.owners);
  head.randomness = DigestOf(1);
  EXPECT_NE(AssignRoles(head, 100).owners, first.owners);
}

// --- members that only dial ----------------------------------------------------------------------

Block HeadWithDialers(std::uint32_t n, const std::vector<std::uint32_t>& dialers) {
  Block head = ViewBefore(ManifestOf(n), 5);
  for (const std::uint32_t number : dialers) head.reach.push_back({PeerNumber(number), true, 0});
  return head;
}

TEST(AssignRolesTest, WhoOnlyDialsWorksAndOwnsNothing) {
  const Block head = HeadWithDialers(8, {1, 4, 6});
  const Roles roles = AssignRoles(head, 1000);
  EXPECT_EQ(roles.workers, PeersUpTo(8));
  ASSERT_EQ(roles.owners.size(), 5u);
  ASSERT_EQ(roles.parts.size(), 5u);
  for (const std::uint32_t number : {1u, 4u, 6u}) {
    EXPECT_TRUE(roles.IsWorker(PeerNumber(number)));
    EXPECT_FALSE(roles.PartOwnedBy(PeerNumber(number)));
  }
}

// The place of an owner among the others depends on the coin alone: who leaves, validates or only
// dials draws nothing anew.
TEST(AssignRolesTest, StrikingOutAMemberPermutesNoOther) {
  const std::vector<PeerId> all = AssignRoles(HeadWithDialers(12, {}), 1000).owners;
  for (std::uint32_t struck = 0; struck < 12; ++struck) {
    std::vector<PeerId> rest = all;
    std::erase(rest, PeerNumber(struck));
    EXPECT_EQ(AssignRoles(HeadWithDialers(12, {struck}), 1000).owners, rest);
    Block without = HeadWithDialers(12, {});
    std::erase(without.members, PeerNumber(struck));
    EXPECT_EQ(AssignRoles(without, 1000).owners, rest);
    const Roles validates = RolesWith(HeadWithDialers(12, {}),
                                      {{PeerNumber(struck), PeerNumber((struck + 1) % 12), 3, {}}});
    EXPECT_EQ(validates.owners, rest);
  }
}

TEST(AssignRolesTest, ThreeOwnersStayWhoeverIsDrawn) {
  const Block head = HeadWithDialers(8, {0, 1, 2, 3});
  const std::vector<Assignment> drawn = {{PeerNumber(0), PeerNumber(7), 3, {}},
                                         {PeerNumber(4), PeerNumber(7), 3, {}},
                                         {PeerNumber(5), PeerNumber(6), 3, {}}};
  const Roles roles = RolesWith(head, drawn);
  ASSERT_EQ(roles.validators.size(), 3u);
  EXPECT_FALSE(roles.AssignmentOf(PeerNumber(0))->works);
  EXPECT_FALSE(roles.AssignmentOf(PeerNumber(4))->works);
  EXPECT_EQ(roles.owners.size(), 3u);
  EXPECT_TRUE(roles.AssignmentOf(PeerNumber(5))->works);
  EXPECT_TRUE(roles.IsWorker(PeerNumber(5)));
}

// A validator that owns nothing can be spared, also if one drawn before it cannot.
TEST(AssignRolesTest, OnlyAValidatorThatIsNeededWorksAsWell) {
  const Block head = HeadWithDialers(8, {0, 1, 2, 3, 4});
  const std::vector<Assignment> drawn = {{PeerNumber(5), PeerNumber(7), 3, {}},
                                         {PeerNumber(0), PeerNumber(6), 3, {}}};
  const Roles roles = RolesWith(head, drawn);
  EXPECT_EQ(roles.owners.size(), 3u);
  EXPECT_TRUE(roles.IsWorker(PeerNumber(5)));
  EXPECT_TRUE(roles.AssignmentOf(PeerNumber(5)));
  EXPECT_FALSE(roles.IsWorker(PeerNumber(0)));
  EXPECT_TRUE(roles.AssignmentOf(PeerNumber(0)));
  EXPECT_EQ(roles.validators.size(), 2u);
}

// Whether it is admitted is decided when the coin is known.
TEST(AssignRolesTest, WhoHasJustJoinedHoldsNoRole) {
  Block head = HeadWithDialers(8, {1});
  const std::vector<PeerId> before = AssignRoles(head, 1000).owners;
  head.joined = {PeerNumber(4)};
  const Roles roles = AssignRoles(head, 1000);
  EXPECT_EQ(roles.workers.size(), 7u);
  EXPECT_FALSE(roles.IsWorker(PeerNumber(4)));
  EXPECT_FALSE(roles.PartOwnedBy(PeerNumber(4)));
  std::vector<PeerId> rest = before;
  std::erase(rest, PeerNumber(4));
  EXPECT_EQ(roles.owners, rest) << "and changes no other's place";
  EXPECT_EQ(roles.parts.size(), 6u);
  head = HeadWithDialers(5, {1});
  head.joined = {PeerNumber(0), PeerNumber(2)};
  EXPECT_TRUE(AssignRoles(head, 1000).parts.empty()) << "fewer than three are left";
}

TEST(AssignRolesTest, FewerThanThreeThatCanBeDialedHaveNoParts) {
  const Roles roles = AssignRoles(HeadWithDialers(8, {0, 1, 2, 3, 4, 5}), 1000);
  EXPECT_TRUE(roles.workers.empty());
  EXPECT_TRUE(roles.parts.empty());
}

TEST(AssignRolesTest, FewerThanThreeInRoleHaveNoParts) {
  Block head = ViewBefore(ManifestOf(6), 5);
  head.cases = {CaseOf(0, 1), CaseOf(2, 3)};
  const Roles roles = RolesWith(head, {{PeerNumber(4), PeerNumber(5), 3, {}}});
  EXPECT_TRUE(roles.workers.empty());
  EXPECT_EQ(roles.validators.size(), 1u) << "who has nothing else to do judges the past";
  EXPECT_TRUE(roles.parts.empty());
  EXPECT_TRUE(roles.owners.empty());

  head.cases.pop_back();
  EXPECT_EQ(AssignRoles(head, 100).workers.size(), 4u);
  EXPECT_EQ(AssignRoles(ViewBefore(ManifestOf(3), 5), 100).parts.size(), 3u);
  EXPECT_TRUE(AssignRoles(ViewBefore(ManifestOf(2), 5), 100).parts.empty());
}

TEST(AssignRolesTest, StepThatClosesTheRunHasNone) {
  Block head = ViewBefore(ManifestOf(8), 5);
  head.drawn = {{PeerNumber(0), PeerNumber(1), 4, {}}};
  head.closing = 1;
  const Roles roles = AssignRoles(head, 100);
  EXPECT_TRUE(roles.workers.empty());
  EXPECT_TRUE(roles.validators.empty());
  EXPECT_TRUE(roles.parts.empty());
}

TEST(AssignRolesTest, TheQuarantinedHoldNoRoleEvenIfTheyWereDrawn) {
  Block head = ViewBefore(ManifestOf(8), 5);
  head.cases = {CaseOf(2, 6)};
  const Roles roles = RolesWith(
      head, {{PeerNumber(2), PeerNumber(5), 3, {}}, {PeerNumber(3), PeerNumber(6), 3, {}}});
  ASSERT_EQ(roles.validators.size(), 1u);
  EXPECT_EQ(roles.validators[0].validator, PeerNumber(3));
  for (const std::uint32_t quarantined : {2u, 6u}) {
    EXPECT_FALSE(roles.IsWorker(PeerNumber(quarantined)));
    EXPECT_FALSE(roles.PartOwnedBy(PeerNumber(quarantined)));
  }
}

// Else whoever is drawn, or fears who is, could have the draw cancelled for the price of a place.
TEST(AssignRolesTest, ANamingCancelsNoValidation) {
  Block head = ViewBefore(ManifestOf(8), 5);
  head.cases = {CaseOf(wire::CaseKind::kNumbers, 2, 6)};
  EXPECT_TRUE(MayBeTarget(head, PeerNumber(6)));
  EXPECT_TRUE(MayBeTarget(head, PeerNumber(2)));
  const Roles roles = RolesWith(
      head, {{PeerNumber(2), PeerNumber(5), 3, {}}, {PeerNumber(3), PeerNumber(6), 3, {}}});
  ASSERT_EQ(roles.validators.size(), 2u);
  EXPECT_EQ(roles.validators[0].validator, PeerNumber(2));
  EXPECT_FALSE(roles.IsWorker(PeerNumber(2)));
  EXPECT_FALSE(roles.PartOwnedBy(PeerNumber(2)));
  head.leaving = {PeerNumber(2)};
  EXPECT_EQ(RolesWith(head, {{PeerNumber(2), PeerNumber(5), 3, {}}}).validators.size(), 0u);
}

// Of five members one names another when it sees who was drawn for it. Three are left in role, and
// each of them must own a part.
TEST(AssignRolesTest, AValidatorThatIsNeededWorksAsWell) {
  Block head = ViewBefore(ManifestOf(5), 5);
  head.cases = {CaseOf(wire::CaseKind::kNumbers, 3, 4)};
  const std::vector<Assignment> drawn = {{PeerNumber(0), PeerNumber(3), 3, {}}};
  Roles roles = RolesWith(head, drawn);
  ASSERT_EQ(roles.validators.size(), 1u);
  EXPECT_TRUE(roles.validators[0].works);
  EXPECT_TRUE(roles.IsWorker(PeerNumber(0)));
  EXPECT_EQ(roles.owners.size(), 3u);
  // Or it is silent, in a run of four.
  head = ViewBefore(ManifestOf(4), 5);
  std::erase(head.members, PeerNumber(3));
  roles = RolesWith(head, drawn);
  ASSERT_EQ(roles.validators.size(), 1u);
  EXPECT_TRUE(roles.IsWorker(PeerNumber(0)));
}

// Else a liar that names somebody in the step in which it lies is safe from the draw among the
// gradients of that step.
TEST(DrawValidatorsTest, ANamingMakesNoDrawSmaller) {
  for (const std::uint32_t n : {4u, 5u, 7u}) {
    Block head = ViewBefore(ManifestOf(n), 5);
    const std::uint32_t namers = n == 7 ? 2 : 1;
    for (std::uint32_t i = 0; i < namers; ++i) {
      head.cases.push_back(CaseOf(wire::CaseKind::kNumbers, i, namers + i));
    }
    const auto drawn = Draw(head, 1);
    ASSERT_EQ(drawn.size(), 1u) << n;
    EXPECT_TRUE(drawn[0].works) << n;
    EXPECT_TRUE(IsMember(InRole(head), drawn[0].validator)) << n;
  }
}

// Three that name three of eight leave two in role, and the drawn ones judge nevertheless.
TEST(AssignRolesTest, AStepWithoutPartsHasItsValidators) {
  Block head = ViewBefore(ManifestOf(8), 5);
  for (const std::uint32_t namer : {2u, 3u, 4u}) {
    head.cases.push_back(CaseOf(wire::CaseKind::kNumbers, namer, namer + 3));
  }
  const Roles roles = RolesWith(
      head, {{PeerNumber(0), PeerNumber(2), 3, {}}, {PeerNumber(5), PeerNumber(3), 3, {}}});
  EXPECT_TRUE(roles.parts.empty() && roles.workers.empty());
  EXPECT_EQ(roles.validators.size(), 2u);
  EXPECT_EQ(Draw(head, 1).size(), 1u);
}

// Silence must not be a redraw: a drawn member that has left is not replaced.
TEST(AssignRolesTest, ADrawnMemberThatLeftIsNotReplaced) {
  Block head = ViewBefore(ManifestOf(8), 5);
  std::erase(head.members, PeerNumber(2));
  const Roles roles = RolesWith(head, {{PeerNumber(2), PeerNumber(5), 3, {}}});
  EXPECT_TRUE(roles.validators.empty());
  EXPECT_EQ(roles.workers.size(), 7u);
}

// One worker beside validators would own the whole model, and its RESULT is more than a link takes.
TEST(AssignRolesTest, ThreeWorkAtLeastHoweverManyWereDrawn) {
  for (std::uint32_t n = 3; n <= 16; ++n) {
    for (std::uint32_t validators = 0; validators <= n; ++validators) {
      for (std::uint32_t pairs = 0; 2 * pairs <= n; ++pairs) {
        Block head = ViewBefore(ManifestOf(16, Mode::kThird), 5);
        head.members = PeersUpTo(n);
        for (std::uint32_t i = 0; i < pairs; ++i) {
          head.cases.push_back(CaseOf(n - 1 - 2 * i, n - 2 - 2 * i));
        }
        std::vector<Assignment> drawn;
        for (std::uint32_t i = 0; i < validators; ++i) {
          drawn.push_back({PeerNumber(i), PeerNumber(i + 1), 3, {}});
        }
        const Roles roles = RolesWith(head, drawn, 1003);
        const std::size_t in_role = InRole(head).size();
        if (in_role < 3) {
          EXPECT_TRUE(roles.workers.empty() && roles.parts.empty());
          continue;
        }
        const auto working = static_cast<std::size_t>(
            std::count_if(roles.validators.begin(), roles.validators.end(),
                          [](const Assignment& each) { return each.works; }));
        EXPECT_EQ(roles.workers.size() + roles.validators.size() - working, in_role);
        EXPECT_EQ(roles.validators.size() - working,
                  std::min<std::size_t>(validators, in_role - 3));
        for (std::uint32_t j = 0; j < roles.parts.size(); ++j) {
          EXPECT_LE(roles.parts[j].size(), LargestPart(1003, j)) << n << " " << pairs;
        }
        // Those drawn first keep what they were drawn for.
        for (std::size_t i = 0; i < roles.validators.size(); ++i) {
          EXPECT_EQ(roles.validators[i].validator, PeerNumber(static_cast<std::uint32_t>(i)));
        }
      }
    }
  }
}

TEST(LargestPartTest, IsThatOfTheFewestWorkersWhoCanHaveIt) {
  EXPECT_EQ(LargestPart(9), 3U);
  EXPECT_EQ(LargestPart(10), 4U);
  EXPECT_EQ(LargestPart(10, 2), 4U);
  EXPECT_EQ(LargestPart(10, 3), 3U) << "whoever has part 3 is one of four";
  EXPECT_EQ(LargestPart(10, 255), 1U);
  EXPECT_EQ(LargestPart(~std::uint64_t{0}), ~std::uint64_t{0} / 3);
  for (std::uint64_t dimension = 6; dimension < 60; ++dimension) {
    for (std::uint32_t count = 3; count <= 8; ++count) {
      const std::vector<PartRange> parts = CutParts(dimension, count);
      for (std::uint32_t j = 0; j < count; ++j) {
        EXPECT_LE(parts[j].size(), LargestPart(dimension, j)) << dimension << " " << count;
      }
    }
  }
}

TEST(AssignRolesTest, IsGoldenForAFixedCoin) {
  Block head = ViewBefore(ManifestOf(8), 5);
  head.randomness = DigestOf(42);
  std::vector<int> owners;
  for (const PeerId& owner : AssignRoles(head, 100).owners) owners.push_back(owner.bytes[7]);
  EXPECT_EQ(owners, (std::vector<int>{7, 3, 2, 4, 5, 1, 0, 6}));
}

// --- seeds ---------------------------------------------------------------------------------------

TEST(SeedTest, BatchSeedIsGoldenAndNamesEveryArgument) {
  const Digest seed = BatchSeed(DigestOf(1), "digits", DigestOf(2), 3, PeerNumber(4));
  EXPECT_EQ(seed.Hex(), "7ed34af821f18a7399ce3653cb480cd758c09a9e5acc0cb67e40bd946e029e11");
  std::set<Digest> seeds = {seed};
  seeds.insert(BatchSeed(DigestOf(9), "digits", DigestOf(2), 3, PeerNumber(4)));
  seeds.insert(BatchSeed(DigestOf(1), "digit", DigestOf(2), 3, PeerNumber(4)));
  seeds.insert(BatchSeed(DigestOf(1), "digits", DigestOf(9), 3, PeerNumber(4)));
  seeds.insert(BatchSeed(DigestOf(1), "digits", DigestOf(2), 9, PeerNumber(4)));
  seeds.insert(BatchSeed(DigestOf(1), "digits", DigestOf(2), 3, PeerNumber(9)));
  EXPECT_EQ(seeds.size(), 6u);
}

TEST(SeedTest, DirectionSeedIsGoldenAndNamesEveryArgument) {
  const Digest seed = DirectionSeed(DigestOf(1), 2, 3);
  EXPECT_EQ(seed.Hex(), "e9534506d8445768c326e041c140b5e8ad47c7c9951f72e766bb10770642c529");
  EXPECT_NE(DirectionSeed(DigestOf(9), 2, 3), seed);
  EXPECT_NE(DirectionSeed(DigestOf(1), 9, 3), seed);
  EXPECT_NE(DirectionSeed(DigestOf(1), 2, 9), seed);
  EXPECT_NE(DirectionSeed(DigestOf(1), 3, 2), seed);
}

}  // namespace
}  // namespace ostraka::protocol::roles_test
