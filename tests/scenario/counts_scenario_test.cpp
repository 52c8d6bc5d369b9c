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
