// One cell of a comparison: a training run, with every parameter that its result depends on.
//
// The id of a cell is the hash of its parameters, each as text. So a result belongs to its
// parameters, whatever grid asked for it, and an enlarged grid finds its old cells done. A
// parameter that came later counts only where it is not its default.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aggregation/attacks/attacks.h"
#include "aggregation/rules/pipeline.h"
#include "node/base/ids.h"
#include "node/base/status.h"

namespace ostraka::compare {

// A row of the table: a rule with its pre-aggregations at a trusted server, or the protocol.
struct RuleText {
  std::string family;    // as the grid writes it, "centered_clip:tau=0.1|1+nnm": a row of tables
  std::string pipeline;  // one of its alternatives, "centered_clip:tau=1+nnm"

  auto operator<=>(const RuleText&) const = default;
};

// The name of the full protocol among the rules: "ours" in papers.
inline constexpr std::string_view kProtocolRule = "btard";

struct Cell {
  // The setting.
  std::string data = "digits";
  base::Digest data_hash;
  std::string model = "softmax";
  std::uint64_t hidden = 64;
  std::string partition = "shared";
  std::uint64_t peers = 16;
  std::uint64_t byzantine = 3;
  std::uint64_t tolerate = 3;  // f, the number that the rule is told
  RuleText rule;
  std::string attack = "none";
  std::uint64_t attack_from = 0;  // the first step under attack
  std::uint64_t steps = 100;      // gradients that each worker takes
  std::uint64_t batch_size = 8;
  std::uint64_t evaluate_every = 10;  // in steps
  // "sgd", of the server; or "adamw", by the exact kernels: of the server where inner_steps is 1,
  // else of each worker, whose way the server takes by Nesterov's momentum.
  std::string optimizer = "sgd";
  std::uint64_t inner_steps = 1;  // H: steps of a worker from one exchange to the next

  // Parameters that selection chooses, with the alternatives in `rule`.
  double learning_rate = 0.1;
  std::string schedule = "linear";
  std::uint64_t warmup_steps = 0;
  double momentum = 0;         // of the server's SGD
  double worker_momentum = 0;  // of each worker's vectors, before the attack
  double weight_decay = 0;
  double outer_rate = 0;      // of the server, where inner_steps is above 1; else 0
  double outer_momentum = 0;  // likewise

  std::uint64_t seed = 0;

  bool is_protocol() const;
  // True if gradients are those of the exact kernels, with equal bits on every machine.
  bool is_exact() const { return optimizer != "sgd"; }
  std::uint64_t exchanges() const { return steps / inner_steps; }
};

// The use of a parameter, by which tables group.
enum class Role { kSetting, kRule, kAttack, kChoice, kSeed };

struct Column {
  std::string_view name;
  Role role;
  std::string text;
  std::string_view default_text = {};  // of a parameter that came later; empty: an older one
};

// Every parameter, in the order of results.csv. "rule" is the family.
std::vector<Column> ColumnsOf(const Cell& cell);

// H(kDomainCompareCell, "name=value\n" for every column except the family and those that came later
// and are their default).
base::Digest IdOf(const Cell& cell);

// The columns of these roles as "name=value" joined by spaces. Cells with one such text differ only
// in other roles. Leaves out no column of kSetting.
std::string KeyOf(const Cell& cell, std::initializer_list<Role> roles);

// The shortest text that parses back to `value`; "nan", "inf", "-inf".
std::string NumberText(double value);

// "krum:variant=paper+nnm": the rule, then pre-aggregations in the order of application.
// InvalidArgument as ParseElement.
base::StatusOr<aggregation::PipelineSpec> ParsePipeline(std::string_view text);

// "ipm:eps=0.1". InvalidArgument as ParseElement and MakeAttack; it suggests a known name.
base::StatusOr<aggregation::Attack> ParseAttack(std::string_view text);

}  // namespace ostraka::compare
