// What members recompute for others costs no honest member its place, however long gradients take
// and however machines differ (docs/decisions/0032).
#include <gtest/gtest.h>

#include <string>

#include "sim/run/cluster.h"
#include "tests/scenario/attack_runs.h"

namespace ostraka::sim::recomputing_test {
namespace {

void ExpectNoHarm(const SimOptions& options) {
  const auto result = RunSimulation(options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(result->ok) << result->failure->checker << ": " << result->failure->message << "\n"
                          << result->replay;
  EXPECT_EQ(result->honest_removed, 0U) << result->replay;
}

SimOptions Under(const std::string& attack, std::uint32_t peers, std::uint32_t byzantine,
                 std::uint64_t seed) {
  SimOptions options;
  options.seed = seed;
  options.attack = attack;
  options.peers = peers;
  options.byzantine = byzantine;
  options.steps = 40;
  options.await_removal = false;  // a run may end before a validator is drawn
  return options;
}

// Attack: looks into a lie kept the own gradients of honest voters waiting.
TEST(Recomputing, ALieInProfileExactMakesNobodyLate) {
  for (const std::uint64_t seed : FirstOf({880'410, 880'411, 880'413})) {
    SimOptions options = Under("sign_flip", 8, 3, seed);
    options.exact = true;
    options.waits.gradient_time = base::Milliseconds(9'900);
    ExpectNoHarm(options);
  }
}

TEST(Recomputing, NorDoesASlipWhoseOtherStepsAreTrue) {
  SimOptions options = Under("slip", 8, 1, 880'412);
  options.attack_params["steps"] = "2";
  options.exact = true;
  options.waits.gradient_time = base::Milliseconds(9'900);
  ExpectNoHarm(options);
}

// Attack: each PROOF waited for the votes in all cases, and slower machines were charged for it.
TEST(Recomputing, ManyCasesChargeNoSlowerMachine) {
  for (const char* attack : {"sign_flip", "false_accuse"}) {
    for (const auto mode : {protocol::Mode::kThird, protocol::Mode::kChecked}) {
      SimOptions options = Under(attack, 16, 5, 880'400);
      options.mode = mode;
      options.validators = 5;
      options.waits.gradient_time = base::Milliseconds(7'200);
      options.waits.fastest_percent = 32;
      ExpectNoHarm(options);
      options.exact = true;
      options.waits.again_percent = 140;
      ExpectNoHarm(options);
    }
  }
}

// Attack: where a vote had half of the wait, whoever is in time for owners with more never voted,
// as what gives way to the next gradient begins anew. The accuser was dropped, and the liar stayed.
TEST(Recomputing, WhoeverIsInTimeForOwnersVotes) {
  for (const std::uint64_t seed : FirstOf({881'001, 881'015, 881'020})) {
    SimOptions options = Under("sign_flip", 8, 1, seed);
    options.attack_from_step = 60;  // the wait is at its floor
    options.steps = 110;
    options.waits.fastest_percent = 100;  // and the patience is a manifest's
    const bool lan = seed != 881'020;
    options.waits.gradient_time = base::Milliseconds(lan ? 8'000 : 7'500);
    options.waits.part_floor = base::Milliseconds(lan ? 9'900 : 8'500);
    options.waits.delta = base::Milliseconds(lan ? 200 : 1'000);
    ExpectNoHarm(options);
  }
}

// Swarm seed 6091: three newcomers of eight members, admitted by the block of the accused step,
// counted among those that know of it. Nobody could decide the case, and its accuser was dropped.
TEST(Recomputing, NewcomersDoNotLeaveAnHonestAccuserWithoutAMajority) {
  const auto options = ParseOptions(
      "seed=6091 peers=5 byzantine=1 attack=anti_cge attack_from_step=4 comes=3 intruders=1 "
      "await_removal=0 mode=balanced steps=40 validators=1 dimension=175 batch_size=6 "
      "delay_min_ns=6000000 delay_max_ns=10000000 jitter_ns=7000000 bytes_per_second=12800000 "
      "fsync_max_ns=1000000 duplicate_permille=2 skew_ns=31114000000 drift_ppm=225 "
      "part_floor_ns=6387000000 gradient_time_ns=785000000 fastest_percent=50");
  ASSERT_TRUE(options.ok()) << options.status().message();
  ExpectNoHarm(*options);
}

}  // namespace
}  // namespace ostraka::sim::recomputing_test
