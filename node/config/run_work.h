// What the work of a step takes on this machine.
//
// Thread safety: one thread uses the trainer during a call.
#pragma once

#include "node/base/status.h"
#include "node/base/time.h"
#include "node/protocol/ground/manifest.h"
#include "node/train/trainer.h"

namespace ostraka::config {

// The time of as many gradients as a worker computes at least, by the time of one. Gradient's
// errors.
base::StatusOr<base::Duration> MeasureLeastWork(const protocol::Manifest& manifest,
                                                train::Trainer& trainer);

}  // namespace ostraka::config
