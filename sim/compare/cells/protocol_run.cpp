// The full protocol, BTARD with bans: the machines of node/protocol in virtual time, training the
// cell's model. A failed checker of the simulator is an error of the cell.
#include <algorithm>
#include <cstring>

#include "node/protocol/ground/manifest.h"
#include "sim/compare/cells/runner.h"
#include "sim/compare/cells/schedule.h"
#include "sim/run/cluster.h"

namespace ostraka::compare {
namespace {

using aggregation::Default;
using aggregation::ValueType;

constexpr aggregation::Choice kModes[] = {{"majority", "bears a minority of Byzantine members"},
                                          {"balanced", "and some asynchrony"},
                                          {"third", "bears a third of both"}};
constexpr aggregation::ParameterInfo kParameters[] = {
    {.name = "tau",
     .type = ValueType::kReal,
     .meaning = "clipping radius of a part; 0: the median of the last sealed norms",
     .default_kind = Default::kValue,
     .default_text = "0"},
    {.name = "validators",
     .type = ValueType::kInteger,
     .meaning = "members that recompute instead of training, in each step",
     .default_kind = Default::kValue,
     .default_text = "1",
     .low = 1,
     .high = 100},
    {.name = "alarm",
     .type = ValueType::kInteger,
     .meaning = "the same for eight steps after an accusation; 0: no more than else",
     .default_kind = Default::kDerived,
     .default_text = "a quarter of 16 workers or more",
     .low = 0,
     .high = 100},
    {.name = "mode",
     .type = ValueType::kChoice,
     .meaning = "faults that the run bears",
     .default_kind = Default::kValue,
     .default_text = "majority",
     .choices = kModes}};

// "btard:tau=1,validators=1,alarm=0,mode=majority".
base::Status ReadOptions(const Cell& cell, sim::SimOptions& options) {
  ASSIGN_OR_RETURN(const auto element, aggregation::ParseElement(cell.rule.pipeline));
  ASSIGN_OR_RETURN(const auto parameters, ParseProtocol(element.arguments));
  options.tau = parameters.Real("tau");
  options.validators = static_cast<std::uint32_t>(parameters.Integer("validators"));
  options.alarm_validators = parameters.Has("alarm")
                                 ? static_cast<std::uint32_t>(parameters.Integer("alarm"))
                                 : protocol::DefaultAlarm(cell.peers);
  ASSIGN_OR_RETURN(options.mode, protocol::ParseMode(parameters.Choice("mode")));
  return base::OkStatus();
}

base::StatusOr<sim::SimOptions> OptionsOf(const Cell& cell) {
  sim::SimOptions options;
  std::memcpy(&options.seed, DrawSeed(cell, "protocol").bytes.data(), sizeof(options.seed));
  options.peers = static_cast<std::uint32_t>(cell.peers);
  options.byzantine = static_cast<std::uint32_t>(cell.byzantine);
  ASSIGN_OR_RETURN(const auto attack, aggregation::ParseElement(cell.attack));
  options.attack = attack.name;
  for (const auto& [name, value] : attack.arguments) options.attack_params[name] = value;
  options.attack_from_step = cell.attack_from / cell.inner_steps;
  options.exact = cell.is_exact();
  RETURN_IF_ERROR(ReadOptions(cell, options));
  return options;
}

ProtocolFacts FactsOf(const sim::SimResult& run) {
  ProtocolFacts facts;
  for (const wire::Removal& removal : run.removals) {
    const bool byzantine = std::find(run.peers.byzantine.begin(), run.peers.byzantine.end(),
                                     removal.peer) != run.peers.byzantine.end();
    facts.removals.push_back({removal.step, byzantine, wire::RemovalKindName(removal.kind)});
  }
  facts.detection_steps = run.detection_steps;
  facts.steps = run.steps;
  facts.slow_seals = run.slow_iterations;
  return facts;
}

}  // namespace

base::StatusOr<aggregation::Parameters> ParseProtocol(const aggregation::Arguments& given) {
  return aggregation::ParseParameters("rule btard", kParameters, given);
}

base::StatusOr<CellResult> RunProtocolCell(const Cell& cell, const RunContext& context) {
  ASSIGN_OR_RETURN(const sim::SimOptions options, OptionsOf(cell));
  CellResult result;
  base::Status failed;
  const auto evaluate = [&](std::uint64_t step, const std::vector<float>& parameters) {
    const auto point = Evaluate(step, parameters, context.trainer);
    if (point.ok()) {
      result.curve.push_back(*point);
    } else if (failed.ok()) {
      failed = point.status();
    }
  };
  sim::Training training;
  training.trainer = &context.trainer;
  training.attackers = context.attackers;
  training.plan = PlanOf(cell);
  training.initial = context.trainer.InitialParameters(DrawSeed(cell, "initial"));
  std::uint64_t done = 0;
  std::vector<float> last;
  training.on_block = [&](const wire::Block& block, const std::vector<float>& parameters) {
    if (!wire::Trained(block)) return;
    const std::uint64_t steps = wire::TrainedSteps(block) * cell.inner_steps;
    // What settles on top of the cell's steps moves nothing.
    if (cell.is_exact() && steps > cell.steps) return;
    done = steps;
    last = parameters;
    if (done % cell.evaluate_every == 0) evaluate(done, parameters);
  };
  evaluate(0, training.initial);
  ASSIGN_OR_RETURN(const sim::SimResult run, sim::RunTraining(options, training));
  if (done > 0 && done % cell.evaluate_every != 0) evaluate(done, last);
  RETURN_IF_ERROR(failed);
  // An attacker that stays undetected is a result, like a model that does not learn.
  if (!run.ok && run.failure->checker != "undetected") {
    return base::FailedPrecondition("checker " + run.failure->checker + ": " +
                                    run.failure->message);
  }
  result.protocol = FactsOf(run);
  result.bytes = run.bytes_sent;
  return result;
}

}  // namespace ostraka::compare
