// Every attack on gradients against the real protocol, with as many attackers as the mode bears:
// all are removed, no honest member is, all honest peers agree, and training reaches the loss of a
// run without an attack. (The simulator's checkers watch the first three in every step.)
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>

#include "sim/run/cluster.h"
#include "tests/scenario/attack_runs.h"

namespace ostraka::sim::gradient_attacks_test {
namespace {

struct Size {
  std::uint32_t peers = 0;
  std::uint32_t byzantine = 0;
  std::uint64_t steps = 0;
};

class GradientAttack : public testing::TestWithParam<std::tuple<std::string, Size>> {
 protected:
  static SimOptions Options() {
    const auto& [attack, size] = GetParam();
    SimOptions options;
    options.peers = size.peers;
    options.byzantine = size.byzantine;
    options.steps = size.steps;
    options.attack = attack;
    options.dimension = 1000;
    return options;
  }

  // The loss of an equal run without attackers; computed once for each size.
  static double HonestLoss(SimOptions options) {
    static std::map<std::uint32_t, double> known;
    options.attack = "none";
    options.byzantine = 0;
    const auto [loss, is_new] = known.try_emplace(options.peers);
    if (is_new) {
      const auto honest = RunSimulation(options);
      EXPECT_TRUE(honest.ok() && honest->ok);
      loss->second = honest->loss;
    }
    return loss->second;
  }
};

TEST_P(GradientAttack, RemovesTheAttackersAndTrainsTheModel) {
  const SimOptions options = Options();
  const auto attacked = RunSimulation(options);
  ASSERT_TRUE(attacked.ok()) << attacked.status().message();
  ASSERT_TRUE(attacked->ok) << attacked->failure->checker << ": " << attacked->failure->message
                            << "\n"
                            << attacked->replay;
  EXPECT_EQ(attacked->byzantine_removed, options.byzantine);
  EXPECT_EQ(attacked->honest_removed, 0U);
  for (const wire::Removal& removal : attacked->removals) {
    EXPECT_EQ(removal.kind, wire::RemovalKind::kVerdict);
  }

  // The attackers' batches are missing and their steps were disturbed.
  EXPECT_LT(attacked->loss, 1.5 * HonestLoss(options));
}

std::string NameOf(const testing::TestParamInfo<GradientAttack::ParamType>& info) {
  return std::get<0>(info.param) + "_" + std::to_string(std::get<1>(info.param).peers);
}

INSTANTIATE_TEST_SUITE_P(
    AllAttacks, GradientAttack,
    testing::Combine(testing::Values("sign_flip", "random_direction", "label_flip", "alie", "ipm"),
                     testing::ValuesIn(FirstOf({Size{8, 3, 150}, Size{16, 7, 200}}))),
    NameOf);

// One of each other kind in aggregation/attacks/attacks.h: with memory, drawn, searched.
INSTANTIATE_TEST_SUITE_P(MoreAttacks, GradientAttack,
                         testing::Combine(testing::Values("bit_flip", "delayed", "fang", "gaussian",
                                                          "huge", "mimic", "min_max", "opt_alie",
                                                          "rop"),
                                          testing::Values(Size{8, 3, 150})),
                         NameOf);

// --- the exact profile
// ----------------------------------------------------------------------------

// The lowest bit of one number of each false gradient.
SimResult FlipOneBit(bool exact) {
  SimOptions options;
  options.peers = 8;
  options.byzantine = 3;
  options.steps = 150;
  options.attack = "bit_flip";
  options.attack_params = {{"coordinates", "1"}, {"bit", "1"}};
  options.exact = exact;
  options.await_removal = exact;
  const auto result = RunSimulation(options);
  EXPECT_TRUE(result.ok() && result->ok);
  EXPECT_EQ(result->honest_removed, 0U);
  return *result;
}

TEST(ExactProfile, OneBitIsABan) {
  const SimResult result = FlipOneBit(true);
  EXPECT_EQ(result.byzantine_removed, 3U);
  for (const wire::Removal& removal : result.removals) {
    EXPECT_EQ(removal.kind, wire::RemovalKind::kVerdict);
  }
}

// --- a wrong bit is not a lie

SimOptions WrongBits(const std::string& attack, std::map<std::string, std::string> params = {}) {
  SimOptions options;
  options.peers = 8;
  options.byzantine = 1;
  options.steps = 80;
  options.attack = attack;
  options.attack_from_step = 10;
  options.attack_params = {params.begin(), params.end()};
  options.exact = true;
  return options;
}

// How often the run removed the attacker by drops and by bans, over some seeds.
struct Ends {
  std::size_t drops = 0, bans = 0;
};
std::uint64_t Runs() { return InSoak() ? 6 : 2; }
Ends EndsOf(SimOptions options) {
  Ends ends;
  for (options.seed = 1; options.seed <= Runs(); ++options.seed) {
    const auto result = RunSimulation(options);
    EXPECT_TRUE(result.ok()) << result.status().message();
    EXPECT_TRUE(result->ok) << result->failure->checker << ": " << result->failure->message;
    EXPECT_EQ(result->honest_removed, 0U);
    for (const wire::Removal& removal : result->removals) {
      ++(wire::IsBan(removal.kind) ? ends.bans : ends.drops);
    }
  }
  return ends;
}

TEST(ExactProfile, OneWrongBitIsNoBan) {
  SimOptions options = WrongBits("slip");
  options.validators = 3;
  const Ends ends = EndsOf(options);
  if (InSoak()) {
    EXPECT_GT(ends.drops, 0U) << "it was found at times";
  }
  EXPECT_EQ(ends.bans, 0U);
}

TEST(ExactProfile, WrongBitsStepAfterStepAreABan) {
  const Ends ends = EndsOf(WrongBits("slip", {{"steps", "1000"}}));
  EXPECT_EQ(ends.bans, Runs());
  EXPECT_EQ(ends.drops, 0U);
}

// Between false gradients it works honestly for a while: its voters look four steps back.
TEST(ExactProfile, EverySecondOrFourthStepIsABanToo) {
  for (const char* every : {"2", "4"}) {
    SimOptions options = WrongBits("slip", {{"steps", "1000"}, {"every", every}});
    options.validators = 3;
    options.steps = 120;
    const Ends ends = EndsOf(options);
    EXPECT_GE(ends.bans, Runs() * 2 / 3) << every;
    EXPECT_LE(ends.drops, 1U) << every << ": found at its first lie";
  }
}

// The looks of its voters find no second lie, so the first find suspends it: once a key.
TEST(ExactProfile, OneLieInSixStepsIsASuspension) {
  SimOptions options = WrongBits("slip", {{"steps", "1000"}, {"every", "6"}});
  options.steps = 120;
  const Ends ends = EndsOf(options);
  EXPECT_GE(ends.drops, Runs() * 2 / 3);
  EXPECT_EQ(ends.bans, 0U);
}

// Not the gradient, but a part after it was sent, or the check of another member's numbers.
TEST(ExactProfile, AWrongBitInAPartOrInACheckIsNoBan) {
  for (const char* where : {"1", "2"}) {
    SimOptions options = WrongBits("slip", {{"where", where}});
    const Ends ends = EndsOf(options);
    EXPECT_EQ(ends.drops, Runs()) << where << ": found in the next step";
    EXPECT_EQ(ends.bans, 0U) << where;
    options.exact = false;
    EXPECT_EQ(EndsOf(options).bans, Runs()) << where << ": no excuse where noise is tolerated";
  }
}

// True gradients, and numbers that hide a false aggregate step after step: a validator finds them,
// and the voters find them in the steps around as well.
TEST(ExactProfile, FalseNumbersStepAfterStepAreABan) {
  SimOptions options = WrongBits("cover_up", {{"show", "0"}});
  options.byzantine = 3;
  options.validators = 2;
  std::size_t bans = 0;
  for (options.seed = 1; options.seed <= SeedsUpTo(4); ++options.seed) {
    const auto result = RunSimulation(options);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_TRUE(result->ok) << result->failure->checker << ": " << result->failure->message;
    EXPECT_EQ(result->honest_removed, 0U);
    for (const wire::Removal& removal : result->removals) {
      EXPECT_EQ(wire::TextOf(removal.reason).find("a first fault"), std::string::npos)
          << wire::TextOf(removal.reason);
      bans += wire::IsBan(removal.kind) ? 1 : 0;
    }
  }
  EXPECT_GE(bans, InSoak() ? 6U : 1U);
}

TEST(ExactProfile, CorruptStateIsNoBanAndComesBack) {
  const SimOptions options = WrongBits("corrupt_state");
  const Ends ends = EndsOf(options);
  EXPECT_EQ(ends.drops, Runs());
  EXPECT_EQ(ends.bans, 0U);
}

TEST(ExactProfile, ClaimedRootsAreWorthNoMoreThanSilence) {
  SimOptions options = WrongBits("claim_root");
  options.byzantine = 3;
  const Ends ends = EndsOf(options);
  EXPECT_GE(ends.drops, 3 * Runs()) << "each loses its place";
  EXPECT_LE(ends.drops, 6 * Runs()) << "the second time for a thousand steps";
  EXPECT_EQ(ends.bans, 0U);
}

TEST(ExactProfile, WithoutItOneBitIsWithinTheNoise) {
  EXPECT_TRUE(FlipOneBit(false).removals.empty());
}

TEST(ExactProfile, HonestMembersAreNotAccusedThroughCrashesAndVoidColumns) {
  SimOptions options;
  options.peers = 11;
  options.byzantine = 2;
  options.steps = 80;
  options.attack = "void_columns";
  options.crashes = 4;
  options.validators = 2;
  options.exact = true;
  const auto result = RunSimulation(options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(result->ok) << result->failure->checker << ": " << result->failure->message;
  EXPECT_EQ(result->honest_removed, 0U);
}

}  // namespace
}  // namespace ostraka::sim::gradient_attacks_test
