// Runs a planned program: the loss and the gradient of a graph, to the bit (docs/numerics.md).
//
// Promises:
//   R1  the result is a function of the parameters, inputs and constants alone: equal on every
//   level,
//       number of threads and machine.
//   R2  it allocates nothing while it runs: memory is the plan's, taken once.
//   R3  no integer of an input reads outside of a table: inputs are checked before anything runs.
//
// May not know: where data come from, what a run or a peer is.
// Memory: PlannedProgram::peak_bytes, without the parameters and the gradient, which are the
// caller's. What an attacker can do here: send data with values out of range, which are refused. A
// graph has been checked and planned before it comes here. Thread safety: one call at a time. Uses
// the Executor's threads during a call.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "exact/kernels/kernels.h"
#include "exact/kernels/product.h"
#include "exact/program/plan.h"
#include "exact/run/inputs.h"

namespace ostraka::exact {

class Runner {
 public:
  // `kernels` and `executor` outlive this. REQUIRES: the plan's threads are those of the executor;
  // `constants` has the floats of each constant, of the graph's sizes.
  Runner(PlannedProgram plan, std::vector<std::vector<float>> constants, const Kernels& kernels,
         const Executor& executor);
  Runner(PlannedProgram, std::vector<std::vector<float>>, const Kernels&,
         const Executor&&) = delete;

  // While `abandoned` is true, a run ends before its next step with Unavailable, which leaves the
  // gradient undefined. It may be shared, and set by any thread.
  void EndWhen(std::shared_ptr<const std::atomic<bool>> abandoned) {
    abandoned_ = std::move(abandoned);
  }

  const PlannedProgram& plan() const { return held_->plan; }
  const std::vector<std::vector<float>>& constants() const { return held_->constants; }

  // This runner with other kernels, which outlive the result. Both runners share the plan, the
  // constants and the memory, as copies do, so only one of them may run at a time. [With memory of
  // its own, the second pass that follows a lie took a gradient's memory twice from each voter.]
  Runner By(const Kernels& kernels) const;

  // The loss at `parameters` on a micro-batch; `gradient` gets its gradient. Either may be infinite
  // or NaN: the caller must check. InvalidArgument: an input of another size, or an integer out of
  // range. FailedPrecondition: this thread does not compute as IEEE-754 has it.
  // REQUIRES: parameters and gradient have the graph's parameter count.
  base::StatusOr<float> Gradient(std::span<const float> parameters,
                                 std::span<const InputValues> inputs, std::span<float> gradient);
  // The loss alone, by the forward steps.
  base::StatusOr<float> Loss(std::span<const float> parameters,
                             std::span<const InputValues> inputs);
  // What the loss's cross_entropy was taken of in the last run, row-major; empty if the loss is
  // none, or if it was taken of a parameter or an input.
  std::span<const float> Logits() const;

 private:
  base::StatusOr<float> Run(std::span<const float> parameters, std::span<const InputValues> inputs,
                            std::span<float> gradient, std::size_t step_count);

  struct Held {
    PlannedProgram plan;
    std::vector<std::vector<float>> constants;
    ProductScratch scratch;
    std::vector<float> arena;
  };

  std::shared_ptr<Held> held_;
  const Kernels* kernels_;
  const Executor* executor_;
  std::shared_ptr<const std::atomic<bool>> abandoned_;  // null: never
};

}  // namespace ostraka::exact
