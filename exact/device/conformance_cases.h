// The cases of the conformance program: small graphs with their parameters and micro-batches.
//
// The operation cases and graphs with drawn extents, each with ordinary, tiny and wild values, and
// a few that show one care of numerics.md alone: no padding along a chain, padding of rows by
// lanes, sums that begin with +0.
// Local steps with such values follow, as their gradients have them.
//
// Thread safety: pure function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aggregation/optim/local_steps.h"
#include "exact/program/program.h"
#include "exact/run/inputs.h"

namespace ostraka::exact {

// The inputs of one micro-batch: floats or integers of each.
struct CaseInputs {
  std::vector<std::vector<float>> floats = {};
  std::vector<std::vector<std::int32_t>> integers = {};

  // Views of them.
  std::vector<InputValues> values() const;
};

struct ConformanceCase {
  std::string name;
  Program program = {};  // without constants
  std::vector<float> parameters = {};
  std::vector<CaseInputs> micro_batches = {};  // at least one
  bool of_products = false;                    // worth running with each kernel of products
  // Local steps in place of a gradient, if its count is more than 1: the micro-batches are then
  // batches of one each, of the first step, of the second and so on, as many of each.
  aggregation::LocalSteps local = {};
};

std::vector<ConformanceCase> ConformanceCases();

// Graphs of one operation each, with ordinary, tiny and wild values; extents and values follow from
// `seed`. The program has those of seeds 1 and 2.
std::vector<ConformanceCase> DrawnCases(std::uint64_t seed);

}  // namespace ostraka::exact
