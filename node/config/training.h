// The trainer that a manifest asks for, with this machine's settings.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "node/base/status.h"
#include "node/protocol/ground/manifest.h"
#include "node/train/trainer.h"

namespace ostraka::config {

// The trainer options of `manifest` plus the settings of this machine. `data` says where this
// machine has the run's data (train::ParseDataSource), or is empty. InvalidArgument: unknown names,
// data without a hash, or `data` other than the manifest's.
base::StatusOr<train::TrainerOptions> TrainerOptionsOf(const protocol::Manifest& manifest,
                                                       const std::string& data,
                                                       train::HeldOut evaluate_on);

// InvalidArgument unless this build knows the manifest's model and data.
base::Status CheckTraining(const protocol::Manifest& manifest);

// FailedPrecondition unless a model of `dimension` parameters can be cut into parts for `members`.
base::Status CheckDimension(std::uint64_t dimension, std::size_t members);

}  // namespace ostraka::config
