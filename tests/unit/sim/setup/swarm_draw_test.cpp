#include "sim/setup/swarm_draw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "sim/attacks/registry.h"
#include "sim/setup/models.h"

namespace ostraka::sim::swarm_draw_test {
namespace {

SimOptions Base() {
  SimOptions base;
  base.steps = 40;
  return base;
}

TEST(SwarmDrawTest, EveryDrawIsAValidRun) {
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    const SimOptions options = DrawSwarm(seed, Base());
    EXPECT_TRUE(CheckOptions(options).ok()) << FormatOptions(options);
    EXPECT_EQ(options.seed, seed);
    EXPECT_EQ(options.steps, 40U);
    EXPECT_EQ(options, DrawSwarm(seed, Base()));
  }
}

// An option that is never drawn is never tested.
TEST(SwarmDrawTest, EveryOptionIsDrawn) {
  std::set<std::string> attacks;
  std::set<std::string> cuts;
  std::set<std::uint32_t> peers;
  std::set<std::string> turned_on;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    const SimOptions o = DrawSwarm(seed, Base());
    attacks.insert(o.attack);
    cuts.insert(o.cut);
    peers.insert(o.peers);
    for (const auto& [name, value] : o.attack_params) {
      turned_on.insert(o.attack + "." + name + "=" + value);
    }
    if (o.liars > 0) turned_on.insert("liars");
    if (o.loss_permille > 0) turned_on.insert("loss");
    if (o.duplicate_permille > 0) turned_on.insert("duplicates");
    if (o.stall_permille > 0) turned_on.insert("stalls");
    if (o.skew.ns > 0) turned_on.insert("skew");
    if (o.waits.stragglers > 0) turned_on.insert("stragglers");
    if (o.uplink_bytes_per_second > 0) turned_on.insert("uplink");
    if (o.attack == "guest_flood" && o.intruders > 8) turned_on.insert("many guests");
    if (o.drift_ppm > 0) turned_on.insert("drift");
    if (o.crashes > 0) turned_on.insert("crashes");
    if (o.crashes > 0 && o.lose_disk) turned_on.insert("lost disks");
  }
  for (const KnownAttack& attack : KnownAttacks()) {
    EXPECT_TRUE(attacks.contains(attack.name)) << attack.name;
    for (const auto& [name, values] : attack.variants) {
      for (const std::string& value : values) {
        const std::string variant = attack.name + "." + name + "=" + value;
        EXPECT_TRUE(turned_on.contains(variant)) << variant;
      }
    }
  }
  EXPECT_EQ(cuts, (std::set<std::string>{"none", "halves", "one_way", "flapping", "flaky"}));
  EXPECT_EQ(*peers.begin(), 4U);
  EXPECT_EQ(*peers.rbegin(), 32U);
  for (const char* name : {"liars", "loss", "duplicates", "stalls", "skew", "drift", "crashes",
                           "lost disks", "uplink", "many guests", "stragglers"}) {
    EXPECT_TRUE(turned_on.contains(name)) << name;
  }
}

TEST(SwarmDrawTest, AGivenAttackIsKept) {
  SimOptions base = Base();
  base.attack = "equivocate";
  base.attack_params = {{"split", "1"}};
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const SimOptions options = DrawSwarm(seed, base, true);
    EXPECT_EQ(options.attack, "equivocate");
    EXPECT_EQ(options.attack_params, base.attack_params);
    EXPECT_GT(options.byzantine, 0U);
  }
}

// The rules of profile exact/1 are met by random swarms, with the attacks that it is about.
TEST(SwarmDrawTest, SomeSwarmsAreExact) {
  constexpr int kSeeds = 2'000;
  int exact = 0;
  std::set<std::string> wrong_bits;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const SimOptions options = DrawSwarm(seed, Base());
    if (!options.exact) continue;
    ++exact;
    wrong_bits.insert(options.attack);
    const bool coded = options.codecs.parts != protocol::Codec::kRaw;
    if (options.attack == "bit_flip" && !coded) {
      EXPECT_EQ(options.attack_params, (AttackParams{{"bit", "1"}, {"coordinates", "1"}}));
    }
  }
  EXPECT_NEAR(exact, kSeeds / 4, kSeeds / 40);
  for (const char* attack : {"claim_root", "corrupt_state", "slip", "bit_flip"}) {
    EXPECT_TRUE(wrong_bits.contains(attack)) << attack;
  }
}

