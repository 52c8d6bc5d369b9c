#include "node/train/local_steps.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/protocol/ground/schedule.h"

namespace ostraka::train::local_steps_test {
namespace {

using nlohmann::json;

// The trainer of write_local_steps.py, which counts its gradients.
class FakeTrainer : public Trainer {
 public:
  const base::TensorLayout& layout() const override { return layout_; }
  std::vector<float> InitialParameters(const Digest&) const override { return {}; }
  base::StatusOr<std::vector<float>> Gradient(std::span<const float> at,
                                              const Digest& seed) override {
    if (gradients == fails_at) return base::Internal("the library failed");
    ++gradients;
    std::vector<float> values(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) {
      const float base = static_cast<float>(seed.bytes[i % 32]) / 256.0F - 0.5F;
      values[i] = base + at[i] * 0.25F;
    }
    if (seed.bytes[0] < 64 && at.size() > 4100) {
      values[7] = std::numeric_limits<float>::infinity();
      values[4100] = std::numeric_limits<float>::quiet_NaN();
    }
    return values;
  }
  base::StatusOr<std::vector<float>> GradientAgain(std::span<const float> at,
                                                   const Digest& seed) override {
    ++again;
    return Gradient(at, seed);
  }
  std::optional<double> BatchLoss() const override { return static_cast<double>(gradients); }
  base::StatusOr<Evaluation> Evaluate(std::span<const float>) override { return Evaluation{}; }

  std::size_t gradients = 0;
  std::size_t again = 0;
  std::size_t fails_at = std::numeric_limits<std::size_t>::max();

