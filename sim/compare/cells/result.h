// The result of a cell, and its JSON form.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "node/base/status.h"

namespace ostraka::compare {

// The model after some steps.
struct Point {
  std::uint64_t step = 0;  // number of steps done
  double validation_accuracy = 0;
  double validation_loss = 0;  // NaN or infinite for a model that diverged
  double test_accuracy = 0;
  double test_loss = 0;

  bool operator==(const Point&) const = default;
};

// Additional results of the full protocol.
struct ProtocolFacts {
  struct Removal {
    std::uint64_t step = 0;
    bool byzantine = false;
    std::string kind;  // verdict, evidence, drop, eliminate

    bool operator==(const Removal&) const = default;
  };
  std::vector<Removal> removals;
  // Steps from the first misdeed to the block that removed the last attacker; nullopt if there was
  // none, or one was not removed.
  std::optional<std::uint64_t> detection_steps;
  std::uint64_t steps = 0;  // may exceed the grid's number, with learning rate 0
  std::uint64_t slow_seals = 0;

  bool operator==(const ProtocolFacts&) const = default;
};

// A function of the cell, the code version and the compute profile.
struct CellResult {
  std::vector<Point> curve;  // ascending; the last point is the end of the run
  // The share of the attackers' rows that the aggregate was made of, over the steps under attack; 1
  // for rules that select no rows. Nullopt without an attack, after a pre-aggregation, and for the
  // protocol.
  std::optional<double> byzantine_selected;
  std::optional<ProtocolFacts> protocol;
  std::uint64_t bytes = 0;  // sent by all peers; at a server, including the model to the workers

  bool operator==(const CellResult&) const = default;
};

// The measurements that differ from run to run.
struct CellCost {
  double seconds = 0;
  std::uint64_t peak_memory_bytes = 0;  // of the process that ran the cell
};

const Point& FinalOf(const CellResult& result);
// The maximum over the curve.
double BestTestAccuracy(const CellResult& result);
// The minimum over the points after the first step under attack; the end if there are none.
double WorstTestAccuracyFrom(const CellResult& result, std::uint64_t attack_from);

nlohmann::json JsonOf(const CellResult& result);
// InvalidArgument for anything that JsonOf does not write.
base::StatusOr<CellResult> ResultOf(const nlohmann::json& json);

// A number, or null for a value that JSON cannot write.
nlohmann::json JsonOfReal(double value);

}  // namespace ostraka::compare
