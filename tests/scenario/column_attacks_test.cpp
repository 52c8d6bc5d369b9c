// Attacks of aggregators and their colluders on a column: make it large, or make it void. Each ends
// as sim/attacks/registry.h says, and costs the model next to nothing (docs/protocol/checks.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sim/run/cluster.h"
#include "tests/scenario/attack_runs.h"

namespace ostraka::sim::column_attacks_test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

SimOptions OptionsOf(Swarm size, const std::string& attack, const AttackParams& params,
                     std::uint64_t seed = 1) {
  SimOptions options;
  options.seed = seed;
  options.peers = size.peers;
  options.byzantine = size.byzantine;
  options.attack = attack;
  options.attack_params = params;
  options.attack_from_step = 10;
  options.steps = 100;
  options.dimension = 200;
  options.await_removal = false;
  return options;
}

double HonestLoss(Swarm size) {
  static std::map<std::uint32_t, double> losses;
  const auto [place, is_new] = losses.try_emplace(size.peers);
  if (is_new) place->second = RunWithoutHarm(OptionsOf({size.peers, 0}, "none", {})).loss;
  return place->second;
}

std::uint64_t Voids(const SimResult& result) {
  std::uint64_t voids = 0;
  for (const auto& [fate, count] : result.columns) voids += fate == "applied" ? 0 : count;
  return voids;
}

// --- too large ----------------------------------------------------------------------------------

// In `make soak` swarms with three of eight meet all values. The others meet some, to limit the
// time of the test.
std::vector<std::string> Some(Swarm size, const std::vector<std::string>& all,
                              const std::vector<std::string>& some) {
  return InSoak() && size.peers == 8 && size.byzantine == 3 ? all : some;
}

class LargeTest : public testing::TestWithParam<Swarm> {};

TEST_P(LargeTest, WrongAggregateOfAnyScaleDoesNoHarm) {
  for (const std::string& scale :
       Some(GetParam(), {"1", "1e2", "1e4", "1e6", "1e8", "1e16", "1e30", "-1e8"},
            {"1e2", "1e30"})) {
    for (const char* one : {"0", "1"}) {
      const SimResult result = RunWithoutHarm(
          OptionsOf(GetParam(), "wrong_aggregate", {{"scale", scale}, {"one", one}}));
      EXPECT_EQ(MembersRemoved(result), GetParam().byzantine) << scale << " in one: " << one;
      EXPECT_LT(result.loss, 1.1 * HonestLoss(GetParam())) << scale << " in one: " << one;
    }
  }
}

// The shift begins below what any check can see, and grows.
TEST_P(LargeTest, SlowlyGrowingWrongAggregateDoesNoHarm) {
  for (const char* ramp : {"2", "10"}) {
    const SimResult result = RunWithoutHarm(
        OptionsOf(GetParam(), "wrong_aggregate", {{"scale", "1e-6"}, {"ramp", ramp}}));
    EXPECT_EQ(MembersRemoved(result), GetParam().byzantine) << ramp;
    EXPECT_LT(result.loss, 1.1 * HonestLoss(GetParam())) << ramp;
  }
}

