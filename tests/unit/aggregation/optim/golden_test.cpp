// What torch.optim (tests/vectors/optimizers.json, written by write_golden.py) and, of LAMB, optax
// (lamb.json, by write_lamb_golden.py) compute in float64.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "aggregation/optim/cosine.h"
#include "aggregation/optim/optimizer.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::golden_test {
namespace {

using nlohmann::json;

// 40 steps of float32 against float64: some 40 roundings of numbers around 1, of 6e-8 each.
constexpr double kTolerance = 4e-6;

const json& Golden() {
  static const json golden = json::parse(std::ifstream("tests/vectors/optimizers.json"));
  return golden;
}

// The parameters after all gradients of `file`, as `golden`, one of its cases, has the update.
std::vector<float> AfterAll(const json& file, const json& golden, base::TensorLayout layout) {
  OptimizerStep step;
  step.optimizer = *FindOptimizer(golden.value("optimizer", "lamb"));
  step.rate = golden.at("rate").get<float>();
  step.momentum = golden.value("momentum", 0.0F);
  step.decay = golden.value("decay", 0.0F);
  step.clip_norm = golden.value("clip_norm", 0.0);
  step.beta1 = golden.value("beta1", 0.0);
  step.beta2 = golden.value("beta2", 0.0);
  step.epsilon = golden.value("epsilon", 0.0);
  auto x = file.at("start").get<std::vector<float>>();
  Descent descent(step.optimizer, std::move(layout));
  step.updates = 0;
  for (const json& row : file.at("gradients")) {
    ++step.updates;
    descent.Step(step, row.get<std::vector<float>>(), x);
  }
  return x;
}

void ExpectAllCases(const json& file, const base::TensorLayout& layout, std::size_t count) {
  std::size_t cases = 0;
  for (const auto& [name, golden] : file.at("cases").items()) {
    const std::vector<float> found = AfterAll(file, golden, layout);
    const auto expected = golden.at("after").get<std::vector<double>>();
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], expected[i], kTolerance) << name << " " << i;
    }
    ++cases;
  }
  EXPECT_EQ(cases, count);
}

TEST(OptimizerGolden, EachCaseIsAsTorchComputesIt) {
  ExpectAllCases(Golden(), {{"x", {Golden().at("start").size()}}}, 5);
}

TEST(OptimizerGolden, LambIsAsOptaxComputesIt) {
  const json file = json::parse(std::ifstream("tests/vectors/lamb.json"));
  base::TensorLayout layout;
  for (const json& shape : file.at("tensors")) {
    layout.push_back({"x", shape.get<std::vector<std::uint64_t>>()});
  }
  ExpectAllCases(file, layout, 2);
}

TEST(OptimizerGolden, TheCosineIsTorchs) {
  const auto rates = Golden().at("cosine").get<std::vector<double>>();
  for (std::size_t n = 0; n < rates.size(); ++n) {
    EXPECT_NEAR(HalfCosine(n, rates.size()), rates[n], 1e-13) << n;
  }
}

}  // namespace
}  // namespace ostraka::aggregation::golden_test
