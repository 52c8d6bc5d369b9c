// Those that come, go or are away as a weapon (docs/simulation.md, "who comes or goes as a weapon";
// docs/decisions/0027).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/engine/checker.h"
#include "tests/scenario/attack_runs.h"

namespace ostraka::sim::comers_and_goers_test {
namespace {

SimOptions Under(const std::string& attack, const Swarm& swarm, std::uint64_t seed) {
  SimOptions options;
  options.seed = seed;
  options.attack = attack;
  options.peers = swarm.peers;
  options.byzantine = swarm.byzantine;
  options.attack_from_step = 5;
  options.steps = 60;
  options.dimension = 200;
  return options;
}

// What blocks say of the run, as an honest peer sees them.
class BlockWatch final : public StepObserver {
 public:
  void OnStep(const StepRecord& record) override {
    for (const protocol::Action& action : record.actions) {
      const auto* done = Observed<protocol::StepDone>(action);
      if (done == nullptr || HeightOf(*done->block) <= height_) continue;
      height_ = HeightOf(*done->block);
      most_bytes_ = std::max(most_bytes_, wire::EncodeBlock(*done->block).size());
      departures_ += done->block->left.size();
      arrivals_ += done->block->joined.size();
    }
  }
  std::size_t most_bytes() const { return most_bytes_; }
  std::size_t departures() const { return departures_; }
  std::size_t arrivals() const { return arrivals_; }

 private:
  std::uint64_t height_ = 0;
  std::size_t most_bytes_ = 0;
  std::size_t departures_ = 0;
  std::size_t arrivals_ = 0;
};

SimResult WatchWithoutHarm(const SimOptions& options, BlockWatch& watch) {
  auto result = RunSimulation(options, {}, &watch);
  EXPECT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(result->ok) << result->failure->checker << ": " << result->failure->message << "\n"
                          << result->replay;
  EXPECT_EQ(result->honest_removed, 0U) << result->replay;
  return std::move(result).value();
}

void ExpectNoVoidColumn(const SimResult& result) {
  EXPECT_EQ(result.columns.size(), 1U) << result.replay;
  EXPECT_TRUE(result.columns.contains("applied")) << result.replay;
}

// --- leave_reroll --------------------------------------------------------------------------------

class LeaveReroll : public testing::TestWithParam<Swarm> {};

// Checker "rerolls": the owners among those that stay are in one order, whoever leaves.
TEST_P(LeaveReroll, GivesNobodyAnotherPlace) {
  for (const char* every : {"1", "4"}) {
    SimOptions options = Under("leave_reroll", GetParam(), 3);
    options.attack_params["every"] = every;
    BlockWatch watch;
    const SimResult result = WatchWithoutHarm(options, watch);
    EXPECT_GT(watch.departures(), GetParam().byzantine) << "each leaves, and again";
    EXPECT_LE(watch.departures(), std::size_t{2} * GetParam().byzantine) << "then it is barred";
    ExpectNoVoidColumn(result);
  }
}

INSTANTIATE_TEST_SUITE_P(Swarms, LeaveReroll, testing::ValuesIn(Swarms()), NameOfParam);

TEST(LeaveReroll, WhileHonestMembersLeaveToo) {
  SimOptions options = Under("leave_reroll", {10, 2}, 4);
  options.leaves = 2;
  RunWithoutHarm(options);
}

// --- join_churn ----------------------------------------------------------------------------------

class JoinChurn : public testing::TestWithParam<std::uint32_t> {};

// At an even number of members one that comes or goes changes what all bear; no column is void for
// it, and the block holds a line for each key that came.
TEST_P(JoinChurn, VoidsNoColumnAndFillsNoBlock) {
  const std::uint32_t peers = GetParam();
  SimOptions options = Under("join_churn", {peers, 0}, 5);
  options.intruders = 2;
  options.validators = 2;
  options.attack_from_step = 1;
  options.steps = 80;
  BlockWatch churned;
  const SimResult result = WatchWithoutHarm(options, churned);
  EXPECT_EQ(churned.arrivals(), 4U) << "two keys, twice each";
  EXPECT_EQ(churned.departures(), 4U);
  EXPECT_TRUE(result.removals.empty());
  ExpectNoVoidColumn(result);

  options.attack = "none";
  BlockWatch calm;
  WatchWithoutHarm(options, calm);
  EXPECT_LT(churned.most_bytes(), calm.most_bytes() + 2 * 512);
}

INSTANTIATE_TEST_SUITE_P(Sizes, JoinChurn, testing::ValuesIn(FirstOf<std::uint32_t>({8, 15})));

// --- rotate_keys ---------------------------------------------------------------------------------

// What blocks say of the invites at the end.
class InviteWatch final : public StepObserver {
 public:
  void OnStep(const StepRecord& record) override {
    for (const protocol::Action& action : record.actions) {
      const auto* done = Observed<protocol::StepDone>(action);
      if (done == nullptr || (last_ && HeightOf(*done->block) <= HeightOf(*last_))) continue;
      last_ = done->block;
      for (const base::PeerId& peer : done->block->joined) came_[peer].push_back(last_->step);
    }
  }
  const wire::Block& last() const { return *last_; }
  // The steps with which each key came, and came again.
  const std::map<base::PeerId, std::vector<std::uint64_t>>& came() const { return came_; }

