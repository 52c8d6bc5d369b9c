#include "node/train/toy_trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "sim/attacks/results/other_work.h"
#include "tests/unit/train/digest_of.h"

namespace ostraka::train::toy_trainer_test {
namespace {

using ::testing::HasSubstr;

TrainerOptions ToyOptions(std::uint64_t dimension, std::uint64_t batch_size = 32) {
  return {
      .model = "toy", .data = "toy", .batch_size = batch_size, .hidden = dimension, .data_seed = 7};
}

std::unique_ptr<Trainer> MakeToy(std::uint64_t dimension, std::uint64_t batch_size = 32) {
  return MakeToyTrainer(ToyOptions(dimension, batch_size)).value();
}

// Over the data that label_flip trains on.
std::unique_ptr<Trainer> MakeFlipped(std::uint64_t dimension) {
  ToyProblem problem = DrawToyProblem(ToyOptions(dimension)).value();
  sim::FlipLabels(problem);
  return MakeToyTrainerOver(std::move(problem), 32);
}

std::vector<float> Negated(std::vector<float> values) {
  for (float& value : values) value = -value;
  return values;
}

// The problem as seen from outside: the loss is a quadratic with diagonal curvature.
struct Problem {
  std::vector<double> mean;       // H e, by central differences (exact for a quadratic)
  std::vector<double> curvature;  // h, by second differences
  double residual = 0;            // <e, H e> + s^2, twice the loss
};
Problem Probe(Trainer& trainer, const std::vector<float>& at) {
  constexpr float kStep = 0.5F;
  const double here = trainer.Evaluate(at)->loss;
  Problem problem{.mean = {}, .curvature = {}, .residual = 2 * here};
  for (std::size_t i = 0; i < at.size(); ++i) {
    std::vector<float> moved = at;
    moved[i] = at[i] + kStep;
    const double above = trainer.Evaluate(moved)->loss;
    moved[i] = at[i] - kStep;
    const double below = trainer.Evaluate(moved)->loss;
    problem.mean.push_back((above - below) / (2 * kStep));
    problem.curvature.push_back((above - 2 * here + below) / (kStep * kStep));
  }
  return problem;
}

// The golden values come from an independent program that follows the comment of toy_trainer.cpp
// in Python's integers and doubles.
TEST(ToyTrainer, IsTheSameOnEveryMachine) {
  const auto trainer = MakeToy(101);
  const std::vector<float> parameters = trainer->InitialParameters(SeedOf(3));
  EXPECT_EQ(FingerprintOf(parameters),
            "965bff9c36e9f673c9c2672cd0c692f103d44ca8b36657b5505a78a1c5d3c1a1");
  EXPECT_EQ(FingerprintOf(trainer->Gradient(parameters, SeedOf(4)).value()),
            "db4e2d15c1007357b9373fad59a0d545a39361908911312dd1adffba5ed1ad97");
  EXPECT_EQ(FingerprintOf(MakeFlipped(101)->Gradient(parameters, SeedOf(4)).value()),
            "4bec0623ad3e4bad7e11600e190692b38542c21147e322c51bcdce5b4fcb9510");
  EXPECT_EQ(trainer->Evaluate(parameters)->loss, 0x1.339aeb78a5e86p+1);
}

TEST(ToyTrainer, GradientDependsOnParametersAndSeedAlone) {
  const auto trainer = MakeToy(1000);
  const auto other = MakeToy(1000);
  const std::vector<float> parameters = trainer->InitialParameters(SeedOf(3));
  const auto first = trainer->Gradient(parameters, SeedOf(1)).value();
  const auto second = trainer->Gradient(parameters, SeedOf(2)).value();
  EXPECT_NE(first, second);
  EXPECT_EQ(other->Gradient(parameters, SeedOf(2)).value(), second);
  EXPECT_EQ(other->Gradient(parameters, SeedOf(1)).value(), first);
}

TEST(ToyTrainer, GradientHasTheMeanAndVarianceOfLeastSquares) {
  constexpr std::size_t kDimension = 24;
  constexpr int kDraws = 20'000;
  for (const std::uint64_t batch_size : {std::uint64_t{1}, std::uint64_t{32}}) {
    const auto trainer = MakeToy(kDimension, batch_size);
    const std::vector<float> at = trainer->InitialParameters(SeedOf(3));
    const Problem problem = Probe(*trainer, at);
    std::vector<double> sum(kDimension, 0);
    std::vector<double> square(kDimension, 0);
    for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
      const auto gradient = trainer->Gradient(at, SeedOf(draw)).value();
      for (std::size_t i = 0; i < kDimension; ++i) {
        sum[i] += gradient[i];
        square[i] += static_cast<double>(gradient[i]) * gradient[i];
      }
    }
    for (std::size_t i = 0; i < kDimension; ++i) {
      const double mean = sum[i] / kDraws;
      const double variance = square[i] / kDraws - mean * mean;
      const double expected =
          (problem.residual * problem.curvature[i] + problem.mean[i] * problem.mean[i]) /
          static_cast<double>(batch_size);
      EXPECT_NEAR(mean, problem.mean[i], 5 * std::sqrt(expected / kDraws)) << i;
      EXPECT_NEAR(variance, expected, 5 * expected * std::sqrt(2.0 / kDraws)) << i;
    }
  }
}

TEST(ToyTrainer, FlippedLabelsPullToTheOppositeOptimum) {
  const auto trainer = MakeToy(500);
  const std::vector<float> at = trainer->InitialParameters(SeedOf(3));
  const auto plain = trainer->Gradient(at, SeedOf(1)).value();
  const auto flipped = MakeFlipped(500)->Gradient(Negated(at), SeedOf(1)).value();
  // Mirrored parameters under mirrored labels: the mean is mirrored and the noise is the same, so
  // half the difference is the mean, up to the one factor that the batch draws.
  const Problem problem = Probe(*trainer, at);
  double dot = 0;
  double mean_square = 0;
  double half_square = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double half = (static_cast<double>(plain[i]) - flipped[i]) / 2;
    dot += half * problem.mean[i];
    mean_square += problem.mean[i] * problem.mean[i];
    half_square += half * half;
  }
  EXPECT_GT(dot / std::sqrt(mean_square * half_square), 0.999999);
  EXPECT_NE(MakeFlipped(500)->Gradient(at, SeedOf(1)).value(), plain);
}

