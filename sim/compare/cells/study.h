// What happened in each step of a cell, as columns of numbers: lengths and angles of the honest
// mean, the attack and the aggregate, and how many Byzantine rows the rule took. (Per-step data as
// the runner of Byzantine momentum writes it: El-Mhamdi, Guerraoui, Rouault, ICLR 2021.)
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

// Entry t is of step t. NaN: there is no such number (no attack, a rule that selects no rows).
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

// An uncompressed .npz of float64 arrays, one for each member, by its name; np.load reads it.
base::Bytes NpzOf(const Study& study);

}  // namespace ostraka::compare
