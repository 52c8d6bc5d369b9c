#include "node/config/origin.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "node/store/checkpoint.h"
#include "node/store/weights_file.h"

namespace ostraka::config {
namespace {

// Slots of 0.
protocol::ModelState StateOfWeights(protocol::SharedVector parameters,
                                    aggregation::Optimizer optimizer) {
  const auto zeros = std::make_shared<const std::vector<float>>(parameters->size());
  protocol::ModelState state{std::move(parameters), {}};
  for (const std::string& slot : protocol::SlotNamesOf(optimizer)) {
    state.slots.push_back({slot, zeros});
  }
  return state;
}

base::StatusOr<protocol::ModelState> WeightsFor(const protocol::Manifest& manifest,
                                                const std::string& path,
                                                const base::TensorLayout& layout) {
  if (path.empty()) {
    return base::InvalidArgument(
        "this run begins with trained weights: give their file with --origin (who made the run "
        "has it)");
  }
  ASSIGN_OR_RETURN(store::Weights weights, store::ReadWeights(path, layout));
  protocol::ModelState state =
      StateOfWeights(std::move(weights.parameters), manifest.training.optimizer);
  if (protocol::StateRoot(state, layout) != manifest.origin->state_root) {
    return base::InvalidArgument(path + ": holds other weights than those with which this run " +
                                 "begins (" + manifest.origin->state_root.Short() + ")");
  }
  return state;
}

}  // namespace

base::StatusOr<WeightsOrigin> OriginOfWeights(const std::string& path,
                                              const base::TensorLayout& layout,
                                              aggregation::Optimizer optimizer) {
  constexpr std::size_t kNamed = 3;
  ASSIGN_OR_RETURN(store::Weights weights, store::ReadWeights(path, layout));
  WeightsOrigin result;
  for (std::size_t i = 0; i < std::min(kNamed, weights.unused.size()); ++i) {
    result.left_out += (i == 0 ? "" : ", ") + weights.unused[i];
  }
  if (weights.unused.size() > kNamed) {
    result.left_out += " and " + std::to_string(weights.unused.size() - kNamed) + " more";
  }
  const protocol::ModelState state = StateOfWeights(std::move(weights.parameters), optimizer);
  result.origin.state_root = protocol::StateRoot(state, layout);
  result.origin.weights = true;
  return result;
}

base::StatusOr<protocol::ModelState> ReadOrigin(const protocol::Manifest& manifest,
                                                const std::string& path,
                                                const base::TensorLayout& layout) {
  if (!manifest.origin) {
    if (path.empty()) return protocol::ModelState{};
    return base::InvalidArgument("--origin: this run begins with parameters of its own");
  }
  if (manifest.origin->weights) return WeightsFor(manifest, path, layout);
  const std::string state = "the state after step " + std::to_string(manifest.origin->step) +
                            " of run " + manifest.origin->run_id.Short();
  if (path.empty()) {
    return base::InvalidArgument("this run goes on from " + state +
                                 ": give its file with --origin (`ostraka run recover` names it)");
  }
  ASSIGN_OR_RETURN(const store::Checkpoint checkpoint, store::ReadCheckpoint(path));
  if (protocol::StateRoot(checkpoint.state, checkpoint.layout) != manifest.origin->state_root) {
    return base::InvalidArgument(path + ": is not " + state + ", with which this run begins");
  }
  if (checkpoint.layout != layout) {
    return base::InvalidArgument(path + ": is of another model than the manifest's");
  }
  const aggregation::Optimizer optimizer = manifest.training.optimizer;
  if (protocol::SlotNamesOf(checkpoint.state) != protocol::SlotNamesOf(optimizer)) {
    return base::InvalidArgument(path + ": is the state of another optimizer than " +
                                 std::string(aggregation::OptimizerName(optimizer)) +
                                 ", which the manifest names");
  }
  return checkpoint.state;
}

}  // namespace ostraka::config
