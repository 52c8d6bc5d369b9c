// The local steps of a worker, in one written order of operations (docs/numerics.md, 10): from x, H
// steps of AdamW whose moments begin at 0. What the worker sends is how far they went, x - y.
//
// Thread safety: pure functions, and a class for one thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "aggregation/kernels/simd.h"
#include "aggregation/optim/optimizer.h"

namespace ostraka::aggregation {

// What a worker computes in one step.
struct LocalSteps {
  std::uint64_t count = 1;  // H; 1: its gradient itself, and none of the others counts
  // At its peak in this step. 0: nothing moves, and nothing need be computed.
  double rate = 0;
  std::uint64_t warmup = 0;  // of the H steps: the rate rises linearly from 0 in each step anew
  double clip_norm = 0;      // of each gradient; > 0
  double beta1 = 0;
  double beta2 = 0;
  double epsilon = 0;
  double weight_decay = 0;
  // True if all of them end where they begin.
  bool MoveNothing() const { return count > 1 && rate == 0; }
  bool operator==(const LocalSteps&) const = default;
};

// Makes +0 of what is not finite, so that a bad batch does not look like an attack
// (docs/numerics.md, 8).
void ZeroNonFinite(std::span<float> values);

// Values whose squares are summed in binary32 at a time.
inline constexpr std::size_t kNormBlock = 4096;
// The norm by which a gradient of a local step is clipped: of each block its dot(g, g) in binary32,
// these added in double, in ascending order; the root in double. Unlike SquareSum it needs no
// device that computes in double. Infinite where a block's squares leave binary32's range.
double BlockwiseNorm(std::span<const float> gradient,
                     const simd::Kernels& kernels = simd::BestKernels());

// The update of the local step that `done` others came before. REQUIRES: done < plan.count.
OptimizerStep InnerUpdate(const LocalSteps& plan, std::uint64_t done);

// One local step of y and its moments, by a gradient at y. Changes `gradient`: its values that are
// not finite become +0. REQUIRES: all have one size.
void TakeLocalStep(const LocalSteps& plan, std::uint64_t done, std::span<float> gradient,
                   std::span<float> y, std::span<float> first, std::span<float> second,
                   const simd::Kernels& kernels = simd::BestKernels());

// `y` becomes x - y; what is not finite becomes +0. REQUIRES: both have one size.
void MakeDistance(std::span<const float> from, std::span<float> y);

// One worker's local steps of one step: 12 bytes a parameter.
class LocalDescent {
 public:
  // `from` outlives it. REQUIRES: plan.count > 1.
  LocalDescent(const LocalSteps& plan, std::span<const float> from);

  // y, where the next gradient is taken.
  std::span<const float> at() const { return y_; }
  // The next step, by a gradient at y. Changes `gradient`: its values that are not finite become
  // +0. REQUIRES: count() < plan.count; the size of `from`.
  void Step(std::vector<float>& gradient, const simd::Kernels& kernels = simd::BestKernels());
  std::uint64_t count() const { return count_; }  // steps that were done
  // x - y; what is not finite becomes +0. Takes y.
  std::vector<float> TakeDistance();

 private:
  LocalSteps plan_;
  std::span<const float> from_;
  std::vector<float> y_;
  std::vector<float> first_;
  std::vector<float> second_;
  std::uint64_t count_ = 0;  // <= plan_.count
};

}  // namespace ostraka::aggregation