TEST(ToyTrainer, SgdWithFourPeersLearnsInAnyDimension) {
  for (const std::uint64_t dimension : {10, 1000, 20'000}) {
    const auto trainer = MakeToy(dimension);
    std::vector<float> parameters = trainer->InitialParameters(SeedOf(3));
    std::vector<float> velocity(parameters.size(), 0);
    EXPECT_GT(trainer->Evaluate(parameters)->loss, 1.0) << dimension;
    for (std::uint64_t step = 0; step < 150; ++step) {
      std::vector<float> mean(parameters.size(), 0);
      for (std::uint64_t peer = 0; peer < 4; ++peer) {
        const auto gradient = trainer->Gradient(parameters, SeedOf(4 * step + peer)).value();
        for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += gradient[i] / 4;
      }
      for (std::size_t i = 0; i < mean.size(); ++i) {
        velocity[i] = 0.9F * velocity[i] + mean[i];
        parameters[i] -= 0.1F * velocity[i];
      }
    }
    const Evaluation end = trainer->Evaluate(parameters).value();
    EXPECT_LT(end.loss, 0.2) << dimension;
    EXPECT_GT(end.loss, 0.125) << "half the variance of the labels' noise is the least possible";
    EXPECT_EQ(end.metric, "loss");
    EXPECT_EQ(end.value, end.loss);
  }
}

TEST(ToyTrainer, LayoutHoldsEveryDimensionWithoutEmptyTensors) {
  for (std::uint64_t dimension = 1; dimension <= 70; ++dimension) {
    const auto trainer = MakeToy(dimension);
    EXPECT_EQ(base::ElementCount(trainer->layout()), dimension);
    EXPECT_EQ(trainer->InitialParameters(SeedOf(1)).size(), dimension);
    for (const base::TensorSpec& tensor : trainer->layout()) EXPECT_GT(tensor.element_count(), 0u);
  }
  EXPECT_EQ(MakeToy(100)->layout().size(), 3u);
}

TEST(ToyTrainer, NonFiniteParametersGiveNonFiniteGradients) {
  const auto trainer = MakeToy(10);
  std::vector<float> parameters(10, 0);
  parameters[3] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(std::isfinite(trainer->Gradient(parameters, SeedOf(1)).value()[3]));
  EXPECT_FALSE(std::isfinite(trainer->Evaluate(parameters)->loss));
}

TEST(ToyTrainer, DataSeedDeterminesTheProblem) {
  TrainerOptions options = ToyOptions(50);
  const auto one = MakeToyTrainer(options).value();
  options.data_seed = 8;
  const auto other = MakeToyTrainer(options).value();
  const std::vector<float> zero(50, 0);
  EXPECT_NE(one->Gradient(zero, SeedOf(1)).value(), other->Gradient(zero, SeedOf(1)).value());
}

TEST(ToyTrainer, RefusesUnsupportedOptions) {
  const auto message_of = [](const TrainerOptions& options) {
    const auto made = MakeToyTrainer(options);
    EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
    return base::MessageOf(made.status());
  };
  TrainerOptions options = ToyOptions(10);
  options.model = "mlp";
  EXPECT_THAT(message_of(options), HasSubstr("model mlp, data toy"));
  options = ToyOptions(10);
  options.data = "digits";
  EXPECT_THAT(message_of(options), HasSubstr("model toy, data digits"));
  EXPECT_THAT(message_of(ToyOptions(0)), HasSubstr("must be 1 to 134217728, not 0"));
  EXPECT_THAT(message_of(ToyOptions((1u << 27) + 1)), HasSubstr("not 134217729"));
  EXPECT_THAT(message_of(ToyOptions(10, 0)), HasSubstr("batch_size must be 1 to"));
}

}  // namespace
}  // namespace ostraka::train::toy_trainer_test
