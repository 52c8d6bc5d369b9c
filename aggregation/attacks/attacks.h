// Gradient attacks: what a Byzantine worker sends instead of its gradient. One table of them, by
// name, serves the swarm, the simulator, comparisons, `ostraka attack` and Python.
//
// Pure functions of what the colluders know and of a seed that they share; the same bits on every
// machine. What an attack remembers between steps stands in an AttackState that the caller holds.
// Results are finite and as long as a gradient, unless the table says that an attack is malformed:
// what exceeds float32 is cut to its largest value, as a row with an infinity would be refused
// before any rule saw it.
//
// Sources stand in the table. Where published code disagrees with its paper, or pieces of code with
// each other, the table says which definition this is (docs/attacks.md is made from it).
// Thread safety: pure functions over immutable tables.
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

// What the colluders must know.
enum class Knowledge {
  kLabels,  // no vector attack: the trainer computes it from wrong labels
  kOwn,     // the true gradient on the attacker's own batch
  kHonest,  // the gradients of all honest workers too
  kRule,    // and the rule that aggregates
};
// "labels", "own", "honest", "rule".
std::string_view KnowledgeName(Knowledge knowledge);

struct AttackView;

struct AttackInfo {
  std::string_view name = {};
  std::string_view summary = {};                   // one line, no full stop
  std::string_view definition = {};                // the formula, with variants and edge cases
  std::string_view source = {};                    // paper or code; empty: nobody's invention
  std::span<const ParameterInfo> parameters = {};  // m: the number of colluders
  Knowledge knowledge = Knowledge::kOwn;
  bool identical = true;   // all colluders send the same vector if they see the same view
  bool remembers = false;  // reads and writes AttackState
  bool malformed = false;  // what it sends is not finite, or not as long as a gradient
  // Of a view that has been checked. Null for attacks on labels. Use ApplyAttack.
  base::StatusOr<std::vector<float>> (*apply)(const Parameters& parameters,
                                              const AttackView& view) = nullptr;
};

// All gradient attacks, by name.
std::span<const AttackInfo* const> Attacks();
// Null if there is none of that name.
const AttackInfo* FindAttack(std::string_view name);

// An attack with its parameters, checked.
struct Attack {
  const AttackInfo* info = nullptr;  // not null
  Parameters parameters;
};

// InvalidArgument, with a suggestion, for an unknown name or parameter; or a value out of range.
base::StatusOr<Attack> MakeAttack(std::string_view name, const Arguments& given);

// What an attack remembers of earlier steps. A new one knows nothing. One for each attacker.
struct AttackState {
  // delayed: the attacker's own gradients, oldest first.
  std::deque<std::vector<float>> own;
  // mimic: what has been learnt of the honest, in doubles.
  std::uint64_t steps = 0;
  std::vector<double> mean;
  std::vector<double> direction;                // of the greatest variance, of length 1
  std::map<std::uint64_t, double> projections;  // by identity, summed over the steps
  // rop: what the rule made of the last step.
  std::vector<float> aggregate;
};

// The rule under attack, with all that precedes it: writes d floats. `rows` are finite.
using Victim = std::function<base::Status(const Rows& rows, std::span<float> out)>;

// What the colluders know in one step. Spans and pointers are borrowed for the call.
struct AttackView {
  std::span<const float> own;       // may be empty if the attack asks for no own gradient
  Rows honest;                      // n - m rows; may be empty if it needs none
  std::size_t byzantine_count = 1;  // m, this attacker included
  const base::TensorLayout* layout = nullptr;  // of `own`; null: one tensor
  std::uint64_t seed = 0;                      // one for all colluders
  std::uint64_t step = 0;
  std::size_t attacker = 0;                   // this one's number among the colluders, below m
  std::size_t worker_count = 0;               // n; 0: as many as honest rows and colluders
  std::span<const std::uint64_t> honest_ids;  // who sent each row; empty: their numbers
  const Victim* victim = nullptr;             // for attacks on a rule
  AttackState* state = nullptr;               // null: the first step of an attacker
};

// The vector to send. InvalidArgument for a view that lacks what the attack needs;
// FailedPrecondition for an attack on labels, which only a trainer can carry out; whatever the
// victim answers if it refuses the rows.
base::StatusOr<std::vector<float>> ApplyAttack(const Attack& attack, const AttackView& view);

}  // namespace ostraka::aggregation
