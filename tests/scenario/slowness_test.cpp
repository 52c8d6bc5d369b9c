// Attackers that make others wait without ever being absent: the cost to the run and to the
// attacker. (The simulator's checkers watch in every step that no honest member is removed.)
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "node/protocol/ground/manifest.h"
#include "sim/run/cluster.h"
#include "tests/scenario/attack_runs.h"

namespace ostraka::sim::slowness_test {
namespace {

SimOptions OptionsOf(const Swarm& swarm, const std::string& attack, const AttackParams& params) {
  SimOptions options;
  options.peers = swarm.peers;
  options.byzantine = swarm.byzantine;
  options.attack = attack;
  options.attack_params = params;
  options.steps = 40;
  options.dimension = 200;
  return options;
}

// The deadline of seals A and C: the manifest's part_timeout, and the first Delta, are defaults.
double DeadlineSeconds() {
  const protocol::Manifest manifest;
  return (manifest.part_timeout * 2 + manifest.delta * 2).seconds();
}

// Every colluder is removed, for one of the two reasons. The run loses at most three deadlines for
// each removal (a colluder may come back once, with half an allowance), and half a deadline for
// each pair that comes into dispute.
void ExpectPaid(const Swarm& swarm, const AttackParams& params, std::uint32_t steps = 40) {
  SimOptions options = OptionsOf(swarm, "dawdle", params);
  options.steps = steps;
  const SimResult result = RunWithoutHarm(options);
  for (const wire::Removal& removal : result.removals) {
    const bool meant =
        wire::TextOf(removal.reason).find("let the others wait") != std::string::npos ||
        wire::TextOf(removal.reason).find("in dispute with") != std::string::npos;
    EXPECT_TRUE(meant) << wire::TextOf(removal.reason);
  }
  EXPECT_EQ(MembersRemoved(result), swarm.byzantine) << result.replay;
  const double places = static_cast<double>(result.removals.size());
  const double bound = places * (3 + 0.5 * swarm.byzantine) * DeadlineSeconds();
  EXPECT_LT(result.virtual_time.seconds(), 60 + bound) << result.replay;
}

class Dawdle : public testing::TestWithParam<Swarm> {};

TEST_P(Dawdle, AggregatesAndProofs) { ExpectPaid(GetParam(), {}); }
TEST_P(Dawdle, ProofsAlone) { ExpectPaid(GetParam(), {{"what", "1"}}); }
// An owner names one worker a step, and a worker in dispute with more owners than the fault bound
// is dropped. Seven that hold back together share the steps: in 90 steps five of them are dropped.
TEST_P(Dawdle, ThePartOfOneHonestOwner) { ExpectPaid(GetParam(), {{"what", "2"}}, 130); }
TEST_P(Dawdle, AllParts) { ExpectPaid(GetParam(), {{"what", "3"}}); }
TEST_P(Dawdle, ItsResult) { ExpectPaid(GetParam(), {{"what", "4"}}); }
TEST_P(Dawdle, ColludersByTurns) { ExpectPaid(GetParam(), {{"turns", "1"}}); }

// One holder of the result serves all: nobody waits, and nobody is to blame.
TEST_P(Dawdle, ResultLateForHalfCostsNothing) {
  const SimResult result = RunWithoutHarm(OptionsOf(GetParam(), "none", {}));
  SimOptions options = OptionsOf(GetParam(), "dawdle", {{"what", "5"}});
  options.await_removal = false;
  const SimResult attacked = RunWithoutHarm(options);
  EXPECT_LT(attacked.virtual_time.seconds(), 10 * result.virtual_time.seconds() + 60);
}

INSTANTIATE_TEST_SUITE_P(Swarms, Dawdle, testing::ValuesIn(Swarms()), NameOfParam);

// --- echoes -------------------------------------------------------------------------------------

TEST(LyingEcho, ItsSenderIsDropped) {
  for (const Swarm& swarm : Swarms()) {
    const SimResult result = RunWithoutHarm(OptionsOf(swarm, "lying_echo", {}));
    for (const wire::Removal& removal : result.removals) {
      EXPECT_NE(wire::TextOf(removal.reason).find("echoed"), std::string::npos)
          << wire::TextOf(removal.reason);
    }
    EXPECT_EQ(MembersRemoved(result), swarm.byzantine) << result.replay;
  }
}

// --- what swarm testing found --------------------------------------------------------------------

// A worker withheld its part from an honest owner, and a liar made the seal slow. [The owner's
// excuse did not grow with the seal, but its charge did.]
TEST(FoundSeed, OwnerThatWaitedIsNotChargedForASlowSeal) {
  RunWithoutHarm(Replayed(
      "seed=20140 peers=9 byzantine=3 attack=selective_send attack_from_step=7 liars=1 mode=third "
      "steps=40 validators=2 dimension=168 delay_min_ns=55000000 delay_max_ns=65000000 "
      "jitter_ns=7000000 bytes_per_second=1600000 fsync_max_ns=4000000 loss_permille=4 "
      "stall_permille=2 attack.stubborn=1"));
}

// A cut of 7 s made Delta 28 s for thirty steps. [The grace, which follows Delta, let a member be
// 90 s late in each seal.]
TEST(FoundSeed, OutageGivesNobodyALongGrace) {
  RunWithoutHarm(Replayed(
      "seed=40965 peers=4 byzantine=1 attack=dawdle attack_from_step=4 steps=40 "
      "validators=2 dimension=197 batch_size=17 delay_min_ns=45000000 delay_max_ns=156000000 "
      "jitter_ns=3000000 bytes_per_second=1600000 fsync_max_ns=3000000 duplicate_permille=63 "
      "cut=halves cut_at_ns=1545000000 cut_for_ns=7029000000 attack.turns=1"));
}

// Machines that need longer for a gradient than the run waits: the run goes on without them, and
// they are never taken for cheats. (They come back, as the rules cannot know how fast they are.)
TEST(Stragglers, AreDroppedAndTheLiarIsBanned) {
  for (const bool exact : {false, true}) {
    SimOptions options = OptionsOf({10, 1}, "sign_flip", {});
    options.exact = exact;
    options.steps = 60;
    options.waits.stragglers = 2;
    options.waits.straggler_time = base::Seconds(exact ? 50 : 22);
    const auto result = RunSimulation(options);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_TRUE(result->ok) << result->failure->checker << ": " << result->failure->message << "\n"
                            << result->replay;
    ASSERT_EQ(result->peers.stragglers.size(), 2U);
    for (const base::PeerId& straggler : result->peers.stragglers) {
      const auto of_it = [&](const wire::Removal& removal) { return removal.peer == straggler; };
      EXPECT_TRUE(std::any_of(result->removals.begin(), result->removals.end(), of_it))
          << result->replay;
    }
    EXPECT_EQ(result->byzantine_removed, 1U) << result->replay;
  }
}

}  // namespace
}  // namespace ostraka::sim::slowness_test