 private:
  base::TensorLayout layout_;
};

std::vector<float> StartOf(std::size_t size) {
  std::vector<float> start(size);
  for (std::size_t i = 0; i < size; ++i) start[i] = static_cast<float>(i % 97) / 64.0F - 0.75F;
  return start;
}

Digest CountingSeed() {
  Digest seed;
  std::iota(seed.bytes.begin(), seed.bytes.end(), std::uint8_t{0});
  return seed;
}

protocol::TrainingPlan PlanOf(const json& golden) {
  protocol::TrainingPlan plan;
  const json& training = golden.at("training");
  plan.steps = training.at("steps");
  plan.settle_steps = training.at("settle_steps");
  plan.warmup_steps = training.at("warmup_steps");
  plan.schedule = *protocol::FindSchedule(training.at("schedule").get<std::string>());
  plan.decay_steps = training.at("decay_steps");
  const json& inner = golden.at("inner");
  plan.inner = {.steps = inner.at("steps"),
                .learning_rate = inner.at("learning_rate"),
                .warmup_steps = inner.at("warmup_steps"),
                .beta1 = inner.at("beta1"),
                .beta2 = inner.at("beta2"),
                .epsilon = inner.at("epsilon"),
                .weight_decay = inner.at("weight_decay"),
                .clip_norm = inner.at("clip_norm")};
  return plan;
}

// Rates, seeds, clipping, AdamW and what is not finite, to the bit: what NumPy computes by
// docs/numerics.md alone.
TEST(LocalStepsGolden, AreWhatTheSecondVerifierComputes) {
  const json golden = json::parse(std::ifstream("tests/vectors/local_steps.json"));
  const std::vector<float> start = StartOf(golden.at("size"));
  std::size_t compared = 0;
  const Digest seed = CountingSeed();
  const auto digest_of = [](std::span<const float> values) {
    return crypto::Hash(crypto::kDomainData, base::AsBytes(values)).Hex();
  };
  for (const auto& [name, each] : golden.at("cases").items()) {
    const std::uint32_t batches = each.at("batches");
    if (each.contains("digest")) {
      FakeTrainer trainer;
      auto work = WorkOf(trainer, {start, seed, batches});
      ASSERT_TRUE(work.ok());
      aggregation::ZeroNonFinite(work->values);  // as RunJob
      EXPECT_EQ(digest_of(work->values), each.at("digest").get<std::string>()) << name;
      ++compared;
      continue;
    }
    const protocol::TrainingPlan plan = PlanOf(each);
    for (const auto& [step, digest] : each.at("digests").items()) {
      FakeTrainer trainer;
      const auto local = protocol::LocalStepsOf(plan, std::stoull(step));
      const auto work = WorkOf(trainer, {start, seed, batches, local});
      ASSERT_TRUE(work.ok());
      EXPECT_EQ(digest_of(work->values), digest.get<std::string>()) << name << " " << step;
      EXPECT_EQ(trainer.gradients, local.rate == 0 ? 0 : local.count * batches);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 27u);
}

constexpr aggregation::LocalSteps kFour = {
    .count = 4, .rate = 0.01, .clip_norm = 1, .beta1 = 0.9, .beta2 = 0.95, .epsilon = 1e-8};

TEST(LocalStepsTest, WithoutAnyTheWorkIsTheGradientOnTheSeedItself) {
  FakeTrainer trainer;
  const std::vector<float> start = StartOf(64);
  const Digest seed = CountingSeed();
  const auto work = WorkOf(trainer, {start, seed});
  FakeTrainer other;
  EXPECT_EQ(work->values, *other.Gradient(start, seed));
  EXPECT_EQ(trainer.again, 0u);
}

TEST(LocalStepsTest, ASecondComputationIsOneInEveryStep) {
  FakeTrainer trainer;
  const std::vector<float> start = StartOf(64);
  const Digest seed = CountingSeed();
  ASSERT_TRUE(WorkOf(trainer, {start, seed, 1, kFour, /*again=*/true}).ok());
  EXPECT_EQ(trainer.again, 4u);
}

TEST(LocalStepsTest, TheLossIsThatOfTheFirst) {
  FakeTrainer trainer;
  const std::vector<float> start = StartOf(64);
  const Digest seed = CountingSeed();
  EXPECT_EQ(WorkOf(trainer, {start, seed, 1, kFour})->batch_loss, 1.0);
  EXPECT_EQ(WorkOf(trainer, {start, seed, 1, {.count = 4}})->batch_loss, std::nullopt)
      << "at rate 0 nothing is computed";
}

TEST(LocalStepsTest, EndsBetweenTwoGradientsOnceNobodyWantsIt) {
  FakeTrainer trainer;
  const std::vector<float> start = StartOf(64);
  const Digest seed = CountingSeed();
  trainer.EndWhere([&] { return trainer.gradients == 2; });
  const auto work = WorkOf(trainer, {start, seed, 1, kFour});
  EXPECT_TRUE(absl::IsCancelled(work.status()));
  EXPECT_EQ(trainer.gradients, 2u);
}

// Takes local steps as a device does: all at once.
class DescendingTrainer final : public FakeTrainer {
 public:
  base::StatusOr<std::optional<Descended>> Descend(std::span<const float> from,
                                                   const aggregation::LocalSteps& plan,
                                                   std::uint32_t batches,
                                                   const InnerSeedOf& seed_of) override {
    if (is_full) return std::nullopt;
    aggregation::LocalDescent descent(plan, from);
    while (descent.count() < plan.count) {
      for (std::uint32_t batch = 0; batch < batches; ++batch) {
        seeds.push_back(seed_of(descent.count(), batch));
      }
      std::vector<float> gradient(from.size(), 0.25F);
      descent.Step(gradient);
    }
    return Descended{descent.TakeDistance(), 7.0};
  }

  bool is_full = false;
  std::vector<Digest> seeds;
};

TEST(LocalStepsTest, ATrainerTakesThemItselfIfItCan) {
  DescendingTrainer trainer;
  const std::vector<float> start = StartOf(64);
  const Digest seed = CountingSeed();
  const auto work = WorkOf(trainer, {start, seed, 2, kFour});
  EXPECT_EQ(work->batch_loss, 7.0);
  EXPECT_EQ(trainer.gradients, 0u);
  ASSERT_EQ(trainer.seeds.size(), 8u);
  EXPECT_EQ(trainer.seeds[5], InnerBatchSeed(seed, 2, 1));
  ASSERT_TRUE(WorkOf(trainer, {start, seed, 2, kFour, /*again=*/true}).ok());
  EXPECT_EQ(trainer.again, 8u) << "a second computation is not the device's";
  ASSERT_TRUE(WorkOf(trainer, {start, seed, 2}).ok());
  EXPECT_EQ(trainer.seeds.size(), 8u) << "no local steps";
  trainer.is_full = true;
  FakeTrainer other;
  EXPECT_EQ(WorkOf(trainer, {start, seed, 2, kFour})->values,
            WorkOf(other, {start, seed, 2, kFour})->values);
}

TEST(LocalStepsTest, AFailureOfOneIsThatOfAll) {
  FakeTrainer trainer;
  trainer.fails_at = 3;
  const std::vector<float> start = StartOf(64);
  const Digest seed = CountingSeed();
  EXPECT_TRUE(absl::IsInternal(WorkOf(trainer, {start, seed, 1, kFour}).status()));
}

}  // namespace
}  // namespace ostraka::train::local_steps_test
