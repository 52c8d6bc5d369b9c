// The update that all peers share, in one written order of operations, so that every peer and every
// third party computes it bit for bit (docs/numerics.md, 9).
//
// An optimizer remembers slots: vectors as long as the parameters, which are replicated state. A
// slot is known by its name, which is part of state roots: one that changes its meaning changes its
// name.
//
// Elementwise but for two factors, of clipping and of LAMB's tensors: a vector may be updated in
// any pieces, with equal bits, and what is in no piece does not change.
//
// Thread safety: pure functions on disjoint ranges.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "aggregation/kernels/simd.h"
#include "node/base/tensor_layout.h"

namespace ostraka::aggregation {

enum class Optimizer : std::uint8_t { kSgd, kNesterov, kAdamW, kLamb };

inline constexpr std::string_view kVelocitySlot = "velocity";
inline constexpr std::string_view kFirstMomentSlot = "first_moment";
inline constexpr std::string_view kSecondMomentSlot = "second_moment";

std::string_view OptimizerName(Optimizer optimizer);  // sgd, nesterov, adamw, lamb
std::optional<Optimizer> FindOptimizer(std::string_view name);
std::span<const Optimizer> AllOptimizers();
// True for kAdamW and kLamb: their slots are the moments of the gradient.
bool HasMoments(Optimizer optimizer);
// In the order in which states, pieces and files have them. They are 0 before the first step.
std::span<const std::string_view> SlotNames(Optimizer optimizer);

// One step's update.
struct OptimizerStep {
  Optimizer optimizer = Optimizer::kSgd;
  float rate = 0;        // learning rate of this step
  float decay = 0;       // decoupled weight decay, >= 0
  float momentum = 0;    // kSgd, kNesterov: in [0, 1)
  double clip_norm = 0;  // 0: the gradient is not clipped
  // Of those with moments alone.
  double beta1 = 0;           // in [0, 1)
  double beta2 = 0;           // in [0, 1)
  double epsilon = 0;         // > 0
  std::uint64_t updates = 1;  // t: how many steps there were, with this one
  bool operator==(const OptimizerStep&) const = default;
};

// b^n by squaring: r = 1; for each bit of n from the lowest: r = r * b if it is 1, then b = b * b.
// In double.
double Power(double b, std::uint64_t n);

// What a step of kAdamW or kLamb multiplies by.
simd::AdamFactors AdamFactorsOf(const OptimizerStep& step);

// The sum of squares of a long vector, whose pieces may come in any cut. Element i, counted from
// the start of the vector, is added in double to lane i mod 16, in ascending order; the lanes are
// added as in docs/numerics.md, 2. What is left out counts as 0.
class SquareSum {
 public:
  // REQUIRES: pieces come in ascending order; finite values.
  void Add(std::uint64_t first, std::span<const float> values);
  double Norm() const;  // the square root of the sum

 private:
  static constexpr std::size_t kLanes = 16;
  double lanes_[kLanes] = {};
};

// The factor that each element is multiplied by before the update: clip_norm / norm as a float if
// norm is larger than clip_norm, and clip_norm is not 0; else 1.
float GradientClipFactor(double norm, double clip_norm);

// Updates `parameters` and `slots` in place by `gradient`, each element of which is first
// multiplied by `factor` (ClipFactor), unless that is 1. Each operation rounds to float32 once:
//   sgd       v' = momentum v + g;  x' = x - rate (v' + decay x)
//   nesterov  v' = momentum v + g;  x' = x - rate ((g + momentum v') + decay x)
//   adamw     m' = beta1 m + (1 - beta1) g;  v' = beta2 v + (1 - beta2) (g g)
//             u = (m' c1) / (sqrt(v') c2 + epsilon);  x' = x - rate (u + decay x)
//   with c1 = 1 / (1 - beta1^t), c2 = 1 / sqrt(1 - beta2^t) and the differences computed in double
//   and rounded. Stored are: for each NaN, 0x7fc00000, since processors differ in its sign; for a
//   subnormal of a slot +0, since a slot whose gradient stays 0 would end at one. Sources: Nesterov
//   as torch.optim.SGD has it; Loshchilov and Hutter, Decoupled Weight Decay Regularization, ICLR
//   2019.
//   lamb      m', v' as adamw; x' = x, until MoveTensors
// REQUIRES: one slot for each of SlotNames; all spans have one size.
void Update(const OptimizerStep& step, float factor, std::span<const float> gradient,
            std::span<float> parameters, std::span<const std::span<float>> slots,
            const simd::Kernels& kernels = simd::BestKernels());

// Coordinates [begin, end) of a model's flat vector.
struct Extent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Ends a step of LAMB, after Update of all its pieces; with other optimizers there is nothing to
// do. Each tensor of `layout` moves by its own length, over its coordinates within `applied`:
//   r = (m' c1) / (sqrt(v') c2 + epsilon) + decay x, in float32 as adamw has it, of the stored m',
//   v' k = 1 if |x| = 0 or |r| = 0, else min(|x| / |r|, 10): norms and quotient in double x' = x -
//   (rate k) r, with k rounded to float32
// Source: You et al., Large Batch Optimization for Deep Learning, ICLR 2020, with phi(z) = z and
// the limit of 10 that its authors' code has. REQUIRES: `applied` ascending and disjoint;
// `parameters` and `slots` are the whole vectors.
void MoveTensors(const OptimizerStep& step, const base::TensorLayout& layout,
                 std::span<const Extent> applied, std::span<float> parameters,
                 std::span<const std::span<float>> slots,
                 const simd::Kernels& kernels = simd::BestKernels());

// One process's training of a whole vector, for comparisons and probes: the slots, and each step
// as Update does it, clipped.
class Descent {
 public:
  Descent(Optimizer optimizer, base::TensorLayout layout);
  // REQUIRES: the optimizer of the constructor, and vectors of its layout.
  void Step(const OptimizerStep& step, std::span<const float> gradient,
            std::span<float> parameters);

 private:
  base::TensorLayout layout_;
  std::vector<std::vector<float>> slots_;
};

}  // namespace ostraka::aggregation
