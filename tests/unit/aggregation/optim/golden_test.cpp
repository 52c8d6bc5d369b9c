// What torch.optim computes in float64 (tests/vectors/optimizers.json, written by write_golden.py).
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

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

std::vector<float> AfterAll(const json& golden) {
  OptimizerStep step;
  step.optimizer = *FindOptimizer(golden.at("optimizer").get<std::string>());
  step.rate = golden.at("rate").get<float>();
  step.momentum = golden.value("momentum", 0.0F);
  step.decay = golden.value("decay", 0.0F);
  step.clip_norm = golden.value("clip_norm", 0.0);
  step.beta1 = golden.value("beta1", 0.0);
  step.beta2 = golden.value("beta2", 0.0);
  step.epsilon = golden.value("epsilon", 0.0);
  auto x = Golden().at("start").get<std::vector<float>>();
  Descent descent(step.optimizer, x.size());
  step.updates = 0;
  for (const json& row : Golden().at("gradients")) {
    ++step.updates;
    descent.Step(step, row.get<std::vector<float>>(), x);
  }
  return x;
}

TEST(OptimizerGolden, EachCaseIsAsTorchComputesIt) {
  std::size_t cases = 0;
  for (const auto& [name, golden] : Golden().at("cases").items()) {
    const std::vector<float> found = AfterAll(golden);
    const auto expected = golden.at("after").get<std::vector<double>>();
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], expected[i], kTolerance) << name << " " << i;
    }
    ++cases;
  }
  EXPECT_EQ(cases, 5u);
}

TEST(OptimizerGolden, TheCosineIsTorchs) {
  const auto rates = Golden().at("cosine").get<std::vector<double>>();
  for (std::size_t n = 0; n < rates.size(); ++n) {
    EXPECT_NEAR(HalfCosine(n, rates.size()), rates[n], 1e-13) << n;
  }
}

}  // namespace
}  // namespace ostraka::aggregation::golden_test
