// What a run's loss is held against: the same descent on the mean of as many honest rows, with the
// same trainer, steps, rates and start, without a network and without anybody who cheats. From the
// first misdeed until the last cheater is removed it stands still: so much attacks on gradients may
// cost, and no run may go backwards for them. A run that ends far above it has not trained what its
// honest members would have, whatever else held.
//
// The loss that one descent ends with is itself luck: of one row of 7 examples in 30 dimensions,
// 200 descents of 40 steps ended between 0.35 and 0.69. So there are several, each with rows of its
// own, and a run is held against the worst of them.
//
// Thread safety: pure but for the trainer, which one caller at a time may use.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "node/protocol/ground/manifest.h"
#include "node/train/trainer.h"

namespace ostraka::sim {

// Steps in which the yardstick rests.
struct Rest {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // the first step after
};

struct Yardstick {
  double initial = 0;    // loss before the first step
  double reference = 0;  // loss after the last, the mean of kYardstickDescents
  double worst = 0;      // the highest of them
};

inline constexpr std::uint32_t kYardstickDescents = 8;

// How far above the worst descent the loss of a sound run may end. Measured, in
// runs of 40 steps against a row of each honest member: at most 1.06 times for each of 57 attacks
// by 3 of 8, at most 1.08 in fifteen drawn swarms; both against one descent.
inline constexpr double kLossFactor = 1.2;
inline constexpr double kLossMargin = 0.02;

// `rows` gradients a step from `initial`, drawn from `seed`. REQUIRES: rows > 0.
base::StatusOr<Yardstick> MeasureYardstick(train::Trainer& trainer,
                                           const protocol::TrainingPlan& plan,
                                           std::span<const float> initial, std::uint32_t rows,
                                           const base::Digest& seed, Rest rest = {});

// FailedPrecondition, in one line, if `loss` is no number or above where it began.
base::Status JudgeExploded(double loss, const Yardstick& yardstick);

// That, and if it is above kLossFactor times the worst descent and kLossMargin.
base::Status JudgeLoss(double loss, const Yardstick& yardstick);

}  // namespace ostraka::sim
