#include "sim/report/history.h"

#include <gtest/gtest.h>

namespace ostraka::sim::history_test {
namespace {

SimOptions Attacked() {
  SimOptions options;
  options.peers = 8;
  options.byzantine = 3;
  options.attack = "equivocate";
  options.attack_from_step = 3;
  options.dimension = 64;
  options.steps = 12;
  return options;
}

RunAndHistory Watched(const SimOptions& options) {
  auto run = RunWithHistory(options);
  EXPECT_TRUE(run.ok()) << run.status().message();
  return *std::move(run);
}

TEST(HistoryTest, TheRunIsTheOneThatNobodyObserves) {
  const RunAndHistory run = Watched(Attacked());
  const auto alone = RunSimulation(Attacked());
  ASSERT_TRUE(alone.ok());
  EXPECT_EQ(run.result.trace_digest, alone->trace_digest);
  EXPECT_EQ(run.history.rows.back().loss, alone->loss);
}

TEST(HistoryTest, MembersAreThoseAfterTheBlockOfTheStep) {
  const RunAndHistory run = Watched(Attacked());
  ASSERT_EQ(run.result.removals.size(), 3U);
  const std::uint64_t banned_in = run.result.removals.front().step;
  EXPECT_EQ(banned_in, 3U);
  // Ten steps follow the one that bans. The step that closes the run removed nobody.
  ASSERT_EQ(run.history.rows.size(), banned_in + 1 + 10);
  for (std::size_t i = 0; i < run.history.rows.size(); ++i) {
    const History::Row& row = run.history.rows[i];
    EXPECT_EQ(row.step, i);
    EXPECT_EQ(row.honest, 5U);
    EXPECT_EQ(row.byzantine, row.step < banned_in ? 3U : 0U) << "step " << row.step;
  }
  EXPECT_TRUE(run.history.returns.empty());
}

TEST(HistoryTest, ReturnsAreOfDroppedMembers) {
  SimOptions options = Attacked();
  options.attack = "none";
  options.byzantine = 0;
  options.crashes = 3;
  options.lose_disk = true;
  options.steps = 60;
  const RunAndHistory run = Watched(options);
  ASSERT_EQ(run.history.returns.size(), run.result.returned.size());
  ASSERT_FALSE(run.history.returns.empty());
  for (const History::Return& one : run.history.returns) {
    bool was_dropped = false;
    for (const wire::Removal& removal : run.result.removals) {
      was_dropped = was_dropped || (removal.peer == run.roster.ids[one.peer] &&
                                    !wire::IsBan(removal.kind) && removal.step < one.step);
    }
    EXPECT_TRUE(was_dropped) << "peer " << one.peer << ", step " << one.step;
  }
}

TEST(HistoryTest, AnUnprotectedRunHasOneToo) {
  SimOptions options = Attacked();
  options.attack = "sign_flip";
  options.unprotected = true;
  const RunAndHistory run = Watched(options);
  ASSERT_GE(run.history.rows.size(), 12U);
  for (const History::Row& row : run.history.rows) EXPECT_EQ(row.byzantine, 3U);
  EXPECT_FALSE(run.history.rows.back().loss < run.history.rows.front().loss);
}

TEST(HistoryTest, RefusesWhatASimulationRefuses) {
  SimOptions options = Attacked();
  options.cut = "sideways";
  EXPECT_EQ(RunWithHistory(options).status().code(), RunSimulation(options).status().code());
  EXPECT_FALSE(RunWithHistory(options).ok());
}

}  // namespace
}  // namespace ostraka::sim::history_test
