#include "node/config/origin.h"

#include "node/store/checkpoint.h"

namespace ostraka::config {

base::StatusOr<protocol::ModelState> ReadOrigin(const protocol::Manifest& manifest,
                                                const std::string& path,
                                                const base::TensorLayout& layout) {
  if (!manifest.origin) {
    if (path.empty()) return protocol::ModelState{};
    return base::InvalidArgument("--origin: this run begins with parameters of its own");
  }
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
