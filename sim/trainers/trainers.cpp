#include "sim/trainers/trainers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "exact/graph/graph_text.h"
#include "node/train/dataset.h"
#include "node/train/exact/graph_file.h"
#include "node/train/toy_trainer.h"
#include "sim/attacks/registry.h"
#include "sim/attacks/results/other_work.h"
#include "sim/setup/models.h"
#include "sim/trainers/tiny_gpt.h"

namespace ostraka::sim {
namespace {

train::TrainerOptions ToyOptionsOf(const SimOptions& options) {
  return {.model = std::string(kToyModel),
          .data = std::string(kToyModel),
          .batch_size = options.batch_size,
          .hidden = options.dimension,
          .data_seed = options.seed};
}

// Names of the model and of its data, as the manifest of a run has them.
base::Status NameTraining(const SimOptions& options, protocol::TrainingPlan& plan) {
  if (options.model == kGptModel) {
    ASSIGN_OR_RETURN(const std::string graph, TinyGptGraph(options.batch_size));
    plan.model =
        train::TextOf({.name = std::string(train::kGraphModel), .graph = exact::GraphId(graph)});
    plan.data = train::kTokens;
    return base::OkStatus();
  }
  plan.model = kToyModel;
  plan.data = kToyModel;
  plan.hidden = options.dimension;
  return base::OkStatus();
}

}  // namespace

base::StatusOr<protocol::TrainingPlan> PlanOf(const SimOptions& options) {
  protocol::TrainingPlan plan;
  RETURN_IF_ERROR(NameTraining(options, plan));
  plan.batch_size = options.batch_size;
  plan.batches = options.batches;
  plan.most_batches = options.most_batches;
  plan.data_seed = options.seed;
  plan.steps = options.steps;
  plan.settle_steps = 5;  // the minimum; CheckOptions leaves room for them
  plan.learning_rate = options.learning_rate;
  plan.optimizer = options.optimizer;
  plan.schedule = options.schedule;
  plan.decay_steps = options.schedule == protocol::Schedule::kWsd ? (plan.steps - 1) / 5 : 0;
  plan.momentum = options.momentum;
  plan.clip_norm = options.clip_norm;
  if (options.inner_steps > 1) {
    plan.inner.steps = options.inner_steps;
    plan.inner.learning_rate = options.inner_rate;
    plan.inner.warmup_steps = std::min(plan.inner.warmup_steps, options.inner_steps);
  }
  return plan;
}

base::StatusOr<std::unique_ptr<train::Trainer>> TrainerOf(const SimOptions& options) {
  if (options.model == kGptModel) {
    return MakeTinyGpt(options.seed, options.batch_size, Targets::kTrue);
  }
  return train::MakeToyTrainer(ToyOptionsOf(options));
}

base::StatusOr<std::unique_ptr<train::Trainer>> AttackersTrainerOf(const SimOptions& options) {
  if (!IsOnWork(options.attack)) return nullptr;
  if (!FlipsLabels(options.attack)) return TrainerOf(options);
  if (options.model == kGptModel) {
    return MakeTinyGpt(options.seed, options.batch_size, Targets::kReversed);
  }
  ASSIGN_OR_RETURN(train::ToyProblem problem, train::DrawToyProblem(ToyOptionsOf(options)));
  FlipLabels(problem);
  return train::MakeToyTrainerOver(std::move(problem), options.batch_size);
}

}  // namespace ostraka::sim
