#include "sim/trainers/trainers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/setup/models.h"
#include "tests/unit/train/digest_of.h"

namespace ostraka::sim::trainers_test {
namespace {

using train::SeedOf;

SimOptions Gpt() {
  SimOptions options;
  UseTinyGpt(options);
  return options;
}

TEST(Trainers, TheToyIsTheDefault) {
  SimOptions options;
  options.dimension = 77;
  EXPECT_EQ(PlanOf(options)->model, "toy");
  EXPECT_EQ(PlanOf(options)->data, "toy");
  EXPECT_EQ(PlanOf(options)->hidden, 77U);
  EXPECT_EQ(base::ElementCount(TrainerOf(options).value()->layout()), 77U);
}

TEST(Trainers, AGptIsNamedByTheHashOfItsGraph) {
  const protocol::TrainingPlan plan = PlanOf(Gpt()).value();
  EXPECT_THAT(plan.model, testing::MatchesRegex("graph@[0-9a-f]+"));
  EXPECT_EQ(plan.data, "tokens");
  EXPECT_EQ(plan.batch_size, 8U);
  EXPECT_EQ(plan.learning_rate, Gpt().learning_rate);
}

// A part has two elements at least, however many peers there are.
TEST(Trainers, AGptHasParametersEnoughForEveryPeer) {
  EXPECT_GT(base::ElementCount(TrainerOf(Gpt()).value()->layout()), 2U * 256);
}

TEST(Trainers, OnlyAnAttackOnWorkGetsATrainerAndOnlyOneOfFlippedLabels) {
  for (SimOptions options : {SimOptions(), Gpt()}) {
    options.attack = "sign_flip";
    EXPECT_EQ(AttackersTrainerOf(options).value(), nullptr);
    const auto honest = TrainerOf(options).value();
    const std::vector<float> at = honest->InitialParameters(SeedOf(1));
    options.attack = "label_flip";
    const auto flipped = AttackersTrainerOf(options).value();
    ASSERT_NE(flipped, nullptr);
    EXPECT_NE(*flipped->Gradient(at, SeedOf(2)), *honest->Gradient(at, SeedOf(2)));
    options.attack = "ascent";
    const auto own = AttackersTrainerOf(options).value();
    ASSERT_NE(own, nullptr);
    EXPECT_EQ(*own->Gradient(at, SeedOf(2)), *honest->Gradient(at, SeedOf(2)));
  }
}

}  // namespace
}  // namespace ostraka::sim::trainers_test
