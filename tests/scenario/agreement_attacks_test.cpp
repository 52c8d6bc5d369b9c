// Attacks on agreement and on what seals wait for, in a timely network and with no more faults than
// the mode bears: nobody honest is removed, no two honest members decide differently, and every
// honest member comes to the end. (The checkers watch all of it in every step.)
#include <gtest/gtest.h>

#include <string>

#include "sim/adversary/registry.h"
#include "sim/cluster.h"

namespace ostraka::sim {
namespace {

SimOptions Attack(const std::string& attack, std::uint32_t peers, std::uint32_t byzantine) {
  SimOptions options;
  options.attack = attack;
  options.peers = peers;
  options.byzantine = byzantine;
  options.steps = 12;
  options.dimension = 64;
  return options;
}

void ExpectHarmless(SimOptions options, std::uint64_t seeds) {
  for (options.seed = 1; options.seed <= seeds; ++options.seed) {
    const auto result = RunSimulation(options);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_TRUE(result->ok) << result->failure->checker << ": " << result->failure->message << "\n"
                            << result->replay;
    EXPECT_EQ(result->honest_removed, 0U) << result->replay;
    EXPECT_GT(result->misdeeds, 0U) << "nobody attacked: " << result->replay;
  }
}

// One cheat is enough, if its own proof ends the wait of some and not of others.
TEST(AgreementAttack, AnUnreadableEchoForSomeRemovesNobodyHonest) {
  ExpectHarmless(Attack("split_echo", 8, 1), 6);
  ExpectHarmless(Attack("split_echo", 8, 3), 6);
  ExpectHarmless(Attack("split_echo", 16, 7), 2);
}

// Two groups an iteration apart, each a quorum with the colluders: at c9c7fb4 two decisions in half
// of the seeds, by which of its members led those iterations.
TEST(AgreementAttack, TwoHalvesAnIterationApartDecideTheSame) {
  ExpectHarmless(Attack("fork", 8, 3), 8);
  SimOptions quicker = Attack("fork", 8, 3);
  quicker.delay_max = base::Milliseconds(20);
  ExpectHarmless(quicker, 4);
  for (const char* after : {"29", "31", "32"}) {
    SimOptions options = Attack("fork", 8, 3);
    options.attack_params["after"] = after;
    ExpectHarmless(options, 4);
  }
}

// Who begins alone seals the others absent before they have said a word.
TEST(AgreementAttack, AGenesisThatSomeDoNotSeeRemovesNobodyHonest) {
  ExpectHarmless(Attack("split_genesis", 8, 3), 4);
  ExpectHarmless(Attack("split_genesis", 16, 7), 2);
}

// At most three deadlines for each place of a colluder (and one that it came back to): it is in
// time, so it is no fault of others that they wait.
TEST(AgreementAttack, WhoHoldsBackToTheLastMomentIsPaidForOnce) {
  for (const std::uint32_t byzantine : {1U, 3U}) {
    SimOptions options = Attack("hold_back", 8, byzantine);
    const auto held = RunSimulation(options);
    ASSERT_TRUE(held.ok());
    EXPECT_TRUE(held->ok) << held->failure->message;
    EXPECT_EQ(held->honest_removed, 0U);
    EXPECT_GT(held->misdeeds, 0U);
    options.attack = "none";
    const auto honest = RunSimulation(options);
    ASSERT_TRUE(honest.ok());
    const double deadline = 2 * 20 + 2 * 1;  // 2 P + 2 Delta, as the manifest says
    // Only the first colluder holds anything back.
    EXPECT_LE(held->virtual_time.seconds(), honest->virtual_time.seconds() + 3 * 2 * deadline);
  }
}

}  // namespace
}  // namespace ostraka::sim
