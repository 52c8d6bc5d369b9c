// Cells whose workers take several steps from one exchange to the next, by the exact kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "aggregation/optim/optimizer.h"
#include "node/protocol/ground/schedule.h"
#include "node/train/batch.h"
#include "node/train/local_steps.h"
#include "node/train/trainer_loader.h"
#include "sim/compare/cells/model.h"
#include "sim/compare/cells/runner.h"
#include "sim/compare/cells/schedule.h"
#include "tests/unit/sim/compare/made_up.h"

namespace ostraka::compare::local_run_test {
namespace {

constexpr std::uint64_t kSteps = 24;

// A text in which the next letter is easy to learn.
std::string TextFile() {
  const std::string path = testing::TempDir() + "local_run_test.txt";
  std::ofstream file(path, std::ios::binary);
  for (int i = 0; i < 600; ++i) file << "abcd efgh ijkl " << (i % 7);
  return path;
}

Plan PlanOfGpt(const std::function<void(Grid&)>& change) {
  return MadeUpPlan([&](Grid& grid) {
    grid.data = {"text:" + TextFile()};
    grid.model = {"gpt:layers=1,width=16,heads=2,context=8"};
    grid.seeds = {1};
    grid.peers = {5};
    grid.byzantine = {1};
    grid.steps = kSteps;
    grid.evaluate_every = 8;
    grid.batch_size = 4;
    grid.optimizer = "adamw";
    grid.score = "loss";
    grid.learning_rate = {0.01};
    grid.inner_steps = {4};
    change(grid);
  });
}

CellResult RunCell(const std::function<void(Grid&)>& change) {
  const Plan plan = PlanOfGpt(change);
  EXPECT_EQ(plan.cells.size(), 1u);
  CellRunner runner(plan.sources);
  auto result = runner.Run(plan.cells.at(0), nullptr);
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  return result.value_or(CellResult{{Point()}, {}, {}, 0});
}

double LossUnder(const std::string& rule, const std::string& attack) {
  return FinalOf(RunCell([&](Grid& grid) {
           grid.rules = {rule};
           grid.attacks = {attack};
         }))
      .test_loss;
}

// The same by the parts of the protocol: work, mean, update.
TEST(LocalRun, IsWhatTheProtocolsPartsCompute) {
  for (const std::uint64_t inner : {1, 4}) {
    const auto change = [inner](Grid& grid) { grid.inner_steps = {inner}; };
    const Plan plan = PlanOfGpt(change);
    const Cell& cell = plan.cells.at(0);
    train::TrainerOptions options = TrainerOptionsOf(cell).value();
    options.data_dir = plan.sources.at(cell.data).dir;
    const auto trainer = train::MakeTrainer(options).value();
    const protocol::TrainingPlan training = PlanOf(cell);
    EXPECT_EQ(training.steps, kSteps / inner + kSettleSteps);
    EXPECT_EQ(training.inner.steps, inner);
    std::vector<float> at = trainer->InitialParameters(DrawSeed(cell, "initial"));
    aggregation::Descent descent(training.optimizer, trainer->layout());
    for (std::uint64_t exchange = 0; exchange < kSteps / inner; ++exchange) {
      std::vector<double> sum(at.size());
      for (std::size_t worker = 0; worker < cell.peers; ++worker) {
        const base::Digest seed = DrawSeed(cell, "batch", exchange, worker);
        const auto worked =
            train::WorkOf(*trainer, {at, seed, 1, protocol::LocalStepsOf(training, exchange)});
        for (std::size_t i = 0; i < at.size(); ++i) sum[i] += worked->values[i];
      }
      std::vector<float> mean(at.size());
      for (std::size_t i = 0; i < at.size(); ++i) {
        mean[i] = static_cast<float>(sum[i] / static_cast<double>(cell.peers));
      }
      descent.Step(protocol::OptimizerStepOf(training, exchange), mean, at);
    }
    const double expected = trainer->EvaluateOn(at, train::HeldOut::kTest)->loss;
    EXPECT_NEAR(FinalOf(RunCell(change)).test_loss, expected, 1e-4) << inner;
  }
}

TEST(LocalRun, PointsCountGradientsAndBytesCountExchanges) {
  const CellResult every = RunCell([](Grid& grid) { grid.inner_steps = {1}; });
  const CellResult fourth = RunCell([](Grid&) {});
  ASSERT_EQ(every.curve.size(), 4u);
  ASSERT_EQ(fourth.curve.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(every.curve[i].step, 8 * i);
    EXPECT_EQ(fourth.curve[i].step, 8 * i);
  }
  EXPECT_EQ(every.curve.front(), fourth.curve.front());
  EXPECT_EQ(every.bytes, 4 * fourth.bytes);
  EXPECT_LT(FinalOf(every).test_loss, every.curve.front().test_loss - 0.5);
  EXPECT_LT(FinalOf(fourth).test_loss, fourth.curve.front().test_loss - 0.5);
}

TEST(LocalRun, AttacksOnWorkDifferFromHonestWork) {
  const double none = LossUnder("mean", "none");
  EXPECT_NE(LossUnder("mean", "skip_inner"), none);
  EXPECT_NE(LossUnder("mean", "label_flip"), none);
  EXPECT_GT(LossUnder("mean", "ascent"), none);
  EXPECT_GT(LossUnder("mean", "ipm:eps=1000"), none + 1);
  EXPECT_LT(LossUnder("median", "ipm:eps=1000"), none + 1);
}

TEST(LocalRun, TheProtocolLearnsAsAServerDoesAndBans) {
  const auto run = [](const char* rule, const char* attack) {
    return RunCell([&](Grid& grid) {
      grid.rules = {rule};
      grid.attacks = {attack};
      grid.steps = 240;
      grid.evaluate_every = 60;
    });
  };
  const CellResult server = run("mean", "none");
  const CellResult protocol = run("btard", "none");
  ASSERT_TRUE(protocol.protocol);
  EXPECT_TRUE(protocol.protocol->removals.empty());
  EXPECT_EQ(protocol.curve.front(), server.curve.front());
  EXPECT_EQ(FinalOf(protocol).step, 240u);
  EXPECT_NEAR(FinalOf(protocol).test_loss, FinalOf(server).test_loss, 0.3);
  for (const char* attack : {"ascent", "skip_inner"}) {
    const CellResult attacked = run("btard", attack);
    ASSERT_EQ(attacked.protocol->removals.size(), 1u) << attack;
    EXPECT_TRUE(attacked.protocol->removals[0].byzantine) << attack;
  }
}

TEST(LocalRun, AGridSaysWhatDoesNotGoTogether) {
  const auto error = [](const std::function<void(Grid&)>& change) {
    Grid grid = PlanOfGpt([](Grid&) {}).grid;
    change(grid);
    const auto plan = MakePlan(grid);
    EXPECT_FALSE(plan.ok());
    return base::MessageOf(plan.status());
  };
  using testing::HasSubstr;
  EXPECT_THAT(error([](Grid& g) { g.inner_steps = {5}; }), HasSubstr("steps counts gradients"));
  EXPECT_THAT(error([](Grid& g) { g.inner_steps = {0}; }), HasSubstr("1 to 1024"));
  EXPECT_THAT(error([](Grid& g) { g.optimizer = "adam"; }), HasSubstr("sgd or adamw"));
  EXPECT_THAT(error([](Grid& g) { g.score = "f1"; }), HasSubstr("accuracy or loss"));
  EXPECT_THAT(error([](Grid& g) { g.optimizer = "sgd"; }), HasSubstr("optimizer = \"adamw\""));
  EXPECT_THAT(error([](Grid& g) { g.momentum = {0.9}; }), HasSubstr("leave them out"));
  EXPECT_THAT(error([](Grid& g) { g.schedule = {"constant"}; }), HasSubstr("linear or cosine"));
  EXPECT_THAT(error([](Grid& g) { g.data = {"digits"}; }), HasSubstr("text:FILE"));
  EXPECT_THAT(error([](Grid& g) { g.model.push_back("softmax"); }), HasSubstr("read other data"));
  EXPECT_THAT(error([](Grid& g) { g.attacks = {"skip_inner"}, g.inner_steps = {1}; }),
              HasSubstr("nothing to leave out"));
}

// A parameter that came later leaves the ids of older cells as they were.
TEST(LocalRun, DefaultsDoNotCountInAnId) {
  Cell cell;
  const base::Digest before = IdOf(cell);
  cell.inner_steps = 2;
  EXPECT_NE(IdOf(cell), before);
  const std::vector<Column> columns = ColumnsOf(Cell());
  EXPECT_TRUE(std::any_of(columns.begin(), columns.end(), [](const Column& column) {
    return column.name == "inner_steps" && column.text == column.default_text;
  }));
}

}  // namespace
}  // namespace ostraka::compare::local_run_test
