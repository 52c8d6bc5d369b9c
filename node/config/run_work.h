// What the work of a step takes on this machine.
//
// Thread safety: one thread uses the trainer during a call.
#pragma once

#include <string>

#include "node/base/status.h"
#include "node/base/time.h"
#include "node/protocol/ground/manifest.h"
#include "node/train/trainer.h"

namespace ostraka::config {

// The time of as many gradients as a worker computes at least, by the time of one, without the time
// in which its rows are fetched. Gradient's errors. Unavailable: its rows have not come within
// kRowsPatience.
inline constexpr base::Duration kRowsPatience = base::Seconds(10);
base::StatusOr<base::Duration> MeasureLeastWork(const protocol::Manifest& manifest,
                                                train::Trainer& trainer,
                                                base::Duration patience = kRowsPatience);

// FailedPrecondition if a member that needs so long for its least work would have each part come
// after its owner has stopped waiting, however slow the others are. `by`: what computes.
base::Status CheckInTime(const protocol::Manifest& manifest, base::Duration least_work,
                         const std::string& by);

// Which speeds of machines the run holds together, in a sentence.
std::string PaceText(const protocol::Manifest& manifest);

}  // namespace ostraka::config
