#include "sim/setup/swarm_draw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "sim/attacks/registry.h"

namespace ostraka::sim {
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
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
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
  for (const char* name :
       {"liars", "loss", "duplicates", "stalls", "skew", "drift", "crashes", "lost disks"}) {
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

}  // namespace
}  // namespace ostraka::sim
