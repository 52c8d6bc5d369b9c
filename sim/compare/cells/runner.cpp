#include "sim/compare/cells/runner.h"

#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/train/trainer_loader.h"
#include "sim/attacks/registry.h"
#include "sim/attacks/results/other_work.h"
#include "sim/compare/cells/model.h"

namespace ostraka::compare {

base::Digest DrawSeed(const Cell& cell, std::string_view label, std::uint64_t a, std::uint64_t b) {
  return crypto::Hasher(crypto::kDomainCompareDraw)
      .UpdateSized(base::AsBytes(label))
      .UpdateU64(cell.seed)
      .UpdateU64(a)
      .UpdateU64(b)
      .Finish();
}

base::StatusOr<Point> Evaluate(std::uint64_t step, std::span<const float> parameters,
                               train::Trainer& trainer) {
  ASSIGN_OR_RETURN(const auto validation,
                   trainer.EvaluateOn(parameters, train::HeldOut::kValidation));
  ASSIGN_OR_RETURN(const auto test, trainer.EvaluateOn(parameters, train::HeldOut::kTest));
  return Point{step, validation.value, validation.loss, test.value, test.loss};
}

base::StatusOr<CellResult> CellRunner::Run(const Cell& cell, Study* study) {
  ASSIGN_OR_RETURN(const train::Dataset* data, DataOf(cell));
  ASSIGN_OR_RETURN(train::Trainer * trainer, TrainerOf(cell, Labels::kTrue));
  train::Trainer* attackers = nullptr;
  ASSIGN_OR_RETURN(const auto attack, aggregation::ParseElement(cell.attack));
  if (sim::IsOnWork(attack.name)) {
    const Labels labels = sim::FlipsLabels(attack.name) ? Labels::kFlipped : Labels::kTrue;
    ASSIGN_OR_RETURN(attackers, TrainerOf(cell, labels));
  }
  const RunContext context{*trainer, *data, attackers};
  return cell.is_protocol() ? RunProtocolCell(cell, context) : RunServerCell(cell, context, study);
}

base::StatusOr<const train::Dataset*> CellRunner::DataOf(const Cell& cell) {
  auto& known = data_[cell.data];
  if (!known) {
    ASSIGN_OR_RETURN(train::Dataset data,
                     train::LoadDatasetOf(sources_.at(cell.data), cell.data_hash));
    known = std::make_unique<train::Dataset>(std::move(data));
  }
  return known.get();
}

base::StatusOr<train::Trainer*> CellRunner::TrainerOf(const Cell& cell, Labels labels) {
  // The evaluation part is named in each call, and a batch that a trainer draws itself is the
  // protocol's, of the cell's size.
  auto& known = trainers_[cell.data + " " + cell.model + " " + std::to_string(cell.hidden) + " " +
                          std::to_string(cell.batch_size) + (cell.is_exact() ? " exact" : "") +
                          (labels == Labels::kFlipped ? " flipped" : "")];
  if (!known) {
    ASSIGN_OR_RETURN(const train::Dataset* shared, DataOf(cell));
    train::Dataset data = *shared;
    if (labels == Labels::kFlipped && data.name == train::kTokens) {
      data.reversed_targets = true;
    } else if (labels == Labels::kFlipped) {
      sim::FlipLabels(data.training.labels, data.class_count);
    }
    ASSIGN_OR_RETURN(train::TrainerOptions options, TrainerOptionsOf(cell));
    options.data_dir = sources_.at(cell.data).dir;
    ASSIGN_OR_RETURN(known, train::MakeTrainerOver(options, std::move(data)));
  }
  return known.get();
}

}  // namespace ostraka::compare
