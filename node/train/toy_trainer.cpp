// Least squares with a power-law spectrum, whose mini-batch gradients are drawn from their
// distribution instead of being summed over examples.
//
// Examples are (a, y = <a, target> + label noise), a normal with covariance H = diag(h). Put
// error e = x - target. The gradient over a batch of B then has (normal fourth moments)
//   mean        H e
//   covariance  ((<e, H e> + s^2) H + (H e)(H e)^T) / B      s^2: variance of the label noise
// and we return exactly that mean and covariance at a cost of d draws rather than B d:
//   g = (1 + n_0 / sqrt(B)) H e + sqrt((<e, H e> + s^2) / B) sqrt(H) n
// with n_0 and n_1..n_d independent, mean 0, variance 1. So, as in real training, noise is largest
// where curvature is, shrinks with the loss, and soon outweighs the mean.
//
// The spectrum: rank r has h = 4 / (4 + r) and |target| = sqrt(h), so that the loss falls like a
// power of time. Ranks are scattered over the coordinates, so that parts are similar but not equal.
//
// Uses only + - * / and sqrt in a fixed order, for bit-identical results on every machine.
#include "node/train/toy_trainer.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "crypto/stream.h"
#include "node/base/check.h"
#include "node/base/rng.h"

namespace ostraka::train {
namespace {

constexpr std::uint64_t kMaxDimension = std::uint64_t{1} << 27;
constexpr std::uint64_t kMaxBatchSize = std::uint64_t{1} << 31;
constexpr double kLabelNoiseVariance = 0.25;
constexpr double kSpectrumKnee = 4;      // about this many coordinates have curvature near 1
constexpr double kInitialSpread = 0.25;  // of the distance from 0 to the target
constexpr std::size_t kLanes = 4;  // independent partial sums, which the CPU can add in parallel

// Two independent near-normal draws, each the sum of four uniform bytes.
constexpr int kByteSumMean = 510;
constexpr double kByteSumVariance = 4 * (256.0 * 256.0 - 1) / 12;
struct NoisePair {
  float first;
  float second;
};
NoisePair DrawNoise(base::Rng& rng) {
  constexpr std::uint64_t kEvenBytes = 0x00ff00ff00ff00ff;
  constexpr std::uint64_t kEvenPairs = 0x0000ffff0000ffff;
  const std::uint64_t bits = rng.Next();
  const std::uint64_t pairs = (bits & kEvenBytes) + ((bits >> 8) & kEvenBytes);
  const std::uint64_t sums = (pairs & kEvenPairs) + ((pairs >> 16) & kEvenPairs);
  return {static_cast<float>(static_cast<int>(sums & 0xffffffff) - kByteSumMean),
          static_cast<float>(static_cast<int>(sums >> 32) - kByteSumMean)};
}

// Half of the parameters in a matrix and the rest in two vectors, without empty tensors.
base::TensorLayout MakeLayout(std::uint64_t dimension) {
  base::TensorLayout layout;
  const std::uint64_t rows = dimension / 8;
  const std::uint64_t middle = (dimension - 4 * rows) / 2;
  if (rows > 0) layout.push_back({"layers.0.weight", {rows, 4}});
  if (middle > 0) layout.push_back({"layers.1.weight", {middle}});
  layout.push_back({"layers.1.bias", {dimension - 4 * rows - middle}});
  return layout;
}

// A uniform permutation: the rank in the spectrum of each coordinate.
std::vector<std::uint32_t> DrawRanks(base::Rng& rng, std::size_t dimension) {
  std::vector<std::uint32_t> ranks(dimension);
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = static_cast<std::uint32_t>(i);
  for (std::size_t i = ranks.size(); i > 1; --i) std::swap(ranks[i - 1], ranks[rng.Below(i)]);
  return ranks;
}

class ToyTrainer final : public Trainer {
 public:
  ToyTrainer(ToyProblem problem, std::uint64_t batch_size)
      : layout_(MakeLayout(problem.target.size())),
        batch_size_(static_cast<double>(batch_size)),
        root_curvature_(std::move(problem.root_curvature)),
        target_(std::move(problem.target)) {
    OSTRAKA_CHECK(batch_size > 0 && !target_.empty() && target_.size() == root_curvature_.size());
  }

  const base::TensorLayout& layout() const override { return layout_; }

