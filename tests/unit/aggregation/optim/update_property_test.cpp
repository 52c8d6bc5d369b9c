// What every optimizer promises for any numbers: a cut into columns changes no bit, and what lies
// in no column keeps its bits in the parameters and in every slot.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "aggregation/optim/optimizer.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::update_property_test {
namespace {

struct State {
  std::vector<float> x;
  std::vector<std::vector<float>> slots;
};

// Numbers of very different sizes, zeros of both signs and subnormal ones among them.
std::vector<float> AnyNumbers(std::size_t size) {
  const auto bits =
      *rc::gen::container<std::vector<std::uint32_t>>(size, rc::gen::arbitrary<std::uint32_t>());
  std::vector<float> numbers;
  for (const std::uint32_t word : bits) {
    const int exponent = static_cast<int>(word % 60) - 30;
    const float sign = (word & 0x40000000) != 0 ? -1.0F : 1.0F;
    const float size_of = word % 11 == 0   ? 0.0F
                          : word % 13 == 0 ? 1e-40F
                                           : 1.0F + (word % 1000) * 1e-3F;
    numbers.push_back(sign * std::ldexp(size_of, exponent));
  }
  return numbers;
}

State AnyState(Optimizer optimizer, std::size_t size) {
  State state{AnyNumbers(size), {}};
  for (std::size_t k = 0; k < SlotNames(optimizer).size(); ++k) {
    state.slots.push_back(AnyNumbers(size));
  }
  if (state.slots.size() > 1) {
    for (float& value : state.slots[1]) value = std::abs(value);
  }
  return state;
}

OptimizerStep AnyStep() {
  OptimizerStep step;
  step.optimizer =
      *rc::gen::elementOf(std::vector<Optimizer>(AllOptimizers().begin(), AllOptimizers().end()));
  step.rate = *rc::gen::element(0.0F, 0.01F, 1.0F);
  step.decay = *rc::gen::element(0.0F, 0.1F);
  step.momentum = *rc::gen::element(0.5F, 0.9F);
  step.clip_norm = *rc::gen::element(0.0, 1.0, 1e6);
  step.beta1 = *rc::gen::element(0.0, 0.9);
  step.beta2 = *rc::gen::element(0.95, 0.999);
  step.epsilon = 1e-8;
  step.updates = *rc::gen::inRange<std::uint64_t>(1, 10000);
  return step;
}

// Ascending places to cut at, from 0 to `size`.
std::vector<std::size_t> AnyCut(std::size_t size) {
  auto places =
      *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, size + 1));
  places.push_back(0);
  places.push_back(size);
  std::sort(places.begin(), places.end());
  return places;
}

void UpdateColumns(const OptimizerStep& step, std::span<const float> gradient,
                   const std::vector<std::size_t>& cut, const std::vector<bool>& applied,
                   State& state) {
  SquareSum sum;
  for (std::size_t j = 0; j + 1 < cut.size(); ++j) {
    if (applied[j]) sum.Add(cut[j], gradient.subspan(cut[j], cut[j + 1] - cut[j]));
  }
  const float factor = GradientClipFactor(sum.Norm(), step.clip_norm);
  for (std::size_t j = 0; j + 1 < cut.size(); ++j) {
    if (!applied[j]) continue;
    const std::size_t size = cut[j + 1] - cut[j];
    std::vector<std::span<float>> slots;
    for (auto& slot : state.slots) slots.push_back(std::span(slot).subspan(cut[j], size));
    Update(step, factor, gradient.subspan(cut[j], size), std::span(state.x).subspan(cut[j], size),
           slots);
  }
}

bool Same(std::span<const float> a, std::span<const float> b) { return testing::SameBits(a, b); }

RC_GTEST_PROP(OptimizerProperty, NoCutIntoColumnsChangesABit, ()) {
  const OptimizerStep step = AnyStep();
  const std::size_t size = *rc::gen::inRange<std::size_t>(1, 300);
  const std::vector<float> gradient = AnyNumbers(size);
  State whole = AnyState(step.optimizer, size);
  State pieces = whole;
  const auto cut = AnyCut(size);
  UpdateColumns(step, gradient, {0, size}, {true}, whole);
  UpdateColumns(step, gradient, cut, std::vector<bool>(cut.size(), true), pieces);
  RC_ASSERT(Same(whole.x, pieces.x));
  for (std::size_t k = 0; k < whole.slots.size(); ++k) {
    RC_ASSERT(Same(whole.slots[k], pieces.slots[k]));
  }
}

RC_GTEST_PROP(OptimizerProperty, AVoidColumnKeepsItsBitsAndCountsAsZeroInTheNorm, ()) {
  const OptimizerStep step = AnyStep();
  const std::size_t size = *rc::gen::inRange<std::size_t>(1, 300);
  std::vector<float> gradient = AnyNumbers(size);
  const auto cut = AnyCut(size);
  std::vector<bool> applied;
  for (std::size_t j = 0; j + 1 < cut.size(); ++j) applied.push_back(*rc::gen::arbitrary<bool>());
  const State before = AnyState(step.optimizer, size);
  State after = before;
  UpdateColumns(step, gradient, cut, applied, after);
  // The same with zeros where a column is void, of which the applied columns alone are compared.
  for (std::size_t j = 0; j < applied.size(); ++j) {
    if (!applied[j]) std::fill(&gradient[0] + cut[j], &gradient[0] + cut[j + 1], 0.0F);
  }
  State zeroed = before;
  UpdateColumns(step, gradient, {0, size}, {true}, zeroed);
  const auto compare = [&](const std::vector<float>& was, const std::vector<float>& is,
                           const std::vector<float>& other) {
    for (std::size_t j = 0; j < applied.size(); ++j) {
      const std::size_t length = cut[j + 1] - cut[j];
      const auto& expected = applied[j] ? other : was;
      RC_ASSERT(
          Same(std::span(is).subspan(cut[j], length), std::span(expected).subspan(cut[j], length)));
    }
  };
  compare(before.x, after.x, zeroed.x);
  for (std::size_t k = 0; k < before.slots.size(); ++k) {
    compare(before.slots[k], after.slots[k], zeroed.slots[k]);
  }
}

}  // namespace
}  // namespace ostraka::aggregation::update_property_test
