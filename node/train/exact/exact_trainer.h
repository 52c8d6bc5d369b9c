// The trainer over exact kernels: softmax, mlp and graph files, without libtorch.
//
// Promises:
//   E1  gradients and initial parameters are a function of their arguments, equal to the bit on
//       every machine (docs/numerics.md).
//   E2  a thread that does not compute as IEEE-754 has it gives an error, never other bits.
//   E3  the kernels are checked before the first gradient and from time to time
//       (conformance_watch.h); once a check has failed there is no gradient, but its reason.
// May not know: peers, and what a gradient is used for.
// Memory: the data set, and the plan of one micro-batch; at most kMaxPeakBytes (graph_trainer.h,
// which makes its batches).
// Thread safety: as node/train/trainer.h has it; computes on the caller's thread.
#pragma once

#include <memory>

#include "exact/kernels/kernels.h"
#include "node/base/status.h"
#include "node/train/dataset.h"
#include "node/train/trainer.h"

namespace ostraka::train {

// InvalidArgument: another model than softmax, mlp and graph; sizes out of range; a graph that does
// not fit the data; too few examples; an unknown level of kernels. FailedPrecondition: a machine
// that computes other bits than its peers would (exact/kernels/conformance.h). GraphOf's errors.
base::StatusOr<std::unique_ptr<Trainer>> MakeExactTrainer(const TrainerOptions& options,
                                                          Dataset data);

// The same by `kernels`, which outlive the trainer, in place of those that the options name.
base::StatusOr<std::unique_ptr<Trainer>> MakeExactTrainerBy(const exact::Kernels& kernels,
                                                            const TrainerOptions& options,
                                                            Dataset data);

// Kernels of other instructions than `kernels`, for a second computation: the widest that are
// narrower, and take at most one and a half times as long; or the same if there are none.
const exact::Kernels& OtherKernels(const exact::Kernels& kernels);

}  // namespace ostraka::train
