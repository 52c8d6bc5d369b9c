// Rules and pre-aggregations with an explicit State, and the states that they refuse.
#include <gtest/gtest.h>

#include "aggregation/rules/pipeline.h"
#include "tests/unit/aggregation/references.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::stateful_test {
namespace {

using testing::Matrix;
using testing::RowsOf;
using testing::Vector;

class Stateful {
 public:
  explicit Stateful(const std::string& text) {
    const auto element = ParseElement(text);
    rule_ = MakeRule(element->name, element->arguments).value();
  }
  std::vector<float> operator()(const Matrix& rows, Report* report = nullptr) {
    std::vector<float> out(rows[0].size());
    const SerialExecutor executor;
    status = rule_->Aggregate(RowsOf(rows), Call(executor, &state, report), out);
    return out;
  }

  State state;
  base::Status status;

 private:
  std::unique_ptr<Rule> rule_;
};

TEST(StatefulTest, CenteredClipStepsStartFromTheLastResult) {
  base::Rng rng(1);
  const Matrix rows = testing::NormalRows(rng, 5, 3);
  Stateful one_step("centered_clip:variant=steps,tau=0.5");
  std::vector<float> out;
  for (int call = 0; call < 4; ++call) out = one_step(rows);
  const Vector expected = testing::SlowClipSteps(rows, Vector(3, 0.0L), 0.5L, 4);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(out[c], static_cast<double>(expected[c]), 1e-6);
  EXPECT_EQ(one_step.state.calls, 4u);
}

TEST(StatefulTest, ClippedClusteringRemembersLengths) {
  Stateful rule("clipped_clustering");
  const Matrix short_rows = {{1, 0}, {1, 0.1f}, {1, -0.1f}};
  const Matrix long_rows = {{9, 0}, {9, 0.9f}, {9, -0.9f}};
  const auto first = rule(short_rows);
  const auto clipped = rule(long_rows);  // the median of six lengths lies between 1 and 9
  EXPECT_LT(testing::SlowNorm(clipped), 6);
  EXPECT_GT(testing::SlowNorm(clipped), testing::SlowNorm(first));
  EXPECT_EQ(rule.state.numbers.size(), 6u);
}

// fedlib's own test (research/aggregation.md, 3).
TEST(StatefulTest, ClippedClusteringGivesFedlibsKnownAnswer) {
  Stateful rule("clipped_clustering");
  const auto out = rule({{1, 2, 3}, {-1, 4, -1}, {2, 2, 3}, {3, 1, 3}});
  EXPECT_NEAR(out[0], 1.9596, 1e-4);
  EXPECT_NEAR(out[1], 1.6532, 1e-4);
  EXPECT_NEAR(out[2], 2.9596, 1e-4);
}

TEST(StatefulTest, FoolsGoldDetectsRowsThatWereAlwaysAlike) {
  base::Rng rng(2);
  Stateful rule("foolsgold");
  Report report;
  for (int call = 0; call < 10; ++call) {
    Matrix rows = testing::NormalRows(rng, 6, 50);
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t c = 0; c < 50; ++c) rows[i][c] = rows[i][c] * 0.3f + (c % 2 == 0 ? 1 : -1);
    }
    rule(rows, &report);
  }
  for (std::size_t i = 2; i < 6; ++i) {
    EXPECT_LT(report.weights[0], report.weights[i] / 10);
    EXPECT_LT(report.weights[1], report.weights[i] / 10);
  }
}

TEST(StatefulTest, SafeguardExpelsPermanently) {
  base::Rng rng(3);
  Stateful rule("safeguard:T0=3,T1=8,th0=3,th1=6");
  Report report;
  for (int call = 0; call < 6; ++call) {
    Matrix rows = testing::NormalRows(rng, 7, 4);
    if (call < 2) testing::Multiply(rows[2], 100);
    rule(rows, &report);
    EXPECT_EQ(std::count(report.selected.begin(), report.selected.end(), 2u), call == 0 ? 1 : 0);
  }
  EXPECT_GE(report.selected.size(), 5u);
}

TEST(StatefulTest, WorkerMomentumAveragesThePast) {
  const auto pre = MakePreAggregation("worker_momentum", {{"beta", "0.5"}}).value();
  const SerialExecutor executor;
  State state;
  std::vector<float> out(2);
  const Matrix ones = {{1}, {4}}, zeros = {{0}, {0}};
  ASSERT_TRUE(pre->Apply(RowsOf(ones), Call(executor, &state), out).ok());
  EXPECT_EQ(out, (std::vector<float>{0.5f, 2}));
  ASSERT_TRUE(pre->Apply(RowsOf(zeros), Call(executor, &state), out).ok());
  EXPECT_EQ(out, (std::vector<float>{0.25f, 1}));
}

TEST(StatefulTest, StateOfAnotherShapeIsRefusedAndUnchanged) {
  base::Rng rng(4);
  for (const char* text :
       {"foolsgold", "safeguard:th0=1,th1=1", "centered_clip:variant=steps,tau=1"}) {
    Stateful rule(text);
    rule(testing::NormalRows(rng, 5, 3));
    ASSERT_TRUE(rule.status.ok());
    const State before = rule.state;
    rule(testing::NormalRows(rng, 5, 4));
    EXPECT_EQ(rule.status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_TRUE(rule.state == before) << text;
  }
}

// A failing element must not leave a pipeline's states half updated.
TEST(StatefulTest, PipelineKeepsItsStatesOnAnError) {
  const auto pipeline = Pipeline::Make({{"krum", {}}, {{"worker_momentum", {}}}, 1, false});
  ASSERT_TRUE(pipeline.ok());
  std::vector<State> states;
  std::vector<float> out(2);
  const Matrix good = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {1, 1}};
  ASSERT_TRUE(pipeline->Aggregate(RowsOf(good), SerialExecutor(), out, &states).ok());
  const std::vector<State> before = states;
  const Matrix few = {{1, 1}, {1, 2}};
  EXPECT_FALSE(pipeline->Aggregate(RowsOf(few), SerialExecutor(), out, &states).ok());
  EXPECT_EQ(states, before);
}

}  // namespace
}  // namespace ostraka::aggregation::stateful_test
