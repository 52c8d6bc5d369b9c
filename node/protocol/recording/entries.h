// The inputs of a machine as entries of a recording (node/wire/recording_codec.h), and back.
//
// Of a job's result an entry holds what another computer may compute otherwise, or cannot compute
// without the run's data: a gradient, the finding of a recomputation, a failure. All other results
// are functions of their specs with equal bits everywhere: the entry holds their hash, and a replay
// computes them again.
//
// Thread safety: pure functions.
#pragma once

#include "node/base/status.h"
#include "node/protocol/ground/machine.h"
#include "node/wire/recording_codec.h"

namespace ostraka::protocol {

// `wanted`: of JobDone, whether the machine still wants it. No
// private seed stands in it.
wire::RecordedInput RecordInput(Time now, const Input& input, bool wanted);

// InvalidArgument: it is no input, or is JobDone, which needs the job's spec (ResultOf).
base::StatusOr<Input> InputOf(const wire::RecordedInput& turn);

// The hash by which a recording knows a result that it does not hold.
Digest HashOf(const JobResult& result);
// Whether an entry holds the whole result of such a job, so that nothing is computed again.
bool IsHeldWhole(const wire::RecordedResult& recorded);
// REQUIRES: IsHeldWhole. `spec`: of the job. InvalidArgument: it is no result of such a job.
base::StatusOr<JobResult> ResultOf(const wire::RecordedResult& recorded, const JobSpec& spec);

}  // namespace ostraka::protocol
