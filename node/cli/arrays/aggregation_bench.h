// Measures rules against the memory traffic that they cannot avoid.
//
// Thread safety: none; one benchmark at a time. Starts its own threads.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "node/base/status.h"

namespace ostraka::cli {

struct AggregationBenchOptions {
  struct Shape {
    std::size_t rows = 0;
    std::size_t dimension = 0;
  };
  std::vector<Shape> shapes;
  std::vector<std::string> rules;  // names of the registry; empty: those of docs/benchmarks.md
  std::size_t threads = 1;
  int runs = 5;  // the fastest run counts
};

struct BenchResult {
  std::string name;  // "krum/n16/d1000000/threads2"
  double seconds = 0;
  // Lower bound: the registry's reads and writes of the rows, at the read bandwidth of this buffer
  // with an equal number of threads, measured in alternation with the rule.
  double floor_seconds = 0;
  std::string skipped;  // reason for missing numbers: an exact search that takes too long
};

// Uses uniform, seeded float32 rows; f = n / 5 (3 of 16, 12 of 64) or the rule's limit. Calls
// `on_result` after each rule. InvalidArgument: an unknown rule or an empty shape; Unavailable: the
// rows do not fit into memory.
base::Status RunAggregationBench(const AggregationBenchOptions& options,
                                 const std::function<void(const BenchResult&)>& on_result);

}  // namespace ostraka::cli
