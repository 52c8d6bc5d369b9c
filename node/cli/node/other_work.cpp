#include "node/cli/node/other_work.h"

#include <memory>
#include <utility>

#include "node/train/data_source.h"
#include "node/train/exact/graph_file.h"
#include "node/train/exact/micro_batch.h"
#include "node/train/toy_trainer.h"
#include "node/train/trainer_loader.h"
#include "sim/attacks/results/other_work.h"

namespace ostraka::cli {
namespace {

base::StatusOr<std::unique_ptr<train::Trainer>> MakeFlipped(const train::TrainerOptions& options) {
  if (options.model == "toy") {
    ASSIGN_OR_RETURN(train::ToyProblem problem, train::DrawToyProblem(options));
    sim::FlipLabels(problem);
    return train::MakeToyTrainerOver(std::move(problem), options.batch_size);
  }
  ASSIGN_OR_RETURN(train::Dataset data, train::LoadDataFor(options));
  if (!data.columns.empty()) {
    ASSIGN_OR_RETURN(const exact::Graph graph, train::GraphOf(options.graph));
    ASSIGN_OR_RETURN(const train::MicroBatch batch, train::MicroBatch::For(graph, data));
    if (batch.targets().empty()) {
      return base::InvalidArgument(
          "attack label_flip needs targets, and the loss of this graph selects by none");
    }
    data.reversed_targets = true;
  } else if (data.name == train::kTokens) {
    data.reversed_targets = true;
  } else {
    sim::FlipLabels(data.training.labels, data.class_count);
  }
  return train::MakeTrainerOver(options, std::move(data));
}

}  // namespace

base::StatusOr<protocol::GradientFunction> OtherWork(const std::string& attack,
                                                     const train::TrainerOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<train::Trainer> made,
                   sim::FlipsLabels(attack) ? MakeFlipped(options) : train::MakeTrainer(options));
  return [attack, trainer = std::shared_ptr<train::Trainer>(std::move(made))](
             const protocol::GradientSpec& spec) -> base::StatusOr<std::vector<float>> {
    ASSIGN_OR_RETURN(train::Worked worked,
                     sim::OtherWork(attack, *trainer,
                                    {*spec.parameters, spec.batch_seed, spec.batches, spec.local}));
    return std::move(worked.values);
  };
}

}  // namespace ostraka::cli
