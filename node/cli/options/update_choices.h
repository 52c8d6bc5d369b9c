// The optimizers, schedules and codecs that options take, of `run init`, `swarm` and
// `sim`.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "aggregation/optim/optimizer.h"
#include "node/base/status.h"
#include "node/protocol/ground/manifest.h"

namespace ostraka::cli {

std::vector<std::string> OptimizerNames();
std::vector<std::string> ScheduleNames();
std::vector<std::string> PartCodecNames();
std::vector<std::string> ResultCodecNames();

// InvalidArgument: the option takes no such name.
base::StatusOr<aggregation::Optimizer> OptimizerOf(const std::string& name);
base::StatusOr<protocol::Schedule> ScheduleOf(const std::string& name);
base::StatusOr<protocol::Codec> CodecOf(const std::string& name);

}  // namespace ostraka::cli
