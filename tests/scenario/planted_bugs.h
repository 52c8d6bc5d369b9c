// The planted bugs (node/base/planted.h), and how the general swarm tester finds each: a swarm
// drawn from a seed fails at the checker that is named for the bug.
#pragma once

#include <cstdint>

#include "node/base/planted.h"
#include "sim/setup/swarm_draw.h"

namespace ostraka::sim {

struct PlantedBug {
  base::Bug bug;
  const char* name;
  const char* checker;
  std::uint64_t seed;  // the seed whose swarm finds it
};

inline constexpr PlantedBug kPlantedBugs[] = {
    {base::Bug::kSignatureSkipped, "signature check skipped", "honest_suspected", 6},
    {base::Bug::kQuorumLessOne, "quorum - 1", "agreement", 66},
    {base::Bug::kSignedBeforeStored, "signed before stored", "write_ahead", 2},
    {base::Bug::kCoinBeforeSealA, "coin shown before seal A", "phase_order", 2},
    {base::Bug::kMeanForClip, "mean for clip", "aggregation", 2},
    {base::Bug::kToleranceHundredfold, "tolerance x 100", "columns", 1},
    {base::Bug::kLockIgnored, "lock ignored", "honest_suspected", 1502},
    {base::Bug::kFewSendersSuffice, "column rule without 2b + 1", "columns", 12},
    {base::Bug::kTargetsBeforeProof, "targets drawn before their PROOF", "draw_order", 2},
    {base::Bug::kAbsenceBans, "absence bans", "honest_removed", 8},
    {base::Bug::kEvidenceOfAnotherStep, "evidence judged by another step", "honest_removed", 46},
    {base::Bug::kVoidColumnApplied, "void column applied", "columns", 1},
    {base::Bug::kGuiltKeptSecret, "guilt kept secret", "guilt_spreads", 87},
    {base::Bug::kLeaderStays, "leader stays", "progress", 14},
    {base::Bug::kFirstTauGoesOn, "first tau goes on", "applied", 2},
    {base::Bug::kTimersPileUp, "timers pile up", "queues", 2},
    {base::Bug::kReturnsWithoutAdmission, "returns without admission", "rejoin_only", 8},
    {base::Bug::kAnyCredential, "any credential", "arrivals", 21},
    {base::Bug::kInvitesNeverEnd, "invites never end", "guests", 21},
    {base::Bug::kInvitesAreNotCounted, "invites are not counted", "arrivals", 21},
    {base::Bug::kAnyRevocation, "any revocation", "progress", 19},
    {base::Bug::kRevocationsAreIgnored, "revocations are ignored", "arrivals", 21},
    {base::Bug::kStruckFirst, "struck first, permuted after", "rerolls", 2},
    {base::Bug::kLooksAreFree, "looks are free", "looks", 3},
    {base::Bug::kGuestsAsMembers, "guests as members", "guests", 10},
    {base::Bug::kGuestsAreForEver, "guests are for ever", "guests", 10},
};
inline constexpr PlantedBug kCanary = {base::Bug::kCanary, "canary", "honest_suspected", 1};

// Steps of each run, as in swarm testing.
inline constexpr std::uint64_t kPlantedSteps = 40;

inline SimOptions PlantedSwarm(std::uint64_t seed) {
  SimOptions base;
  base.steps = kPlantedSteps;
  return DrawSwarm(seed, base);
}

}  // namespace ostraka::sim