  std::vector<float> InitialParameters(const Digest& seed) const override {
    base::Rng rng(crypto::Stream("toy initial", seed).NextU64());
    std::vector<float> parameters(target_.size());
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const double unit = 2 * rng.Unit() - 1;
      parameters[i] = static_cast<float>(kInitialSpread * unit * root_curvature_[i]);
    }
    return parameters;
  }

  base::StatusOr<std::vector<float>> Gradient(std::span<const float> parameters,
                                              const Digest& batch_seed) override {
    OSTRAKA_CHECK(parameters.size() == target_.size());
    std::vector<float> gradient(parameters.size());
    const double excess = MeanGradient(parameters, gradient);
    batch_loss_ = 0.5 * (excess + kLabelNoiseVariance);

    base::Rng rng(crypto::Stream("toy noise", batch_seed).NextU64());
    const auto along = static_cast<float>(1 + rng.Normal() / std::sqrt(batch_size_));
    const auto spread = static_cast<float>(
        std::sqrt((excess + kLabelNoiseVariance) / (batch_size_ * kByteSumVariance)));
    const auto add_noise = [&](std::size_t i, float noise) {
      gradient[i] = along * gradient[i] + spread * (root_curvature_[i] * noise);
    };
    std::size_t i = 0;
    for (; i + 1 < gradient.size(); i += 2) {
      const NoisePair noise = DrawNoise(rng);
      add_noise(i, noise.first);
      add_noise(i + 1, noise.second);
    }
    if (i < gradient.size()) add_noise(i, DrawNoise(rng).first);
    return gradient;
  }

  std::optional<double> BatchLoss() const override { return batch_loss_; }

  base::StatusOr<Evaluation> Evaluate(std::span<const float> parameters) override {
    OSTRAKA_CHECK(parameters.size() == target_.size());
    std::vector<float> gradient(parameters.size());
    const double excess = MeanGradient(parameters, gradient);
    const double loss = 0.5 * (excess + kLabelNoiseVariance);
    return Evaluation{.metric = "loss", .value = loss, .loss = loss};
  }

 private:
  // Writes H e for e = parameters - target, and returns <e, H e>.
  double MeanGradient(std::span<const float> parameters, std::span<float> gradient) const {
    std::array<double, kLanes> sums{};
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const float error = parameters[i] - target_[i];
      gradient[i] = root_curvature_[i] * root_curvature_[i] * error;
      sums[i % kLanes] += static_cast<double>(gradient[i]) * static_cast<double>(error);
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  base::TensorLayout layout_;
  double batch_size_;
  std::optional<double> batch_loss_;
  std::vector<float> root_curvature_;  // sqrt(h)
  std::vector<float> target_;
};

}  // namespace

base::StatusOr<ToyProblem> DrawToyProblem(const TrainerOptions& options) {
  if (options.model != "toy" || options.data != "toy") {
    return base::InvalidArgument("model toy goes with data toy and nothing else; got model " +
                                 options.model + ", data " + options.data);
  }
  if (options.hidden == 0 || options.hidden > kMaxDimension) {
    return base::InvalidArgument("toy: hidden, the dimension, must be 1 to " +
                                 std::to_string(kMaxDimension) + ", not " +
                                 std::to_string(options.hidden));
  }
  if (options.batch_size == 0 || options.batch_size > kMaxBatchSize) {
    return base::InvalidArgument("toy: batch_size must be 1 to " + std::to_string(kMaxBatchSize) +
                                 ", not " + std::to_string(options.batch_size));
  }
  base::Rng rng = base::Rng(options.data_seed).Fork("toy problem");
  const std::vector<std::uint32_t> ranks = DrawRanks(rng, options.hidden);
  ToyProblem problem{std::vector<float>(ranks.size()), std::vector<float>(ranks.size())};
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto root = static_cast<float>(std::sqrt(kSpectrumKnee / (kSpectrumKnee + ranks[i])));
    problem.root_curvature[i] = root;
    problem.target[i] = rng.Chance(1, 2) ? root : -root;
  }
  return problem;
}

base::StatusOr<std::unique_ptr<Trainer>> MakeToyTrainer(const TrainerOptions& options) {
  ASSIGN_OR_RETURN(ToyProblem problem, DrawToyProblem(options));
  return MakeToyTrainerOver(std::move(problem), options.batch_size);
}

std::unique_ptr<Trainer> MakeToyTrainerOver(ToyProblem problem, std::uint64_t batch_size) {
  return std::make_unique<ToyTrainer>(std::move(problem), batch_size);
}

}  // namespace ostraka::train
