// The root that a worker's COMMIT would have if its gradient were true: what judges evidence of
// kind gradient (docs/evidence.md).
//
// Thread safety: one caller at a time for each trainer.
#pragma once

#include <optional>

#include "node/base/status.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/ground/state.h"
#include "node/train/trainer.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::config {

// Computes the gradient that `claim` is about, at `parameters`, and cuts it as the step did.
// Nullopt if the block before the step gives its worker no part in it. FailedPrecondition: the
// parameters are not those that the COMMIT names, or the run is not of profile exact/1. The
// trainer's errors.
// REQUIRES: `trainer` is the manifest's, and has as many parameters.
base::StatusOr<std::optional<base::Digest>> HonestRootOf(const protocol::Manifest& manifest,
                                                         train::Trainer& trainer,
                                                         const protocol::SharedVector& parameters,
                                                         const evidence::GradientClaim& claim);

}  // namespace ostraka::config
