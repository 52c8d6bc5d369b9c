// A graph with parameters, constants and a micro-batch drawn for it.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "exact/graph/graph.h"
#include "exact/models/models.h"
#include "exact/program/differentiate.h"
#include "exact/run/runner.h"
#include "node/base/check.h"
#include "node/base/rng.h"
#include "tests/unit/exact/reference.h"

namespace ostraka::exact::testing {

struct Problem {
  Graph graph;
  std::vector<float> parameters;
  std::vector<std::vector<float>> constants;
  std::vector<std::vector<float>> floats;
  std::vector<std::vector<std::int32_t>> integers;

  std::vector<InputValues> inputs() const {
    std::vector<InputValues> values;
    for (std::size_t i = 0; i < floats.size(); ++i) values.push_back({floats[i], integers[i]});
    return values;
  }
  ReferenceInputs reference() const {
    ReferenceInputs inputs;
    for (const auto& each : constants) inputs.constants.emplace_back(each.begin(), each.end());
    for (const auto& each : floats) inputs.floats.emplace_back(each.begin(), each.end());
    inputs.integers = integers;
    return inputs;
  }
};

// Draws everything that `graph` declares; `known` gives constants by name instead.
inline Problem DrawProblem(Graph graph, std::uint64_t seed, float scale = 1,
                           const std::vector<ConstantTensor>& known = {}) {
  base::Rng rng(seed);
  Problem problem;
  const auto draw = [&](std::int64_t count, float of) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = of * static_cast<float>(rng.Normal());
    return values;
  };
  for (const Parameter& parameter : graph.parameters) {
    std::vector<float> values = draw(parameter.type.count(), scale);
    if (parameter.initial == Initial::kOnes) {
      for (float& value : values) value = 1 + 0.1F * value;
    }
    problem.parameters.insert(problem.parameters.end(), values.begin(), values.end());
  }
  for (const Constant& constant : graph.constants) {
    const auto found = std::find_if(known.begin(), known.end(), [&](const ConstantTensor& tensor) {
      return tensor.name == constant.name;
    });
    problem.constants.push_back(found != known.end() ? found->values
                                                     : draw(constant.type.count(), scale));
  }
  for (const Input& input : graph.inputs) {
    const bool of_integers = input.type.element == Element::kInt;
    problem.floats.push_back(of_integers ? std::vector<float>{} : draw(input.type.count(), 1));
    std::vector<std::int32_t> values(of_integers ? static_cast<std::size_t>(input.type.count())
                                                 : 0);
    for (std::int32_t& value : values) {
      value = static_cast<std::int32_t>(rng.Between(input.lowest, input.bound - 1));
    }
    problem.integers.push_back(std::move(values));
  }
  problem.graph = std::move(graph);
  return problem;
}

struct Gradient {
  float loss = 0;
  std::vector<float> values;
};

inline Gradient GradientOf(const Problem& problem, const Kernels& kernels, const Executor& executor,
                           std::size_t threads) {
  auto plan = PlanMemory(Differentiate(problem.graph), {}, threads);
  OSTRAKA_CHECK(plan.ok());
  Runner runner(*std::move(plan), problem.constants, kernels, executor);
  Gradient result;
  result.values.resize(problem.parameters.size());
  const auto loss = runner.Gradient(problem.parameters, problem.inputs(), result.values);
  OSTRAKA_CHECK(loss.ok());
  result.loss = *loss;
  return result;
}

inline Gradient GradientOf(const Problem& problem) {
  return GradientOf(problem, BestKernels(), aggregation::SerialExecutor(), 1);
}

}  // namespace ostraka::exact::testing
