#include "sim/trainers/tiny_gpt.h"

#include <utility>

#include "exact/graph/graph_text.h"
#include "exact/models/models.h"
#include "node/train/exact/exact_trainer.h"
#include "node/train/exact/graph_file.h"
#include "sim/trainers/tiny_text.h"

namespace ostraka::sim {
namespace {

constexpr std::uint32_t kContext = 16;
constexpr std::size_t kTextSize = 10'000;  // 499 records to train on, and 62 for each other part

}  // namespace

base::StatusOr<std::string> TinyGptGraph(std::uint64_t batch_size) {
  exact::ModelOptions options;
  options.model = "gpt";
  options.batch = static_cast<std::int64_t>(batch_size);
  options.layers = 1;
  options.width = 16;
  options.heads = 2;
  options.context = kContext;
  options.vocabulary = kTinySymbols;
  ASSIGN_OR_RETURN(const exact::Model model, exact::MakeModel(options));
  return exact::PrintGraph(model.graph);
}

base::StatusOr<std::unique_ptr<train::Trainer>> MakeTinyGpt(std::uint64_t seed,
                                                            std::uint64_t batch_size,
                                                            Targets targets) {
  train::TrainerOptions options;
  options.model = train::kGraphModel;
  options.data = train::kTokens;
  options.batch_size = batch_size;
  options.exact = true;
  ASSIGN_OR_RETURN(options.graph, TinyGptGraph(batch_size));
  ASSIGN_OR_RETURN(train::Dataset data, TinyRecords(seed, kTextSize, kContext));
  data.reversed_targets = targets == Targets::kReversed;
  return train::MakeExactTrainer(options, std::move(data));
}

}  // namespace ostraka::sim
