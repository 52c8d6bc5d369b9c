// Attacks on the protocol itself: each ends as sim/attacks/registry.h says, by the rule that is
// meant for it. (The simulator's checkers watch in every step that no honest member is removed and
// that all honest peers agree.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "node/protocol/ground/manifest.h"
#include "sim/run/cluster.h"
#include "tests/scenario/attack_runs.h"

namespace ostraka::sim::protocol_attacks_test {
namespace {

using testing::HasSubstr;
using wire::RemovalKind;

SimResult RunOptions(const SimOptions& options) {
  auto result = RunSimulation(options);
  EXPECT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(result->ok) << result->failure->checker << ": " << result->failure->message << "\n"
                          << result->replay;
  EXPECT_EQ(result->honest_removed, 0U);
  return std::move(result).value();
}

SimResult RunAttack(const std::string& attack, const AttackParams& params = {},
                    std::uint32_t byzantine = 3, std::uint64_t seed = 1) {
  SimOptions options;
  options.seed = seed;
  options.attack = attack;
  options.attack_params = params;
  options.byzantine = byzantine;
  options.steps = 60;
  options.dimension = 200;
  return RunOptions(options);
}

// The reference for the cost in the model: the loss of a run without attackers.
double HonestLoss() {
  static const double kLoss = RunAttack("none").loss;
  return kLoss;
}

// Every attacker is removed, each time for one of `reasons` and with `kind`.
void ExpectRemoved(const SimResult& result, RemovalKind kind,
                   const std::vector<std::string>& reasons) {
  std::set<base::PeerId> removed;
  for (const wire::Removal& removal : result.removals) {
    removed.insert(removal.peer);
    EXPECT_EQ(removal.kind, kind) << wire::TextOf(removal.reason);
    const bool meant = std::any_of(reasons.begin(), reasons.end(), [&](const std::string& reason) {
      return wire::TextOf(removal.reason).find(reason) != std::string::npos;
    });
    EXPECT_TRUE(meant) << "step " << removal.step << ": " << wire::TextOf(removal.reason);
  }
  EXPECT_EQ(removed.size(), result.peers.byzantine.size());
  EXPECT_LT(result.loss, 1.5 * HonestLoss());
}

void ExpectContained(const SimResult& result) {
  EXPECT_EQ(result.byzantine_removed, 0U);
  EXPECT_LT(result.loss, 1.5 * HonestLoss());
}

// --- lies about own work ------------------------------------------------------------------------

TEST(ProtocolAttack, FalseAccusersAreBannedByTheVerdict) {
  ExpectRemoved(RunAttack("false_accuse"), RemovalKind::kVerdict, {"accused", "falsely"});
}

TEST(ProtocolAttack, LiarsAboutTheirNumbersAreNamedAndBannedByTheVerdict) {
  ExpectRemoved(RunAttack("false_proof"), RemovalKind::kVerdict,
                {"do not follow from what it sent: named by"});
}

// [Once the liars also lied in each other's columns. An owner among them could name nobody without
// betraying a colluder, and was dropped for its sum before anybody was convicted.]
TEST(ProtocolAttack, SevenOfSixteenLiarsAboutTheirNumbersAreBannedByTheVerdict) {
  SimOptions options;
  options.attack = "false_proof";
  options.attack_from_step = 0;
  options.peers = 16;
  options.byzantine = 7;
  options.steps = 40;
  options.dimension = 200;
  const SimResult result = RunOptions(options);
  EXPECT_EQ(result.byzantine_removed, 7U);
  EXPECT_EQ(result.returned.size(), 0U) << "nobody was dropped first";
  for (const wire::Removal& removal : result.removals) {
    EXPECT_EQ(removal.kind, RemovalKind::kVerdict) << wire::TextOf(removal.reason);
    EXPECT_THAT(wire::TextOf(removal.reason),
                HasSubstr("do not follow from what it sent: named by"));
  }
}

TEST(ProtocolAttack, AWrongAggregateIsDroppedForItsSumAndNamesNobody) {
  const SimResult result = RunAttack("wrong_aggregate");
  ExpectRemoved(result, RemovalKind::kDrop,
                {"failed the sum check and it named nobody who lied",
                 "failed the size check and it named nobody who lied"});
  EXPECT_GT(result.columns.at("sum_check"), 0U) << "and never applied";
  EXPECT_GT(result.byzantine_removed, 3U) << "they came back, and were dropped again";
}

TEST(ProtocolAttack, AnAggregateJustBeyondTheToleranceIsDroppedForItsSum) {
  ExpectRemoved(RunAttack("near_tolerance"), RemovalKind::kDrop,
                {"failed the sum check and it named nobody who lied"});
}

// A validator convicts the colluder whose numbers hide the shift, and the aggregator for not naming
// it.
TEST(ProtocolAttack, ACoveredAggregateCostsBothTheirPlace) {
  // Without colluders nobody can cover it, and it stops. In this seed all three are drawn before.
  const SimResult result = RunAttack("cover_up", {}, 3, 2);
  ExpectRemoved(result, RemovalKind::kVerdict,
                {"does not follow from its batch", "it hid that the numbers of"});
  EXPECT_TRUE(std::any_of(result.removals.begin(), result.removals.end(),
                          [](const wire::Removal& r) {
                            return wire::TextOf(r.reason).find("it hid") != std::string::npos;
                          }))
      << "somebody was banned for covering";
}

// The absorber of all columns is drawn sooner or later, and then nobody covers the others.
TEST(ProtocolAttack, SingleAbsorberForAllIsFoundAndTheOthersStop) {
  for (std::uint64_t seed = 1; seed <= SeedsUpTo(4); ++seed) {
    const SimResult result = RunAttack("cover_up", {{"one", "1"}}, 3, seed);
    EXPECT_GE(result.byzantine_removed, 1U) << "seed " << seed;
    EXPECT_LT(result.loss, 1.5 * HonestLoss());
  }
}

TEST(ProtocolAttack, OwnerThatHidesTheConvictedWorkersPartIsDropped) {
  const SimResult result = RunAttack("cover_up", {{"show", "0"}});
  const auto dropped =
      std::find_if(result.removals.begin(), result.removals.end(),
                   [](const wire::Removal& removal) { return removal.kind == RemovalKind::kDrop; });
  ASSERT_NE(dropped, result.removals.end());
  EXPECT_THAT(wire::TextOf(dropped->reason), HasSubstr("did not show part"));
}

// --- who adapts ---------------------------------------------------------------------------------

std::set<base::PeerId> BannedByVerdict(const SimResult& result) {
  std::set<base::PeerId> banned;
  for (const wire::Removal& removal : result.removals) {
    if (removal.kind == RemovalKind::kVerdict) banned.insert(removal.peer);
  }
  return banned;
}

// [Once silence between the draw and the accusation cost a drop and no ban, and the attackers came
// back.]
TEST(ProtocolAttack, AttackerThatLeavesBeforeTheAccusationIsBanned) {
  for (const char* back : {"0", "1"}) {
    const SimResult result = RunAttack("leave_after", {{"back", back}});
    EXPECT_EQ(BannedByVerdict(result).size(), 3U) << "of whom somebody saw something";
    EXPECT_EQ(result.returned.size(), 0U);
    std::size_t left = 0;
    for (const wire::Removal& removal : result.removals) {
      if (removal.kind != RemovalKind::kDrop) continue;
      EXPECT_THAT(wire::TextOf(removal.reason), HasSubstr("its COMMIT did not come"));
      ++left;
    }
    EXPECT_EQ(left, 3U) << "silence does cost the place first";
    EXPECT_LT(result.loss, 1.5 * HonestLoss());
  }
}

// [A case of kNumbers put a liar, or its validator, out of role for the step in which it was to be
// judged. Each namer was dropped, came back, and nobody was ever banned.]
TEST(ProtocolAttack, AttackersThatNameSomebodyBeforeTheAccusationAreBanned) {
  const SimResult result = RunAttack("leave_after", {{"name", "1"}});
  EXPECT_GE(BannedByVerdict(result).size(), 2U) << "one names, and goes before it is drawn";
  EXPECT_EQ(result.honest_removed, 0U);
}

// [Where three owners were left, the drawn validator worked instead: one of four that was silent,
// or one of five that named another, was never judged.]
TEST(ProtocolAttack, InTheSmallestSwarmsNobodyEscapesItsValidator) {
  const std::pair<std::uint32_t, AttackParams> swarms[] = {{4, {}}, {5, {}}, {5, {{"name", "1"}}}};
  for (const auto& [peers, params] : swarms) {
    SimOptions options;
    options.peers = peers;
    options.byzantine = 1;
    options.attack = "leave_after";
    options.attack_params = params;
    options.steps = 60;
    options.dimension = 200;
    const SimResult result = RunOptions(options);
    EXPECT_EQ(BannedByVerdict(result).size(), 1U) << peers << " " << params.size();
    EXPECT_EQ(result.honest_removed, 0U);
  }
}

// It leaves before anybody is drawn for its last misdeed, and the draw includes it nevertheless.
TEST(ProtocolAttack, DrawIncludesWorkersThatLeft) {
  std::size_t banned = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const SimResult result = RunAttack("leave_after", {{"steps", "1"}, {"back", "1"}}, 3, seed);
    EXPECT_GE(result.byzantine_removed, 3U) << "seed " << seed;
    banned += BannedByVerdict(result).size();
  }
  EXPECT_GE(banned, 1U);
}

TEST(ProtocolAttack, AttackersThatPlayTheOddsOfValidationAreBanned) {
  SimOptions options;
  options.attack = "unwatched";
  options.steps = 120;
  options.dimension = 200;
  const SimResult result = RunOptions(options);
  ExpectRemoved(result, RemovalKind::kVerdict, {"does not follow from its batch"});
}

// Each coin that would have had a colluder validated costs an identity, for 1000 steps.
TEST(ProtocolAttack, EachWithheldCoinCostsAnIdentity) {
  SimOptions options;
  options.attack = "unwatched";
  options.attack_params = {{"abort", "1"}};
  options.steps = 120;
  options.dimension = 200;
  const SimResult result = RunOptions(options);
  std::set<base::PeerId> removed;
  std::size_t kept = 0;
  for (const wire::Removal& removal : result.removals) {
    removed.insert(removal.peer);
    kept +=
        wire::TextOf(removal.reason).find("its REVEAL did not come") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(removed.size(), 3U);
  EXPECT_GE(kept, 1U);
  EXPECT_EQ(result.returned.size(), 0U);
  EXPECT_LT(result.loss, 1.5 * HonestLoss());
}

// As many colluders as the mode bears, all against one member, by each rule and by all in turns.
// The checkers watch that the victim is neither removed nor suspected.
TEST(ProtocolAttack, AtMostFaultBoundColludersFrameNobody) {
  for (int rule = 0; rule <= 9; ++rule) {
    const SimResult result = RunAttack("frame_victim", {{"rule", std::to_string(rule)}});
    EXPECT_EQ(result.honest_removed, 0U) << "rule " << rule;
    EXPECT_LT(result.loss, 1.5 * HonestLoss()) << "rule " << rule;
  }
}

TEST(ProtocolAttack, SevenOfSixteenColludersFrameNobody) {
  SimOptions options;
  options.peers = 16;
  options.byzantine = 7;
  options.attack = "frame_victim";
  options.steps = 40;
  options.dimension = 200;
  for (options.seed = 1; options.seed <= SeedsUpTo(3); ++options.seed) {
    EXPECT_EQ(RunOptions(options).honest_removed, 0U) << "seed " << options.seed;
  }
}

// --- false complaints ---------------------------------------------------------------------------

TEST(ProtocolAttack, FalseClaimOfAMissingPartIsDroppedSinceOthersHeldIt) {
  const SimResult result = RunAttack("false_complaint", {{"kind", "0"}});
  ExpectRemoved(result, RemovalKind::kDrop, {"it left out part", "which others held in time"});
}

TEST(ProtocolAttack, OwnerThatNamesAnHonestSenderIsBannedByVerdict) {
  const SimResult result = RunAttack("false_complaint", {{"kind", "1"}});
  ExpectRemoved(result, RemovalKind::kVerdict, {"falsely of part"});
}

// [Once an honest aggregator was dropped for this: its witnesses did not testify, because they
// stopped forwarding the result when they had all results themselves.]
TEST(ProtocolAttack, FalseClaimOfAMissingResultIsDroppedSinceOthersForwardedIt) {
  const SimResult result = RunAttack("false_complaint", {{"kind", "2"}});
  ExpectRemoved(result, RemovalKind::kDrop, {"it claims to miss the aggregate of part"});
}

TEST(ProtocolAttack, AggregateOfColludersOnlyIsNeverAppliedAndItsOwnerIsDropped) {
  const SimResult result = RunAttack("selective_bitmap");
  ExpectRemoved(result, RemovalKind::kDrop, {"in dispute with", "which others held in time"});
  EXPECT_GT(result.columns.at("too_few_senders"), 0U);
}

// --- two words for one slot, and words that are false -------------------------------------------

TEST(ProtocolAttack, EquivocatorsAreBannedInTheStepThatShowsIt) {
  const SimResult result = RunAttack("equivocate");
  ExpectRemoved(result, RemovalKind::kEvidence, {"two different COMMITs"});
  EXPECT_EQ(result.detection_steps, 0U);
}

TEST(ProtocolAttack, SplitEquivocationTakesTheSlowPathAndIsBannedInTheSameStep) {
  const SimResult result = RunAttack("equivocate", {{"split", "1"}});
  ExpectRemoved(result, RemovalKind::kEvidence, {"two different COMMITs"});
  EXPECT_EQ(result.detection_steps, 0U);
}

TEST(ProtocolAttack, EvidenceOfOneMemberReachesAllInTheSameStep) {
  const SimResult result = RunAttack("equivocate", {{"one", "1"}});
  ExpectRemoved(result, RemovalKind::kEvidence, {"two different"});
  EXPECT_EQ(result.detection_steps, 0U);
}

TEST(ProtocolAttack, TwoMachinesWithOneKeyAreBannedInTheStepThatShowsThem) {
  const SimResult result = RunAttack("two_faced");
  ExpectRemoved(result, RemovalKind::kEvidence, {"two different COMMITs"});
  EXPECT_EQ(result.detection_steps, 0U);
}

// The second machine sends nothing in time, so half of the members get neither its COMMIT nor its
// parts. [Owners in dispute with it got the parts from others. Without the COMMIT they could not
// accept them, and were dropped.]
TEST(ProtocolAttack, OwnerThatDidNotGetACommitIsNotDroppedForItsPart) {
  const SimResult result = RunAttack("two_faced", {{"apart", "1"}});
  EXPECT_GT(result.misdeeds, 0U);
  EXPECT_LT(result.loss, 1.5 * HonestLoss());
}

TEST(ProtocolAttack, MessagesInAnothersNameAreDiscarded) {
  const SimResult result = RunAttack("impersonate");
  ExpectContained(result);
  EXPECT_GT(result.suspicions.at("signature"), 0U);
}

TEST(ProtocolAttack, MemberIgnoredByColludersGetsAllFromTheOthers) {
  const SimResult result = RunAttack("eclipse");
  ExpectContained(result);
  EXPECT_GT(result.misdeeds, 0U);
  EXPECT_EQ(result.slow_iterations, 0U);
}

TEST(ProtocolAttack, IdentitiesThatShareOneGradientAreBannedByVerdict) {
  const SimResult result = RunAttack("sybil");
  EXPECT_EQ(result.byzantine_removed, 2U) << "all but the one that computes it";
  for (const wire::Removal& removal : result.removals) {
    EXPECT_EQ(removal.kind, RemovalKind::kVerdict) << wire::TextOf(removal.reason);
    EXPECT_THAT(wire::TextOf(removal.reason), HasSubstr("does not follow from its batch"));
  }
}

TEST(ProtocolAttack, FloodIsContained) {
  const SimResult result = RunAttack("flood");
  ExpectContained(result);
  EXPECT_GT(result.suspicions.at("signature"), 0U);
  EXPECT_EQ(result.slow_iterations, 0U) << "nobody waits for it";
}

// Of 9,000 messages a second to each member a third are requests, with more answers than the ration
// allows, and more than the ration are forged.
TEST(ProtocolAttack, FloodCostsNoMoreThanItsRation) {
  SimOptions options;
  options.attack = "flood";
  options.attack_params["rate"] = "9000";
  options.attack_params["most"] = "0";
  options.byzantine = 3;
  options.steps = 10;
  options.dimension = 200;
  const SimResult result = RunOptions(options);
  EXPECT_EQ(result.byzantine_removed, 0U);
  EXPECT_EQ(result.slow_iterations, 0U) << "nobody waits for it";
}

TEST(ProtocolAttack, FalseRevealersAreBannedInTheStepThatShowsIt) {
  const SimResult result = RunAttack("bad_reveal");
  ExpectRemoved(result, RemovalKind::kEvidence, {"does not open its COMMIT"});
  EXPECT_EQ(result.detection_steps, 0U);
}

// [Before it had a price, every seal was slow.]
TEST(ProtocolAttack, LyingEchoIsDroppedAfterAFewSlowSeals) {
  const SimResult result = RunAttack("lying_echo");
  ExpectRemoved(result, RemovalKind::kDrop, {"echoed without what it had to wait for"});
  EXPECT_LT(result.slow_steps, 12U);
}

TEST(ProtocolAttack, StaleLockLeaderIsDroppedAndNobodyVotesAgainstALock) {
  const SimResult result = RunAttack("stale_lock");
  ExpectRemoved(result, RemovalKind::kDrop, {"echoed without what it had to wait for"});
  EXPECT_GT(result.slow_iterations, 3U);
}

TEST(ProtocolAttack, LeaderWithTwoProposalsIsBannedByEvidence) {
  const SimResult result = RunAttack("double_propose");
  EXPECT_TRUE(result.ok) << result.failure->message;
  EXPECT_EQ(result.honest_removed, 0U);
  // A member that withholds its ECHO to force the slow path may be dropped for that before it leads
  // an iteration, and again after its return.
  std::set<base::PeerId> removed;
  std::size_t proven = 0;
  for (const wire::Removal& removal : result.removals) {
    removed.insert(removal.peer);
    if (removal.kind != RemovalKind::kEvidence) continue;
    ++proven;
    EXPECT_THAT(wire::TextOf(removal.reason), HasSubstr("signed two different"));
  }
  EXPECT_EQ(removed.size(), result.peers.byzantine.size());
  EXPECT_GE(proven, 1U);
}

// --- silence ------------------------------------------------------------------------------------

TEST(ProtocolAttack, SilentMemberIsSealedAbsentAndDropped) {
  const SimResult result = RunAttack("silent");
  ExpectRemoved(result, RemovalKind::kDrop, {"its COMMIT did not come"});
  EXPECT_EQ(result.detection_steps, 0U);
  EXPECT_EQ(result.returned.size(), 0U);
}

TEST(ProtocolAttack, SilenceInSealAMayEndAndIsExcusedOnce) {
  const SimResult result = RunAttack("silent", {{"phase", "1"}});
  ExpectRemoved(result, RemovalKind::kDrop, {"its COMMIT did not come"});
  EXPECT_EQ(result.byzantine_removed, 6U);
  EXPECT_EQ(result.returned.size(), 3U) << "after a second drop 1000 steps must pass";
}

TEST(ProtocolAttack, SilenceAfterTheCoinsBarsFromReturning) {
  const SimResult result = RunAttack("silent", {{"phase", "2"}});
  ExpectRemoved(result, RemovalKind::kDrop, {"its REVEAL did not come"});
  EXPECT_EQ(result.returned.size(), 0U);
}

TEST(ProtocolAttack, SilenceInSealCIsDropped) {
  ExpectRemoved(RunAttack("silent", {{"phase", "3"}}), RemovalKind::kDrop,
                {"its PROOF did not come"});
}

// Three colluders see three coins and dislike all; the fourth coin counts whatever it is.
TEST(ProtocolAttack, EachAbortedCoinCostsAnIdentity) {
  for (const char* together : {"0", "1"}) {
    const SimResult result = RunAttack("abort_coin", {{"together", together}});
    ExpectRemoved(result, RemovalKind::kDrop, {"its REVEAL did not come"});
    EXPECT_EQ(result.detection_steps, 0U);
    EXPECT_EQ(result.returned.size(), 0U);
  }
}

TEST(ProtocolAttack, WithheldEchoIsDroppedIfMoreMembersMissItThanTheFaultBound) {
  ExpectRemoved(RunAttack("withhold_echo"), RemovalKind::kDrop, {"withheld its echo"});
}

// An attack targets a run. Attacking the messages of genesis would only keep the run from
// beginning.
TEST(ProtocolAttack, EchoWithheldFromTheFirstStepLetsTheRunBegin) {
  for (const char* attack : {"withhold_echo", "lying_echo", "late", "equivocate"}) {
    SimOptions options;
    options.attack = attack;
    options.attack_from_step = 0;
    options.steps = 12;
    options.dimension = 200;
    EXPECT_GE(RunOptions(options).steps, 12U) << attack;
  }
}

TEST(ProtocolAttack, EchoWithheldFromHalfIsForwardedByTheOthers) {
  ExpectContained(RunAttack("withhold_echo", {{"half", "1"}}));
}

TEST(ProtocolAttack, AggregateWithheldFromOneIsForwardedByTheOthers) {
  ExpectContained(RunAttack("withhold_result"));
}

TEST(ProtocolAttack, AnAggregateWithheldFromAllIsDropped) {
  ExpectRemoved(RunAttack("withhold_result", {{"all", "1"}}), RemovalKind::kDrop,
                {"it withheld its aggregate of part"});
}

// In dispute the part goes to all members, which forward it: the damage is one column of one step.
TEST(ProtocolAttack, PartWithheldFromOneOwnerIsForwardedByTheOthers) {
  const SimResult result = RunAttack("selective_send");
  ExpectContained(result);
  EXPECT_LE(result.columns.at("too_few_senders"), result.peers.byzantine.size());
}

TEST(ProtocolAttack, APartWithheldFromAllIsDroppedInItsDispute) {
  ExpectRemoved(RunAttack("selective_send", {{"stubborn", "1"}}), RemovalKind::kDrop,
                {"it withheld part"});
}

// The owner refuses such a part. Once the two are in dispute all others get it as well, and its
// numbers are correct. [Testimony that it was "held in time" once dropped the honest owner.]
TEST(ProtocolAttack, PartThatNobodyCanAcceptIsTheWorkersFault) {
  ExpectRemoved(RunAttack("spoilt_part"), RemovalKind::kDrop, {"it withheld part"});
  ExpectRemoved(RunAttack("spoilt_part", {{"short", "1"}}), RemovalKind::kDrop,
                {"it withheld part"});
}

TEST(ProtocolAttack, NonFiniteGradientsAreBannedByEvidence) {
  for (const char* attack : {"inf", "nan"}) {
    ExpectRemoved(RunAttack(attack), RemovalKind::kEvidence, {"states impossible numbers"});
  }
}

TEST(ProtocolAttack, MemberInDisputeWithMoreThanTheFaultBoundIsDropped) {
  ExpectRemoved(RunAttack("selective_send", {{"rotate", "1"}}), RemovalKind::kDrop,
                {"in dispute with"});
}

// --- late ---------------------------------------------------------------------------------------

// [Once t_s late members drove Delta to its ceiling, and a step took three minutes.]
TEST(ProtocolAttack, LatenessUpToTwoDeltaCostsTimeButDoesNotRaiseDelta) {
  const SimResult honest = RunAttack("none");
  for (const char* deltas : {"0.9", "1.1"}) {
    const SimResult result = RunAttack("late", {{"deltas", deltas}});
    ExpectContained(result);
    const double seconds = (result.virtual_time - honest.virtual_time).seconds();
    const double delta = protocol::Manifest().delta.seconds();
    EXPECT_LT(seconds, 9 * delta * static_cast<double>(result.steps)) << deltas;
  }
}

TEST(ProtocolAttack, MessageAfterTheDeadlineIsAbsent) {
  ExpectRemoved(RunAttack("late", {{"deltas", "3.1"}}), RemovalKind::kDrop,
                {"its REVEAL did not come", "let the others wait"});
}

// The test of the tests: without the protocol the attack succeeds.
TEST(ProtocolAttack, UnprotectedRunsAreRuinedBySignFlip) {
  SimOptions options;
  options.attack = "sign_flip";
  options.steps = 60;
  options.dimension = 200;
  options.unprotected = true;
  const auto ruined = RunSimulation(options);
  ASSERT_TRUE(ruined.ok());
  EXPECT_EQ(ruined->byzantine_removed, 0U);
  options.unprotected = false;
  const auto protected_run = RunSimulation(options);
  ASSERT_TRUE(protected_run.ok());
  EXPECT_FALSE(ruined->loss < 100 * protected_run->loss) << "NaN or huge: " << ruined->loss;
}

}  // namespace
}  // namespace ostraka::sim::protocol_attacks_test
