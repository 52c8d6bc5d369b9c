// Counts of batches against the real protocol: machines of different speeds train together, nobody
// honest pays for it, and who averages fewer batches than it said is banned.
#include <gtest/gtest.h>

#include "sim/run/cluster.h"

namespace ostraka::sim::counts_scenario_test {
namespace {

// Machines between `fastest_percent` and all of 4 s a batch.
SimOptions Uneven(std::uint32_t most_batches, std::uint32_t fastest_percent) {
  SimOptions options;
  options.seed = 5;
  options.peers = 8;
  options.exact = true;
  options.steps = 60;
  options.most_batches = most_batches;
  options.waits.gradient_time = base::Seconds(4);
  options.waits.fastest_percent = fastest_percent;
  return options;
}

SimResult ResultOf(const SimOptions& options) {
  const auto result = RunSimulation(options);
  EXPECT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->ok) << result->failure->checker << ": " << result->failure->message << "\n"
                          << result->replay;
  return *result;
}

// Attack on the design: a slow validator needs twice its own time for a fast worker's batches, and
// was charged for it until it was dropped.
TEST(Counts, FastMachinesAverageMoreAndNobodyPays) {
  const SimResult even = ResultOf(Uneven(1, 20));
  const SimResult counts = ResultOf(Uneven(2, 20));
  EXPECT_TRUE(counts.removals.empty());
  EXPECT_EQ(counts.honest_late_ms, 0U);
  EXPECT_GT(counts.batches, even.batches * 5 / 4);
  EXPECT_LT(counts.virtual_time.ns, even.virtual_time.ns * 5 / 4);
}

// Two of eight machines are less than half as fast as the others. A swarm of equal machines that
// are together as fast does more in a second: a slow validator computes two batches of a fast
// worker.
TEST(Counts, TwoSlowMachinesCostNobodyHisPlace) {
  SimOptions options = Uneven(2, 41);
  options.steps = 300;
  options.waits.slowest = 2;
  const SimResult uneven = ResultOf(options);
  EXPECT_TRUE(uneven.removals.empty());
  EXPECT_EQ(uneven.honest_late_ms, 0U);
  options.steps = 60;
  options.waits = {};
  options.waits.gradient_time = base::Milliseconds(1924);  // 4 s x 8 / (6 / 0.41 + 2)
  options.most_batches = 1;
  const SimResult even = ResultOf(options);
  const auto pace = [](const SimResult& result) {
    return static_cast<double>(result.batches) / result.virtual_time.seconds();
  };
  EXPECT_GT(pace(uneven), 0.7 * pace(even));
  EXPECT_LT(pace(uneven), pace(even));
}

TEST(Counts, WhereAllMachinesAreSlowNobodyAveragesMore) {
  SimOptions options = Uneven(2, 100);
  options.steps = 20;
  const SimResult counts = ResultOf(options);
  options.most_batches = 1;
  EXPECT_EQ(counts.batches, ResultOf(options).batches);
}

TEST(Counts, FewerBatchesThanSaidAreABan) {
  SimOptions options = Uneven(2, 0);
  options.waits.gradient_time = {};  // so all average two
  options.byzantine = 3;
  options.steps = 80;
  options.attack = "other_steps";
  options.attack_params = {{"how", "5"}};
  options.attack_from_step = 10;
  const SimResult result = ResultOf(options);
  EXPECT_EQ(result.byzantine_removed, 3U);
  EXPECT_EQ(result.honest_removed, 0U);
}

}  // namespace
}  // namespace ostraka::sim::counts_scenario_test
