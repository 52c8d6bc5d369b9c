// The state with which a run begins that goes on from an older run (docs/protocol/network.md), or
// from trained weights.
//
// Thread safety: reads a file; otherwise pure.
#pragma once

#include <string>

#include "node/base/status.h"
#include "node/base/tensor_layout.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/ground/state.h"

namespace ostraka::config {

// The state that `manifest` begins with, from the file at `path`: a checkpoint, or trained weights,
// to which the slots are 0. Null vectors if the manifest names no origin. InvalidArgument: a path
// without an origin, an origin without a path, or a file with another state. Errors of
// ReadCheckpoint and ReadWeights.
base::StatusOr<protocol::ModelState> ReadOrigin(const protocol::Manifest& manifest,
                                                const std::string& path,
                                                const base::TensorLayout& layout);

// The origin of a run that begins with the weights of the file at `path`. Errors of ReadWeights.
struct WeightsOrigin {
  protocol::Origin origin;
  std::string left_out;  // tensors of the file that the model has not, for people; empty: none
};
base::StatusOr<WeightsOrigin> OriginOfWeights(const std::string& path,
                                              const base::TensorLayout& layout,
                                              aggregation::Optimizer optimizer);

}  // namespace ostraka::config