// Colluders state sums and sizes that hide it, or send shifted parts themselves.
TEST_P(LargeTest, WrongAggregateCoveredByColludersDoesNoHarm) {
  for (const char* cover : {"1", "2"}) {
    for (const std::string& scale :
         Some(GetParam(), {"0.5", "1", "1e4", "1e8", "1e30"}, {"1", "1e8"})) {
      const SimResult result = RunWithoutHarm(
          OptionsOf(GetParam(), "wrong_aggregate", {{"scale", scale}, {"cover", cover}}));
      EXPECT_LT(result.loss, 1.1 * HonestLoss(GetParam())) << scale << " cover " << cover;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Swarms, LargeTest, testing::ValuesIn(Swarms()), NameOfParam);

TEST(SizeAttack, OwnerOfAnAggregateLargerThanItsRowsIsDropped) {
  const SimResult result = RunWithoutHarm(OptionsOf({8, 1}, "wrong_aggregate", {{"scale", "1e8"}}));
  ASSERT_FALSE(result.removals.empty());
  EXPECT_THAT(wire::TextOf(result.removals[0].reason),
              HasSubstr("failed the size check and it named nobody"));
  EXPECT_FALSE(result.columns.contains("blind"));
}

TEST(SizeAttack, WorkerThatStatesAFalseSizeIsNamedAndBannedByVerdict) {
  for (const char* scale : FirstOf({"1e-6", "0.5", "1e6"})) {
    const SimResult result = RunWithoutHarm(OptionsOf({8, 3}, "false_size", {{"scale", scale}}));
    EXPECT_EQ(MembersRemoved(result), 3U) << scale;
    for (const wire::Removal& removal : result.removals) {
      EXPECT_EQ(removal.kind, wire::RemovalKind::kVerdict) << wire::TextOf(removal.reason);
      EXPECT_THAT(wire::TextOf(removal.reason),
                  AnyOf(HasSubstr("do not follow from what it sent: named by"),
                        HasSubstr("does not follow from its batch")));
    }
    EXPECT_LT(result.loss, 1.1 * HonestLoss({8, 3}));
  }
}

// --- void ---------------------------------------------------------------------------------------

class VoidTest : public testing::TestWithParam<std::tuple<int, Swarm>> {};

TEST_P(VoidTest, OwnerIsDroppedAtItsThirdVoidColumn) {
  const auto [kind, size] = GetParam();
  for (const char* content : {"0", "1"}) {
    const SimResult result = RunWithoutHarm(
        OptionsOf(size, "void_columns", {{"kind", std::to_string(kind)}, {"content", content}}));
    EXPECT_EQ(MembersRemoved(result), size.byzantine) << "content " << content;
    // Each attacker is dropped, comes back, and is dropped again. Each drop costs up to three
    // columns that it voids by its own message; or two, and the columns of the step that fails the
    // sum check and of the next; and a member that has just come back may void one with the part
    // that it lacks.
    EXPECT_LE(Voids(result), 2 * 4 * size.byzantine)
        << "content " << content << ": " << testing::PrintToString(result.columns);
    for (const wire::Removal& removal : result.removals) {
      EXPECT_EQ(removal.kind, wire::RemovalKind::kDrop) << wire::TextOf(removal.reason);
      // After a colluder is gone fewer senders are enough, and then the sum lacks the attacker's
      // own part.
      EXPECT_THAT(wire::TextOf(removal.reason),
                  AnyOf(HasSubstr("columns by its own word"), HasSubstr("failed the sum check")));
    }
    // Over 100 steps. The steps in which columns rest have the largest learning rates.
    EXPECT_LT(result.loss, 1.2 * HonestLoss(size)) << "content " << content;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, VoidTest,
                         testing::Combine(testing::Range(0, 4), testing::ValuesIn(Swarms())),
                         [](const auto& instance) {
                           return "Kind" + std::to_string(std::get<0>(instance.param)) + "Of" +
                                  NameOf(std::get<1>(instance.param));
                         });

// Pairs pay with disputes: t_s for a member in each of its two roles.
TEST(VoidAttack, ColumnsVoidedByPairsAreBounded) {
  for (const auto& [attack, params] :
       std::vector<std::pair<std::string, AttackParams>>{{"false_complaint", {{"kind", "0"}}},
                                                         {"false_complaint", {{"kind", "2"}}},
                                                         {"selective_bitmap", {}},
                                                         {"selective_send", {{"rotate", "1"}}}}) {
    const SimResult result = RunWithoutHarm(OptionsOf({8, 3}, attack, params));
    EXPECT_LE(Voids(result), 2 * 3 * 3U) << attack;
    EXPECT_LT(result.loss, 1.1 * HonestLoss({8, 3})) << attack;
  }
}

// The first radius is the manifest's. Columns that are blind beside it are so in step 0 only.
TEST(BlindColumns, OccurInTheFirstStepAtMost) {
  for (std::uint64_t seed = 1; seed <= SeedsUpTo(3); ++seed) {
    const SimResult result = RunWithoutHarm(OptionsOf({8, 0}, "none", {}, seed));
    const auto blind = result.columns.find("blind");
    const std::uint64_t count = blind == result.columns.end() ? 0 : blind->second;
    std::printf("seed %d: %d blind columns\n", static_cast<int>(seed), static_cast<int>(count));
    EXPECT_LE(count, 7U);
  }
}

// An attacker that only dials owns no column, so it has no complaint to make; what it is shown for
// a dispute of others is none. [It was awaited as removed.]
TEST(FalseComplaint, WhoOnlyDialsComplainsOfNobodyByAPart) {
  RunWithoutHarm(Replayed(
      "seed=5103 peers=9 byzantine=3 attack=false_complaint attack_from_step=7 liars=1 nat=5 "
      "mode=balanced steps=40 dimension=150 batch_size=31 delay_min_ns=3000000 "
      "delay_max_ns=8666666 jitter_ns=5000000 bytes_per_second=100000 fsync_max_ns=8000000 "
      "skew_ns=57131000000"));
}

}  // namespace
}  // namespace ostraka::sim::column_attacks_test
