// Gradient attacks: the vectors that a Byzantine worker sends instead of its gradient. One table,
// by name, serves the swarm, the simulator, comparisons, `ostraka attack` and Python.
//
// An attack is a pure function of the colluders' knowledge and of a seed that they share,
// bit-identical on every machine. The caller holds the AttackState that an attack keeps between
// steps. Results are finite and have the length of a gradient, unless the table marks the attack as
// malformed. Values beyond float32 are cut to its largest value, since a row with an infinity would
// be refused before any rule sees it.
//
// The table names sources. Where published code disagrees with its paper, or implementations with
// each other, the table states which definition is used (docs/attacks.md is made from it). Thread
// safety: pure functions over immutable tables.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "aggregation/kernels/rows.h"
#include "aggregation/shared/parameters.h"
#include "node/base/status.h"
#include "node/base/tensor_layout.h"

namespace ostraka::aggregation {

// The knowledge that the colluders need.
enum class Knowledge {
  kWork,    // not a vector attack: a trainer does other work than is owed
  kOwn,     // the true gradient on the attacker's own batch
  kHonest,  // also the gradients of all honest workers
  kRule,    // also the aggregation rule
};
// "work", "own", "honest", "rule".
std::string_view KnowledgeName(Knowledge knowledge);

struct AttackView;

struct AttackInfo {
  std::string_view name = {};
  std::string_view summary = {};                   // one line, no full stop
  std::string_view definition = {};                // the formula, with variants and edge cases
  std::string_view source = {};                    // paper or code; empty: no author
  std::span<const ParameterInfo> parameters = {};  // m: the number of colluders
  Knowledge knowledge = Knowledge::kOwn;
  bool identical = true;   // colluders with equal views send equal vectors
  bool remembers = false;  // reads and writes AttackState
  bool malformed = false;  // the vector is not finite, or not as long as a gradient
  // Applies it to a checked view. Null for attacks on work. Use ApplyAttack.
  base::StatusOr<std::vector<float>> (*apply)(const Parameters& parameters,
                                              const AttackView& view) = nullptr;
};

// All gradient attacks, by name.
std::span<const AttackInfo* const> Attacks();
// Null if the name is unknown.
const AttackInfo* FindAttack(std::string_view name);

// An attack with checked parameters.
struct Attack {
  const AttackInfo* info = nullptr;  // not null
  Parameters parameters;
};

// InvalidArgument, with a suggestion, for an unknown name or parameter, or for a value out of
// range.
base::StatusOr<Attack> MakeAttack(std::string_view name, const Arguments& given);

// What one attacker remembers of earlier steps. A new state is empty.
struct AttackState {
  // delayed: the attacker's own gradients, oldest first.
  std::deque<std::vector<float>> own;
  // mimic: statistics of the honest rows, in doubles.
  std::uint64_t steps = 0;
  std::vector<double> mean;
  std::vector<double> direction;                // of the greatest variance, of length 1
  std::map<std::uint64_t, double> projections;  // by identity, summed over the steps
  // rop: the aggregate of the last step.
  std::vector<float> aggregate;
};

// The attacked rule with everything that precedes it; writes d floats. REQUIRES: `rows` are finite.
using Victim = std::function<base::Status(const Rows& rows, std::span<float> out)>;

// The colluders' knowledge in one step. Spans and pointers are borrowed for the call.
struct AttackView {
  std::span<const float> own;                  // may be empty if the attack uses no own gradient
  Rows honest;                                 // n - m rows; may be empty if the attack uses none
  std::size_t byzantine_count = 1;             // m, including this attacker
  const base::TensorLayout* layout = nullptr;  // of `own`; null: one tensor
  std::uint64_t seed = 0;                      // common to all colluders
  std::uint64_t step = 0;
  std::size_t attacker = 0;                   // index among the colluders, below m
  std::size_t worker_count = 0;               // n; 0: the sum of honest rows and colluders
  std::span<const std::uint64_t> honest_ids;  // sender of each row; empty: the row numbers
  const Victim* victim = nullptr;             // for attacks on a rule
  AttackState* state = nullptr;               // null: the attacker's first step
};

// The vector to send. InvalidArgument: the view lacks something that the attack needs.
// FailedPrecondition: an attack on work, which only a trainer can carry out. Returns the victim's
// error if it refuses the rows.
base::StatusOr<std::vector<float>> ApplyAttack(const Attack& attack, const AttackView& view);

}  // namespace ostraka::aggregation
