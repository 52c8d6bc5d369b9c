// Exact gradients against libtorch's autograd over one graph.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/exact/model_digests.h"
#include "tests/unit/exact/torch/torch_graph.h"

namespace ostraka::exact {
namespace {

using testing::Gradient;

// |a - b| / |b|.
double Difference(const std::vector<float>& a, const std::vector<float>& b) {
  double square = 0;
  double whole = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    square += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
    whole += double{b[i]} * b[i];
  }
  return std::sqrt(square / whole);
}

TEST(TorchGraph, GradientsOfModelsAgree) {
  for (const testing::NamedProblem& each : testing::DigestProblems()) {
    if (each.name == "gpt_nan") continue;
    const Gradient ours = testing::GradientOf(each.problem);
    const Gradient theirs = testing::TorchGradientOf(each.problem);
    ASSERT_EQ(ours.values.size(), theirs.values.size());
    EXPECT_NEAR(ours.loss, theirs.loss, 1e-6 * theirs.loss) << each.name;
    const double difference = Difference(ours.values, theirs.values);
    EXPECT_LT(difference, 2e-6) << each.name;
    RecordProperty(each.name, std::to_string(difference));
    std::printf("%-14s relative difference of gradients %.2e\n", each.name.c_str(), difference);
  }
}

}  // namespace
}  // namespace ostraka::exact
