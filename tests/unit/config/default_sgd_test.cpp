#include "node/config/default_sgd.h"

#include <gtest/gtest.h>

#include <cmath>

#include "node/config/training.h"
#include "node/train/trainer_loader.h"

namespace ostraka::config::default_sgd_test {
namespace {

SgdSettings Default(const char* model, const char* data) {
  return DefaultSgd(model, data, std::nullopt, std::nullopt);
}

// How far a gradient moves the model in the end.
double Reach(const SgdSettings& settings) { return settings.rate / (1 - settings.momentum); }

TEST(DefaultSgdTest, EveryPairThatTrainsHasOne) {
  std::size_t pairs = 0;
  for (const char* model : {"toy", "softmax", "mlp", "cnn", "graph"}) {
    for (const char* data :
         {"toy", "digits", "mnist", "cifar10", "text", "tokens", "examples", "stream"}) {
      const bool exact = DefaultProfile(model) == protocol::kExact;
      if (!train::CheckTrainerNames({.model = model, .data = data, .exact = exact}).ok()) continue;
      ++pairs;
      EXPECT_GT(Default(model, data).rate, 0) << model << " on " << data;
    }
  }
  EXPECT_EQ(pairs, 18u);
}

TEST(DefaultSgdTest, ALinearLayerOfMoreInputsTakesSmallerSteps) {
  for (const char* model : {"softmax", "mlp"}) {
    EXPECT_LT(Default(model, "mnist").rate, Default(model, "digits").rate) << model;
    EXPECT_LT(Default(model, "cifar10").rate, Default(model, "mnist").rate) << model;
  }
}

// `make demo` promises an accuracy that was measured with these (docs/benchmarks.md).
TEST(DefaultSgdTest, TheDemoKeepsItsSettings) {
  EXPECT_EQ(Default("mlp", "digits"), (SgdSettings{1.0, 0, 0.3}));
}

TEST(DefaultSgdTest, ARateThatIsGivenIsKeptAndBringsNoMomentum) {
  EXPECT_EQ(DefaultSgd("mlp", "mnist", 0.25, std::nullopt), (SgdSettings{0.25, 0}));
  EXPECT_EQ(DefaultSgd("mlp", "mnist", 0.25, 0.5), (SgdSettings{0.25, 0.5}));
  EXPECT_EQ(DefaultSgd("mlp", "digits", 1.0, std::nullopt), (SgdSettings{1.0, 0, 0}));
}

TEST(DefaultSgdTest, AClipOfTheTableIsThePlansUnlessOneIsGiven) {
  const auto clip = [](const UpdateWishes& wishes) {
    protocol::TrainingPlan plan;
    SetUpdate(wishes, "mlp", "digits", plan);
    return plan.clip_norm;
  };
  EXPECT_EQ(clip({}), 0.3);
  EXPECT_EQ(clip({.clip_norm = 0.0}), 0.0);
  EXPECT_EQ(clip({.rate = 0.5}), 0.0) << "who chooses a rate gets that rate";
  EXPECT_EQ(clip({.optimizer = aggregation::Optimizer::kAdamW}), 1.0);
  EXPECT_EQ(clip({.optimizer = aggregation::Optimizer::kLamb}), 1.0);
}

TEST(DefaultSgdTest, LocalStepsBringAnUpdateOfTheirOwn) {
  protocol::TrainingPlan plan;
  plan.steps = 65;
  SetUpdate({.inner_steps = 16}, "graph", "tokens", plan);
  EXPECT_EQ(plan.inner.steps, 16u);
  EXPECT_EQ(plan.inner.learning_rate, 0.006);
  EXPECT_EQ(plan.inner.warmup_steps, 4u);
  EXPECT_EQ(plan.optimizer, aggregation::Optimizer::kNesterov);
  EXPECT_EQ(plan.learning_rate, 0.8);
  EXPECT_EQ(plan.momentum, 0.8);
  EXPECT_EQ(plan.clip_norm, 0);
  EXPECT_EQ(plan.schedule, protocol::Schedule::kCosine);
  EXPECT_EQ(plan.warmup_steps, 10u) << "a sixth of the 60 that train";
  protocol::TrainingPlan own;
  own.steps = 65;
  SetUpdate({.optimizer = aggregation::Optimizer::kSgd,
             .schedule = protocol::Schedule::kWsd,
             .inner_steps = 2,
             .inner_rate = 0.01},
            "mlp", "digits", own);
  EXPECT_EQ(own.inner.warmup_steps, 2u) << "no more than there are steps";
  EXPECT_EQ(own.inner.learning_rate, 0.01);
  EXPECT_EQ(own.learning_rate, 1);
  EXPECT_EQ(own.momentum, 0);
  EXPECT_EQ(own.decay_steps, 12u);
}

TEST(DefaultSgdTest, AMomentumThatIsGivenChangesNoReach) {
  for (const double momentum : {0.0, 0.5, 0.9, 0.99}) {
    const SgdSettings given = DefaultSgd("mlp", "mnist", std::nullopt, momentum);
    EXPECT_EQ(given.momentum, momentum);
    EXPECT_NEAR(Reach(given), Reach(Default("mlp", "mnist")), 1e-9) << momentum;
  }
  // A manifest refuses these; its error must be about the momentum, not about the rate.
  for (const double refused : {-0.5, 1.0, 7.0, std::nan("")}) {
    EXPECT_EQ(DefaultSgd("mlp", "digits", std::nullopt, refused).rate, 1.0) << refused;
  }
}

}  // namespace
}  // namespace ostraka::config::default_sgd_test
