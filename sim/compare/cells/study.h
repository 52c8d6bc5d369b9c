// Per-step data of a cell, as columns of numbers: lengths and angles of the honest mean, the attack
// and the aggregate, and the number of Byzantine rows that the rule selected. (The data that the
// runner of Byzantine momentum writes: El-Mhamdi, Guerraoui, Rouault, ICLR 2021.)
//
// Thread safety: plain values and pure functions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "aggregation/kernels/rows.h"
#include "node/base/bytes.h"

namespace ostraka::compare {

// Entry t belongs to step t. NaN: no value (no attack, or a rule that selects no rows).
struct Study {
  std::vector<double> rate;
  std::vector<double> honest_norm;    // of the mean of the honest rows
  std::vector<double> honest_spread;  // sqrt(mean |row - mean|^2) of the honest rows
  std::vector<double> attack_norm;    // of the mean of the Byzantine rows
  std::vector<double> aggregate_norm;
  std::vector<double> cos_honest_attack;
  std::vector<double> cos_honest_aggregate;
  std::vector<double> cos_attack_aggregate;
  std::vector<double> aggregate_error;     // |aggregate - honest mean|
  std::vector<double> byzantine_selected;  // share of the Byzantine rows that the rule selected
};

// Adds one step. `attack` is empty before an attack and without one.
void AddStep(double rate, std::span<const float* const> honest,
             std::span<const float* const> attack, std::span<const float> aggregate,
             std::optional<double> selected, Study& study);

// An uncompressed .npz with one float64 array for each member, by its name; np.load reads it.
base::Bytes NpzOf(const Study& study);

}  // namespace ostraka::compare
