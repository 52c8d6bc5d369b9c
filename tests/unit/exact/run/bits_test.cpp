// One gradient: every level, every number of threads, and the digests that other builds and
// machines gave (tests/exact_digests.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>

#include "exact/run/runner.h"
#include "node/os/thread_executor.h"
#include "tests/unit/exact/model_digests.h"
#include "tests/unit/exact/testing.h"

namespace ostraka::exact::bits_test {
namespace {

using testing::DigestOf;
using testing::DigestProblems;
using ::testing::HasSubstr;
using testing::NamedProblem;
using testing::Problem;

TEST(Bits, EveryLevelAndNumberOfThreadsGivesTheRecordedGradient) {
  const os::ThreadExecutor two(2);
  const os::ThreadExecutor three(3);
  const aggregation::SerialExecutor one;
  for (const NamedProblem& each : DigestProblems()) {
    for (const Level level : testing::SupportedLevels()) {
      const Kernels& kernels = KernelsFor(level);
      const std::string expected = testing::kRecordedDigests.at(each.name);
      EXPECT_EQ(DigestOf(each.problem, kernels, one, 1).Short(), expected)
          << each.name << " " << LevelName(level);
      // Scalar kernels are 84 times slower, and share their work out as the others do.
      if (level == Level::kScalar && each.name != "gpt") continue;
      EXPECT_EQ(DigestOf(each.problem, kernels, two, 2).Short(), expected)
          << each.name << " " << LevelName(level) << " on two threads";
      EXPECT_EQ(DigestOf(each.problem, kernels, three, 3).Short(), expected)
          << each.name << " " << LevelName(level) << " on three threads";
    }
  }
}

TEST(Bits, OneChangedBitOfAParameterChangesTheGradient) {
  Problem problem = DigestProblems()[5].problem;  // softmax: no dead units
  const aggregation::SerialExecutor one;
  const base::Digest before = DigestOf(problem, BestKernels(), one, 1);
  float& value = problem.parameters[problem.parameters.size() / 2];
  value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ 0x400);
  EXPECT_NE(DigestOf(problem, BestKernels(), one, 1), before);
}

class RunnerTest : public ::testing::Test {
 protected:
  RunnerTest() : problem_(DigestProblems()[5].problem) {}

  Runner MakeRunner() {
    return {PlanMemory(Differentiate(problem_.graph), {}, 1).value(), problem_.constants,
            BestKernels(), executor_};
  }

  Problem problem_;  // softmax: features, targets
  aggregation::SerialExecutor executor_;
};

TEST_F(RunnerTest, GivesOneResultAgainAndAgain) {
  Runner runner = MakeRunner();
  std::vector<float> first(problem_.parameters.size());
  std::vector<float> second(problem_.parameters.size(), 7);
  const auto loss = runner.Gradient(problem_.parameters, problem_.inputs(), first);
  const auto again = runner.Gradient(problem_.parameters, problem_.inputs(), second);
  EXPECT_EQ(loss.value(), again.value());
  EXPECT_EQ(testing::BitsOf(first), testing::BitsOf(second));
  EXPECT_EQ(runner.Loss(problem_.parameters, problem_.inputs()).value(), *loss);
}

// Counts what a run shares out, and abandons it in the call of that number.
class AbandoningExecutor final : public Executor {
 public:
  AbandoningExecutor(std::atomic<bool>& abandoned, int after)
      : abandoned_(abandoned), after_(after) {}
  void ParallelFor(std::size_t count, const std::function<void(std::size_t)>& body) const override {
    if (++calls_ == after_) abandoned_ = true;
    for (std::size_t i = 0; i < count; ++i) body(i);
  }
  int calls() const { return calls_; }

