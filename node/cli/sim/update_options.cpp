#include "node/cli/sim/update_options.h"

#include <CLI/CLI.hpp>

#include "node/cli/options/choices.h"
#include "node/cli/options/update_choices.h"
#include "node/protocol/ground/setting.h"
#include "sim/setup/models.h"

namespace ostraka::cli {
namespace {

// After the optimizer, on which the model's learning rate depends.
base::Status SetModel(const SimUpdateOptions& options, sim::SimOptions& result) {
  result.model = options.model;
  if (result.model != sim::kGptModel) {
    result.dimension = options.dimension.value_or(result.dimension);
    return base::OkStatus();  // CheckOptions knows what else there is
  }
  if (options.dimension) {
    return base::InvalidArgument(
        "--dimension is of the toy problem, and model gpt has its own: leave it out");
  }
  sim::UseTinyGpt(result);
  return base::OkStatus();
}

}  // namespace

void AddSimUpdateOptions(CLI::App& command, SimUpdateOptions& options) {
  OfferChoices(
      command.add_option("--model", options.model,
                         "toy, or gpt: one layer over letters, by exact kernels (--exact)"),
      TextsOf(sim::kModels))
      ->capture_default_str();
  command.add_option("--dimension", options.dimension,
                     "dimension of the toy problem (default: 1000)");
  const auto add = [&command](const protocol::Setting& setting, auto& value,
                              const char* more = "") {
    return command.add_option(std::string(setting.flag), value, std::string(setting.help) + more);
  };
  namespace setting = protocol::setting;
  OfferChoices(add(setting::kOptimizer, options.optimizer), OptimizerNames())
      ->capture_default_str();
  OfferChoices(add(setting::kSchedule, options.schedule), ScheduleNames())->capture_default_str();
  add(setting::kClipNorm, options.clip, " (default: 0; of adamw and lamb 1)");
  add(setting::kInnerSteps, options.inner_steps, "; makes --exact, and nesterov")
      ->check(CLI::Range(setting::kInnerSteps.least, setting::kInnerSteps.most))
      ->capture_default_str();
  OfferChoices(add(setting::kPartCodec, options.part_codec, "; a code makes --exact"),
               PartCodecNames())
      ->capture_default_str();
  OfferChoices(add(setting::kResultCodec, options.result_codec, "; a code makes --exact"),
               ResultCodecNames())
      ->capture_default_str();
}

namespace {

base::Status SetLocalSteps(const SimUpdateOptions& options, sim::SimOptions& result) {
  if (options.inner_steps == 1) return base::OkStatus();
  if (options.clip || aggregation::HasMoments(result.optimizer)) {
    return base::InvalidArgument(
        "--clip and --optimizer adamw or lamb are of the update, and local steps (--inner-steps) "
        "clip and have adamw themselves: leave them out");
  }
  sim::UseLocalSteps(options.inner_steps, result);
  return base::OkStatus();
}

base::Status SetCodecs(const SimUpdateOptions& options, sim::SimOptions& result) {
  ASSIGN_OR_RETURN(result.codecs.parts, CodecOf(options.part_codec));
  ASSIGN_OR_RETURN(result.codecs.results, CodecOf(options.result_codec));
  if (result.codecs != protocol::Codecs{}) result.exact = true;
  return base::OkStatus();
}

}  // namespace

base::Status SetUpdate(const SimUpdateOptions& options, sim::SimOptions& result) {
  using aggregation::Optimizer;
  ASSIGN_OR_RETURN(const Optimizer optimizer, OptimizerOf(options.optimizer));
  ASSIGN_OR_RETURN(result.schedule, ScheduleOf(options.schedule));
  result.optimizer = optimizer;
  result.momentum = optimizer == Optimizer::kNesterov ? 0.9 : 0;
  // The toy's rate for SGD would make steps of these as long as the way to go.
  if (aggregation::HasMoments(optimizer)) result.learning_rate = 0.02;
  result.clip_norm = options.clip.value_or(aggregation::HasMoments(optimizer) ? 1 : 0);
  RETURN_IF_ERROR(SetModel(options, result));
  RETURN_IF_ERROR(SetLocalSteps(options, result));
  return SetCodecs(options, result);
}

}  // namespace ostraka::cli
