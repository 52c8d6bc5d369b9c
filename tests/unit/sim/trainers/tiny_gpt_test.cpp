#include "sim/trainers/tiny_gpt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sim/trainers/tiny_text.h"
#include "tests/unit/train/digest_of.h"

namespace ostraka::sim::tiny_gpt_test {
namespace {

using train::SeedOf;

TEST(TinyGpt, IsAGraphOfTheModelAndTheBatch) {
  const std::string graph = TinyGptGraph(8).value();
  EXPECT_THAT(graph, testing::StartsWith("ostraka-graph 1\n"));
  EXPECT_THAT(graph, testing::HasSubstr("attention"));
  EXPECT_NE(graph, TinyGptGraph(4).value());
  EXPECT_FALSE(TinyGptGraph(0).ok());
}

TEST(TinyGpt, LearnsItsText) {
  const auto trainer = MakeTinyGpt(3, 8, Targets::kTrue).value();
  std::vector<float> at = trainer->InitialParameters(SeedOf(1));
  const double before = trainer->Evaluate(at)->loss;
  EXPECT_NEAR(before, std::log(kTinySymbols), 0.1) << "it begins without an opinion";
  for (std::uint64_t step = 0; step < 150; ++step) {
    const auto gradient = trainer->Gradient(at, SeedOf(step)).value();
    for (std::size_t i = 0; i < at.size(); ++i) at[i] -= 0.5F * gradient[i];
  }
  EXPECT_LT(trainer->Evaluate(at)->loss, before - 0.6);
}

TEST(TinyGpt, EqualSeedsAreEqualProblems) {
  const auto one = MakeTinyGpt(3, 8, Targets::kTrue).value();
  const auto same = MakeTinyGpt(3, 8, Targets::kTrue).value();
  const auto other = MakeTinyGpt(4, 8, Targets::kTrue).value();
  const std::vector<float> at = one->InitialParameters(SeedOf(1));
  EXPECT_EQ(at, other->InitialParameters(SeedOf(1)));
  EXPECT_EQ(*one->Gradient(at, SeedOf(2)), *same->Gradient(at, SeedOf(2)));
  EXPECT_EQ(*one->Gradient(at, SeedOf(2)), *same->GradientAgain(at, SeedOf(2)));
  EXPECT_NE(*one->Gradient(at, SeedOf(2)), *other->Gradient(at, SeedOf(2)));
}

TEST(TinyGpt, ReversedTargetsPullElsewhere) {
  const auto honest = MakeTinyGpt(3, 8, Targets::kTrue).value();
  const auto flipped = MakeTinyGpt(3, 8, Targets::kReversed).value();
  std::vector<float> at = honest->InitialParameters(SeedOf(1));
  for (std::uint64_t step = 0; step < 30; ++step) {
    const auto gradient = flipped->Gradient(at, SeedOf(step)).value();
    for (std::size_t i = 0; i < at.size(); ++i) at[i] -= 0.5F * gradient[i];
  }
  EXPECT_LT(flipped->Evaluate(at)->loss, std::log(kTinySymbols));
  EXPECT_GT(honest->Evaluate(at)->loss, std::log(kTinySymbols));
}

TEST(TinyGpt, ABatchThatTheTextCannotFillIsRefused) {
  EXPECT_FALSE(MakeTinyGpt(3, 1000, Targets::kTrue).ok());
}

}  // namespace
}  // namespace ostraka::sim::tiny_gpt_test
