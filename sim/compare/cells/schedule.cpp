#include "sim/compare/cells/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "aggregation/shared/parameters.h"
#include "node/base/check.h"
#include "node/base/suggest.h"
#include "node/protocol/ground/schedule.h"
#include "sim/compare/cells/model.h"

namespace ostraka::compare {
namespace {

using aggregation::Default;
using aggregation::ParameterInfo;
using aggregation::ValueType;

constexpr ParameterInfo kStep[] = {{.name = "every",
                                    .type = ValueType::kInteger,
                                    .meaning = "steps between two drops",
                                    .default_kind = Default::kRequired,
                                    .low = 1},
                                   {.name = "factor",
                                    .type = ValueType::kReal,
                                    .meaning = "of the rate, at each drop",
                                    .default_kind = Default::kValue,
                                    .default_text = "0.1",
                                    .high = 1,
                                    .low_open = true}};

struct Schedule {
  std::string name;
  aggregation::Parameters parameters;
};

base::StatusOr<Schedule> ParseSchedule(std::string_view text) {
  ASSIGN_OR_RETURN(const auto element, aggregation::ParseElement(text));
  const std::vector<std::string> names = {"constant", "linear", "cosine", "step"};
  if (std::find(names.begin(), names.end(), element.name) == names.end()) {
    return base::InvalidArgument("unknown schedule '" + element.name + "'" +
                                 base::SuggestionFor(element.name, names));
  }
  std::span<const ParameterInfo> infos;
  if (element.name == "step") infos = kStep;
  Schedule schedule{element.name, {}};
  ASSIGN_OR_RETURN(schedule.parameters, aggregation::ParseParameters("schedule " + element.name,
                                                                     infos, element.arguments));
  return schedule;
}

// The share of the rate after the warm-up.
double ShareOf(const Schedule& schedule, const Cell& cell, std::uint64_t step) {
  const auto steps = static_cast<double>(std::max<std::uint64_t>(cell.steps, 1));
  if (schedule.name == "cosine") {
    return 0.5 * (1 + std::cos(std::numbers::pi * static_cast<double>(step) / steps));
  }
  if (schedule.name == "step") {
    const std::uint64_t drops = step / schedule.parameters.Integer("every");
    return std::pow(schedule.parameters.Real("factor"), static_cast<double>(drops));
  }
  return 1;
}

// The protocol's defaults, but for what the cell says.
void UseAdamW(const Cell& cell, protocol::TrainingPlan& plan) {
  plan.steps = cell.exchanges() + kSettleSteps;
  plan.settle_steps = kSettleSteps;
  plan.warmup_steps = (cell.warmup_steps + cell.inner_steps - 1) / cell.inner_steps;
  const auto schedule = protocol::FindSchedule(cell.schedule);
  OSTRAKA_CHECK(schedule.has_value());
  plan.schedule = *schedule;
  if (cell.inner_steps == 1) {
    plan.optimizer = aggregation::Optimizer::kAdamW;
    plan.clip_norm = plan.inner.clip_norm;
    return;
  }
  plan.inner.steps = cell.inner_steps;
  plan.inner.learning_rate = cell.learning_rate;
  plan.inner.warmup_steps = std::min(plan.inner.warmup_steps, cell.inner_steps);
  plan.inner.weight_decay = cell.weight_decay;
  plan.optimizer = aggregation::Optimizer::kNesterov;
  plan.learning_rate = cell.outer_rate;
  plan.momentum = cell.outer_momentum;
  plan.weight_decay = 0;
}

}  // namespace

base::Status CheckSchedule(std::string_view text) { return ParseSchedule(text).status(); }

bool IsOfProtocol(const Cell& cell) {
  return cell.schedule == "linear" || (cell.is_exact() && cell.schedule == "cosine");
}

protocol::TrainingPlan PlanOf(const Cell& cell) {
  protocol::TrainingPlan plan;
  plan.model = ManifestModelOf(cell);
  plan.data = cell.data + "@" + cell.data_hash.Hex();
  plan.batch_size = cell.batch_size;
  plan.hidden = cell.hidden;
  plan.steps = cell.steps;
  plan.settle_steps = std::min(kSettleSteps, cell.steps - 1);
  plan.learning_rate = cell.learning_rate;
  plan.warmup_steps = cell.warmup_steps;
  plan.momentum = cell.momentum;
  plan.weight_decay = cell.weight_decay;
  if (cell.is_exact()) UseAdamW(cell, plan);
  return plan;
}

aggregation::SgdOptions SgdOf(const Cell& cell, std::uint64_t step) {
  const auto schedule = ParseSchedule(cell.schedule);
  OSTRAKA_CHECK(schedule.ok());
  aggregation::SgdOptions options = protocol::SgdOf(PlanOf(cell), step);
  if (schedule->name == "linear") return options;
  const double warm = step < cell.warmup_steps
                          ? static_cast<double>(step + 1) / static_cast<double>(cell.warmup_steps)
                          : 1;
  options.rate = static_cast<float>(cell.learning_rate * warm * ShareOf(*schedule, cell, step));
  return options;
}

}  // namespace ostraka::compare
