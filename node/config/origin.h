// The state with which a run begins that goes on from an older run (docs/protocol/network.md).
//
// Thread safety: reads a file; otherwise pure.
#pragma once

#include <string>

#include "node/base/status.h"
#include "node/base/tensor_layout.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/ground/state.h"

namespace ostraka::config {

// The state that `manifest` begins with, from the checkpoint at `path`; null vectors if the
// manifest names no origin. InvalidArgument: a path without an origin, an origin without a path, or
// a file with another state. ReadCheckpoint's errors.
base::StatusOr<protocol::ModelState> ReadOrigin(const protocol::Manifest& manifest,
                                                const std::string& path,
                                                const base::TensorLayout& layout);

}  // namespace ostraka::config
