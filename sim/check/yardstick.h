// A reference for a run's loss: a descent on the mean of as many honest rows, with the same
// trainer, steps, rates and start, but without a network and attackers. From the first misdeed
// until the last attacker is removed the reference stands still: attacks on gradients may cost that
// much, and no run may get worse through them. A run that ends far above the reference has not
// trained what its honest members would have, whatever else held.
//
// The final loss of one descent depends on luck: with one row of 7 examples in 30 dimensions, 200
// descents of 40 steps ended between 0.35 and 0.69. So there are several descents with different
// rows, and the worst of them is the reference.
//
// Thread safety: pure but for the trainer, which one caller at a time may use.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "node/protocol/ground/manifest.h"
#include "node/train/trainer.h"

namespace ostraka::sim {

// Steps in which the reference stands still.
struct Rest {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // the first step after
};

struct Yardstick {
  double initial = 0;    // loss before the first step
  double reference = 0;  // mean loss after the last step, over kYardstickDescents
  double worst = 0;      // the highest of those losses
};

inline constexpr std::uint32_t kYardstickDescents = 8;

// What of a loss is compared. The toy's best loss is near zero, so its losses are compared as they
// are. A model of text cannot get below the entropy of its text, which may be most of the loss from
// the beginning on, and a run that learnt nothing could pass: what the run has gained since its
// start is compared with what the descents gain.
enum class LossMeasure : std::uint8_t { kWhole, kGain };

// How far above the worst descent the loss of a sound run may end. Measured in runs of 40 steps
// against a row of each honest member, with one descent: at most 1.06 times for each of 57 attacks
// by 3 of 8, at most 1.08 in fifteen drawn swarms.
inline constexpr double kLossFactor = 1.2;
inline constexpr double kLossMargin = 0.02;
// How much of the worst descent's gain a sound run may lack, by LossMeasure::kGain. Measured in
// runs of the tiny gpt of 40 steps: at most 0.11 for each of 69 attacks by 3 of 8, three seeds
// each, and 0.14 in 111 drawn swarms.
inline constexpr double kGainShare = 0.25;

// Descends on `rows` gradients a step from `initial`, drawn from `seed`. REQUIRES: rows > 0.
base::StatusOr<Yardstick> MeasureYardstick(train::Trainer& trainer,
                                           const protocol::TrainingPlan& plan,
                                           std::span<const float> initial, std::uint32_t rows,
                                           const base::Digest& seed, Rest rest = {});

// FailedPrecondition, in one line, if `loss` is no number, above the initial loss, or by more than
// kLossMargin above kLossFactor times the worst descent; by kGain, above the worst descent and
// kGainShare of its gain.
base::Status JudgeLoss(double loss, const Yardstick& yardstick,
                       LossMeasure measure = LossMeasure::kWhole);

}  // namespace ostraka::sim