 private:
  std::shared_ptr<const wire::Block> last_;
  std::map<base::PeerId, std::vector<std::uint64_t>> came_;
};

SimOptions Rotating(std::uint32_t intruders, const std::string& uses, const std::string& away,
                    std::uint64_t seed) {
  SimOptions options = Under("rotate_keys", {5, 0}, seed);
  options.intruders = intruders;
  options.attack_params = {{"uses", uses}, {"away", away}};
  options.dimension = 64;
  return options;
}

SimResult RunWatched(const SimOptions& options, InviteWatch& watch) {
  auto result = RunSimulation(options, {}, &watch);
  EXPECT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(result->ok) << result->failure->checker << ": " << result->failure->message << "\n"
                          << result->replay;
  EXPECT_EQ(result->honest_removed, 0U) << result->replay;
  return std::move(result).value();
}

// A stranger by an invite of one use leaves, and is let in again after so many steps: in the seat
// that is kept for it, at its last step, or by the invite that it has used up. It costs no use and
// no quota.
class StrangerReturns : public testing::TestWithParam<std::uint64_t> {};

TEST_P(StrangerReturns, AtNoCost) {
  const std::uint64_t away = GetParam();
  SimOptions options = Rotating(1, "1", std::to_string(away), 1);
  options.steps = away + 100;
  InviteWatch watch;
  RunWatched(options, watch);
  ASSERT_EQ(watch.came().size(), 1U);
  const std::vector<std::uint64_t>& steps = watch.came().begin()->second;
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_GE(steps[1], steps[0] + away);
  EXPECT_LE(steps[1], steps[0] + away + 60);
  ASSERT_EQ(watch.last().invites.size(), 1U);
  EXPECT_EQ(watch.last().invites[0].used, 1U);
  EXPECT_EQ(watch.last().moderators[0].admitted, 1U);
}

INSTANTIATE_TEST_SUITE_P(Steps, StrangerReturns,
                         testing::ValuesIn(FirstOf<std::uint64_t>({100, 1000, 3000})));

// Four keys take turns by an invite of two uses. Each asks again when its seat is lost. Checker
// "arrivals": two came in all, and never more attackers than the members bear. Between a return and
// the next one by the invite lie 1000 steps, whatever they do.
TEST(RotateKeys, ComeInByTheUsesOfTheirInviteOnceInAThousandSteps) {
  if (!InSoak()) GTEST_SKIP() << "takes 3,300 steps";
  SimOptions options = Rotating(4, "2", "1002", 1);
  options.steps = 3300;
  InviteWatch watch;
  const SimResult result = RunWatched(options, watch);
  ASSERT_EQ(watch.came().size(), 2U) << result.replay;
  for (const auto& [peer, steps] : watch.came()) {
    EXPECT_GE(steps.size(), 3U) << result.replay;
    for (std::size_t i = 1; i < steps.size(); ++i) EXPECT_GE(steps[i], steps[i - 1] + 1000);
  }
  EXPECT_EQ(watch.last().moderators[0].admitted, 2U);
  ExpectNoVoidColumn(result);
}

// Their invite ends while they are away: then nobody comes again whose seat is lost.
TEST(RotateKeys, StayOutWhenTheirInviteHasEnded) {
  if (!InSoak()) GTEST_SKIP() << "takes 1,200 steps";
  SimOptions options = Rotating(3, "2", "1002", 2);
  options.attack_params["until"] = "900";
  options.steps = 1200;
  InviteWatch watch;
  RunWatched(options, watch);
  ASSERT_EQ(watch.came().size(), 2U);
  for (const auto& [peer, steps] : watch.came()) EXPECT_EQ(steps.size(), 1U);
  EXPECT_TRUE(watch.last().invites.empty());
}

// --- far_newcomer --------------------------------------------------------------------------------

class FarNewcomers : public testing::TestWithParam<const char*> {};

// Whatever its distance, no honest member is removed, and the run goes on.
TEST_P(FarNewcomers, CostNoHonestMemberItsPlace) {
  SimOptions options = Under("far_newcomer", {8, 0}, 6);
  options.attack_params["deltas"] = GetParam();
  options.intruders = 2;
  RunWithoutHarm(options);
}

// Near until they are in, and far from then on: they are dropped for what comes too late, and may
// come back from there as those that are dropped do.
TEST(FarNewcomer, IsDroppedIfItMovesAwayAndNobodyElseIs) {
  for (const char* deltas : FirstOf({"2", "0.6", "5"})) {
    SimOptions options = Under("far_newcomer", {8, 0}, 7);
    options.attack_params = {{"deltas", deltas}, {"moves", "1"}};
    options.intruders = 3;
    const SimResult result = RunWithoutHarm(options);
    EXPECT_EQ(result.byzantine_removed, std::string(deltas) == "0.6" ? 0U : 3U) << result.replay;
  }
}

// A round trip as long as two steps. [Results were asked for six at a time, so that eight columns
// took two round trips: it was always some blocks behind, and never let in.]
TEST(FarNewcomer, ComesInAsFarAsMessagesMayTake) {
  for (std::uint64_t seed = 1; seed <= SeedsUpTo(3); ++seed) {
    SimOptions options = Under("far_newcomer", {8, 0}, seed);
    options.attack_params["deltas"] = "0.2";
    options.intruders = 1;
    const SimResult result = RunWithoutHarm(options);
    EXPECT_EQ(result.returned.size(), 1U) << result.replay;
    EXPECT_TRUE(result.removals.empty()) << result.replay;
    ExpectNoVoidColumn(result);
  }
}

// In steps of five seconds it is at the head all the time, and no deadline is too short for it to
// ask.
TEST(FarNewcomer, StaysOutIfItsAnswersTakeLongerThanHalfADelta) {
  for (const char* deltas : {"0.2", "0.3", "1"}) {
    SimOptions options = Under("far_newcomer", {8, 0}, 4);
    options.attack_params["deltas"] = deltas;
    options.intruders = 1;
    options.waits.gradient_time = base::Seconds(4);
    const SimResult result = RunWithoutHarm(options);
    EXPECT_EQ(result.returned.size(), std::string(deltas) == "0.2" ? 1U : 0U) << result.replay;
    EXPECT_TRUE(result.removals.empty()) << result.replay;
  }
}

INSTANTIATE_TEST_SUITE_P(Deltas, FarNewcomers,
                         testing::Values("0.15", "0.3", "0.6", "1.1", "2", "5"),
                         [](const auto& run) {
                           std::string name = run.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return "Deltas" + name;
                         });

// --- gone_donor ----------------------------------------------------------------------------------

// Who comes back without a disk fetches a state of several pieces, and donors stop in the middle.
TEST(GoneDonor, DelaysAStateAndStopsNobody) {
  for (const char* removed : FirstOf({"0", "1"})) {
    SimOptions options = Under("gone_donor", {8, 2}, 2);
    options.attack_params["removed"] = removed;
    options.attack_from_step = 1;
    options.crashes = 2;
    options.lose_disk = true;
    options.dimension = 200'000;
    options.batch_size = 4;
    options.time_limit = base::Seconds(300);
    auto result = RunSimulation(options);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_TRUE(result->ok) << result->failure->checker << ": " << result->failure->message;
    EXPECT_GT(result->misdeeds, 0U) << "nobody asked them";
  }
}

// Steps are a hundredth of Delta. [A newcomer waited half a Delta for an aggregate of each silent
// member, and was at the head by chance alone.]
TEST(GoneDonor, WhoAnswersNobodyKeepsNobodyOutOfShortSteps) {
  for (std::uint64_t seed = 1; seed <= SeedsUpTo(3); ++seed) {
    SimOptions options = Under("gone_donor", {8, 2}, seed);
    options.attack_params["pieces"] = "0";
    options.attack_from_step = 1;
    options.steps = 200;
    options.comes = 2;
    options.waits.delta = base::Seconds(4);
    options.delay_max = options.delay_min;
    options.fsync_max = base::Milliseconds(1);
    const SimResult result = RunWithoutHarm(options);
    EXPECT_EQ(result.returned.size(), 2U) << result.replay;
    EXPECT_GT(result.misdeeds, 0U) << "nobody asked them";
  }
}

// --- stale_head, long_range, false_past ----------------------------------------------------------

// All that come and come back get in: checkers "arrivals" and "progress". A member that has left
// waits for the COMMITs of all before it goes, and here for as long as it ever does: 28 s.
TEST(StaleHeads, KeepNobodyAway) {
  SimOptions options = Under("stale_head", {8, 2}, 3);
  options.steps = 150;
  options.comes = 2;
  options.leaves = 1;
  const SimResult result = RunWithoutHarm(options);
  EXPECT_EQ(result.returned.size(), 3U) << result.replay;
  EXPECT_GT(result.misdeeds, 0U) << "nobody asked them";
}

// As many as the run bears lie about the past to who comes, and to who was away for so long that it
// fetches a state. They find no second history.
TEST(FalsePast, KeepsNobodyAway) {
  for (std::uint64_t seed = 1; seed <= SeedsUpTo(3); ++seed) {
    SimOptions options = Under("false_past", {8, 2}, seed);
    options.steps = 150;
    options.comes = 2;
    options.leaves = 2;
    options.leave_for = base::Seconds(20);
    const SimResult result = RunWithoutHarm(options);
    EXPECT_EQ(result.returned.size(), 4U) << result.replay;
    EXPECT_GT(result.misdeeds, 0U) << "nobody asked them";
  }
}

// Colluders leave, and then show a false later history to who comes and to who comes back. As many
// of them as the genesis bears mislead nobody.
TEST(LongRange, AFalseHistoryOfFormerMembersMisleadsNobody) {
  for (std::uint64_t seed = 1; seed <= SeedsUpTo(3); ++seed) {
    SimOptions options = Under("long_range", {10, 2}, seed);
    options.attackers_leave = 6;
    options.comes = 2;
    options.leaves = 1;
    options.leave_for = base::Seconds(6);
    options.await_removal = false;
    const SimResult result = RunWithoutHarm(options);
    EXPECT_EQ(result.returned.size(), 3U) << result.replay;
    EXPECT_GT(result.misdeeds, 0U) << "nobody asked them";
  }
}

}  // namespace
}  // namespace ostraka::sim::comers_and_goers_test
