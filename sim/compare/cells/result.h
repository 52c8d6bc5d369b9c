// What running a cell gives, and its form as JSON.
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

// The model after so many steps.
struct Point {
  std::uint64_t step = 0;  // steps done
  double validation_accuracy = 0;
  double validation_loss = 0;  // may be NaN or infinite: a model that diverged
  double test_accuracy = 0;
  double test_loss = 0;

  bool operator==(const Point&) const = default;
};

// What the full protocol says besides.
struct ProtocolFacts {
  struct Removal {
    std::uint64_t step = 0;
    bool byzantine = false;
    std::string kind;  // verdict, evidence, drop, eliminate

    bool operator==(const Removal&) const = default;
  };
  std::vector<Removal> removals;
  // From the first misdeed to the block that removed the last of those who misbehaved; nothing if
  // none did, or one was not removed.
  std::optional<std::uint64_t> detection_steps;
  std::uint64_t steps = 0;  // it may last longer than the grid says, with learning rate 0
  std::uint64_t slow_seals = 0;

  bool operator==(const ProtocolFacts&) const = default;
};

// A function of the cell, the code version and the compute profile.
struct CellResult {
  std::vector<Point> curve;  // ascending; the last is the end of the run
  // Of the rows that attackers sent, the share that the aggregate was made of, over the steps under
  // attack; 1 for rules that select no rows. Nothing without an attack, after a pre-aggregation and
  // of the protocol.
  std::optional<double> byzantine_selected;
  std::optional<ProtocolFacts> protocol;
  std::uint64_t bytes = 0;  // sent by all, the model to the workers at a server included

  bool operator==(const CellResult&) const = default;
};

// What of a run no second run repeats.
struct CellCost {
  double seconds = 0;
  std::uint64_t peak_memory_bytes = 0;  // of the process that ran it
};

const Point& FinalOf(const CellResult& result);
// Over the curve.
double BestTestAccuracy(const CellResult& result);
// Over the points after the first step under attack; of the end if there are none.
double WorstTestAccuracyFrom(const CellResult& result, std::uint64_t attack_from);

nlohmann::json JsonOf(const CellResult& result);
// InvalidArgument for anything but what JsonOf writes.
base::StatusOr<CellResult> ResultOf(const nlohmann::json& json);

// A number, or null where JSON has no word for it.
nlohmann::json JsonOfReal(double value);

}  // namespace ostraka::compare