TEST(SwarmDrawTest, AllSwarmsAreExactIfAsked) {
  SimOptions base = Base();
  base.exact = true;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    EXPECT_TRUE(DrawSwarm(seed, base).exact);
    EXPECT_TRUE(DrawSwarm(seed, base, true).exact);
    // The profile changes the attack at most, and nothing else of the swarm.
    SimOptions as_before = DrawSwarm(seed, Base());
    const SimOptions exact = DrawSwarm(seed, base);
    EXPECT_EQ(exact.peers, as_before.peers);
    EXPECT_EQ(exact.delay_max, as_before.delay_max);
  }
}

TEST(SwarmDrawTest, SomeSmallExactSwarmsTrainTheGpt) {
  SimOptions base = Base();
  base.exact = true;
  int small = 0;
  int gpt = 0;
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    EXPECT_TRUE(DrawSwarm(seed, Base()).model == kToyModel || DrawSwarm(seed, Base()).exact);
    const SimOptions options = DrawSwarm(seed, base);
    small += options.peers < 10 ? 1 : 0;
    if (options.model != kGptModel) continue;
    ++gpt;
    EXPECT_LT(options.peers, 10U);
    EXPECT_TRUE(options.exact);
  }
  EXPECT_NEAR(gpt, small / 8, small / 40);
}

TEST(SwarmDrawTest, AQuarterOfTheExactSwarmsHasLocalSteps) {
  SimOptions base = Base();
  base.exact = true;
  int local = 0;
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    EXPECT_TRUE(DrawSwarm(seed, Base()).inner_steps == 1 || DrawSwarm(seed, Base()).exact);
    const SimOptions options = DrawSwarm(seed, base);
    local += options.inner_steps > 1 ? 1 : 0;
    EXPECT_LE(options.inner_steps, 8u);
  }
  EXPECT_NEAR(local, 500, 100);
  UseLocalSteps(3, base);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    for (const bool only_attack : {false, true}) {
      const SimOptions options = DrawSwarm(seed, base, only_attack);
      EXPECT_EQ(options.inner_steps, 3u);
      EXPECT_TRUE(CheckOptions(options).ok()) << FormatOptions(options);
    }
  }
}

TEST(SwarmDrawTest, AThirdOfTheExactSwarmsHasCounts) {
  SimOptions base = Base();
  base.exact = true;
  int counted = 0;
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    EXPECT_TRUE(DrawSwarm(seed, Base()).most_batches == 1 || DrawSwarm(seed, Base()).exact);
    counted += DrawSwarm(seed, base).most_batches == 2 ? 1 : 0;
  }
  EXPECT_NEAR(counted, 667, 120);
  base.batches = 3;
  base.most_batches = 5;
  EXPECT_EQ(DrawSwarm(7, base).most_batches, 5u);
  EXPECT_TRUE(CheckOptions(DrawSwarm(7, base)).ok());
}

TEST(SwarmDrawTest, HalfOfTheExactSwarmsHasCodecs) {
  SimOptions base = Base();
  base.exact = true;
  int coded = 0;
  std::set<protocol::Codec> parts;
  std::set<protocol::Codec> results;
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    const SimOptions plain = DrawSwarm(seed, Base());
    EXPECT_TRUE(plain.codecs == protocol::Codecs{} || plain.exact);
    const SimOptions options = DrawSwarm(seed, base);
    coded += options.codecs == protocol::Codecs{} ? 0 : 1;
    parts.insert(options.codecs.parts);
    results.insert(options.codecs.results);
  }
  EXPECT_NEAR(coded, 1000, 150);
  EXPECT_EQ(parts.size(), 3u);
  EXPECT_EQ(results.size(), 2u);
  base.codecs = {protocol::Codec::kI8, protocol::Codec::kI16};
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    for (const bool only_attack : {false, true}) {
      const SimOptions options = DrawSwarm(seed, base, only_attack);
      EXPECT_EQ(options.codecs, base.codecs);
      EXPECT_TRUE(CheckOptions(options).ok()) << FormatOptions(options);
    }
  }
}

TEST(SwarmDrawTest, AllSwarmsTrainTheGptIfAsked) {
  SimOptions base = Base();
  UseTinyGpt(base);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    for (const bool only_attack : {false, true}) {
      const SimOptions options = DrawSwarm(seed, base, only_attack);
      EXPECT_EQ(options.model, kGptModel);
      EXPECT_TRUE(CheckOptions(options).ok()) << FormatOptions(options);
    }
  }
}

}  // namespace
}  // namespace ostraka::sim::swarm_draw_test