 private:
  std::atomic<bool>& abandoned_;
  const int after_;
  mutable int calls_ = 0;
};

TEST(Runner, EndsBeforeTheNextStepOnceItIsAbandoned) {
  const auto problems = DigestProblems();
  const auto named = [](const NamedProblem& each) { return std::string(each.name) == "gpt"; };
  Problem problem = std::find_if(problems.begin(), problems.end(), named)->problem;
  const auto abandoned = std::make_shared<std::atomic<bool>>(false);
  const auto run = [&](const AbandoningExecutor& executor) {
    Runner runner(PlanMemory(Differentiate(problem.graph), {}, 1).value(), problem.constants,
                  BestKernels(), executor);
    runner.EndWhen(abandoned);
    std::vector<float> gradient(problem.parameters.size());
    return runner.Gradient(problem.parameters, problem.inputs(), gradient).status();
  };
  const AbandoningExecutor all(*abandoned, 1'000'000);
  ASSERT_TRUE(run(all).ok());
  ASSERT_GT(all.calls(), 1) << "of steps that share their work";
  const AbandoningExecutor some(*abandoned, 1);
  EXPECT_TRUE(absl::IsUnavailable(run(some)));
  EXPECT_EQ(some.calls(), 1) << "it went on";
  const AbandoningExecutor none(*abandoned, 1'000'000);
  EXPECT_TRUE(absl::IsUnavailable(run(none))) << "as does each later run";
  EXPECT_EQ(none.calls(), 0);
}

TEST_F(RunnerTest, RefusesIntegersThatNameNothing) {
  Runner runner = MakeRunner();
  std::vector<float> gradient(problem_.parameters.size());
  for (const std::int32_t wrong : {-2, 10, 1 << 30}) {
    problem_.integers[1][3] = wrong;
    const auto loss = runner.Gradient(problem_.parameters, problem_.inputs(), gradient);
    EXPECT_THAT(base::MessageOf(loss.status()),
                HasSubstr("input targets has a value " + std::to_string(wrong)));
  }
  problem_.integers[1][3] = -1;
  EXPECT_TRUE(runner.Gradient(problem_.parameters, problem_.inputs(), gradient).ok());
}

TEST_F(RunnerTest, RefusesInputsOfAnotherSize) {
  Runner runner = MakeRunner();
  std::vector<float> gradient(problem_.parameters.size());
  problem_.floats[0].pop_back();
  EXPECT_THAT(
      base::MessageOf(runner.Gradient(problem_.parameters, problem_.inputs(), gradient).status()),
      HasSubstr("input features has 512 values"));
  std::vector<InputValues> inputs = problem_.inputs();
  inputs.pop_back();
  EXPECT_THAT(base::MessageOf(runner.Gradient(problem_.parameters, inputs, gradient).status()),
              HasSubstr("the graph has 2 inputs"));
}

TEST_F(RunnerTest, ARowWithoutTargetsHasNoLoss) {
  Runner runner = MakeRunner();
  std::fill(problem_.integers[1].begin(), problem_.integers[1].end(), -1);
  std::vector<float> gradient(problem_.parameters.size(), 7);
  EXPECT_EQ(runner.Gradient(problem_.parameters, problem_.inputs(), gradient).value(), 0);
  EXPECT_EQ(testing::BitsOf(gradient), testing::BitsOf(std::vector<float>(gradient.size(), 0)));
}

TEST_F(RunnerTest, ANanOfAParameterIsCanonicalInTheGradient) {
  Runner runner = MakeRunner();
  problem_.parameters[0] = std::bit_cast<float>(0xff812345U);
  std::vector<float> gradient(problem_.parameters.size());
  const auto loss = runner.Gradient(problem_.parameters, problem_.inputs(), gradient);
  EXPECT_EQ(testing::BitsOf({*loss}), testing::BitsOf({kCanonicalNan}));
  std::size_t nans = 0;
  for (const float value : gradient) {
    if (value == value) continue;
    ++nans;
    EXPECT_EQ(std::bit_cast<std::uint32_t>(value), kCanonicalNanBits);
  }
  EXPECT_GT(nans, 0U);
}

}  // namespace
}  // namespace ostraka::exact::bits_test
