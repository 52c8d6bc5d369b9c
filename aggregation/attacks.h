// Gradient attacks: what a Byzantine worker sends instead of its gradient.
//
// Pure functions of what the colluders know and of a seed that they share; the same bits on every
// machine. Results are finite: what exceeds float32 is cut to its largest value, as a row with an
// infinity would be refused before any rule saw it.
//
// Sources: sign_flip, random_direction and label_flip after the experiments of Gorbunov et al.,
// ICML 2022 (BTARD); ALIE: Baruch, Baruch, Goldberg, NeurIPS 2019; IPM: Xie, Koyejo, Gupta, UAI
// 2019. Thread safety: pure functions over immutable tables.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aggregation/rule.h"
#include "node/base/status.h"
#include "node/base/tensor_layout.h"

namespace ostraka::aggregation {

struct AttackParameter {
  std::string_view name;
  std::optional<double> default_value;  // nullopt: derived from n and m, as `meaning` says
  std::string_view meaning;
};

struct AttackInfo {
  std::string_view name;
  std::string_view summary;
  bool flips_labels = false;  // no vector attack: the trainer computes it from wrong labels
  bool needs_honest_gradients = false;  // the colluders recompute all honest gradients
  std::span<const AttackParameter> parameters;
};

// All gradient attacks, by name.
std::span<const AttackInfo> Attacks();
// Null if there is none of that name.
const AttackInfo* FindAttack(std::string_view name);

// What the colluders know in one step. Spans and pointers are borrowed for the call.
struct AttackView {
  std::span<const float> own;                  // the true gradient on the attacker's own batch
  Rows honest;                                 // n - m rows; may be empty if the attack needs none
  std::size_t byzantine_count = 1;             // m, this attacker included
  const base::TensorLayout* layout = nullptr;  // of `own`; null: one tensor
  std::uint64_t seed = 0;                      // one for all colluders
};

using AttackParameters = std::map<std::string, double, std::less<>>;

// The vector to send, as long as `own`. InvalidArgument for an unknown attack or parameter, a
// parameter that is not finite, or a view that lacks what the attack needs; FailedPrecondition for
// an attack on labels, which only a trainer can carry out.
base::StatusOr<std::vector<float>> ApplyAttack(std::string_view name,
                                               const AttackParameters& parameters,
                                               const AttackView& view);

// -lambda own.
std::vector<float> SignFlip(std::span<const float> own, double lambda);

// Tensor by tensor, lambda |own| u with u a unit vector drawn from `seed` alone: colluders agree on
// the direction without a word. REQUIRES: layout covers `own`.
std::vector<float> RandomDirection(std::span<const float> own, const base::TensorLayout& layout,
                                   double lambda, std::uint64_t seed);

// Coordinate by coordinate mu - z sigma over the honest rows; sigma divides by their number.
std::vector<float> Alie(const Rows& honest, double z);

// The largest z that hides among the honest: Phi^-1((n-m-s) / (n-m)), s = floor(n/2 + 1) - m, the
// honest peers needed for a majority. The argument is kept half a peer away from 0 and 1, where the
// formula has no value (a Byzantine majority). REQUIRES: n > m.
double AlieZ(std::size_t n, std::size_t m);

// -eps times the mean of the honest rows.
std::vector<float> InnerProductManipulation(const Rows& honest, double eps);

}  // namespace ostraka::aggregation
