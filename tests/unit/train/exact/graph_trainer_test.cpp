// What the trainer of graphs asks of whatever computes its gradients.
#include "node/train/exact/graph_trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "exact/models/models.h"
#include "node/train/exact/graph_file.h"
#include "node/train/tokens/tokens.h"
#include "tests/unit/train/digest_of.h"

namespace ostraka::train::graph_trainer_test {
namespace {

using ::testing::ElementsAre;

struct Calls {
  std::vector<std::string> made;
  base::Status after = base::OkStatus();
};

// Its n-th gradient is n everywhere, and so is its loss.
class CountingEngine final : public MicroBatchEngine {
 public:
  CountingEngine(Calls& calls, std::string name) : calls_(calls), name_(std::move(name)) {}

  base::StatusOr<float> Gradient(std::span<const float> /*parameters*/,
                                 std::span<const exact::InputValues> inputs,
                                 std::span<float> gradient) override {
    EXPECT_EQ(inputs.size(), 2u);
    calls_.made.push_back(name_ + " gradient");
    std::fill(gradient.begin(), gradient.end(), ++count_);
    return count_;
  }
  base::StatusOr<float> Loss(std::span<const float> /*parameters*/,
                             std::span<const exact::InputValues> inputs) override {
    const auto targets = inputs[1].integers;
    kept_.push_back(std::count_if(targets.begin(), targets.end(), [](auto t) { return t >= 0; }));
    return ++count_;
  }
  std::span<const float> Logits() const override { return {}; }
  std::unique_ptr<GraphEngine> Other() const override {
    if (name_ != "first") return nullptr;
    return std::make_unique<CountingEngine>(calls_, "other");
  }
  base::Status AfterGradient() override {
    calls_.made.push_back(name_ + " after");
    return calls_.after;
  }

  const std::vector<std::ptrdiff_t>& kept() const { return kept_; }

 private:
  Calls& calls_;
  std::string name_;
  float count_ = 0;
  std::vector<std::ptrdiff_t> kept_;
};

class GraphTrainerTest : public ::testing::Test {
 protected:
  std::unique_ptr<Trainer> Make(std::uint64_t batch_size, const std::string& name = "first") {
    const TrainerOptions options{.model = std::string(kGraphModel), .batch_size = batch_size};
    exact::Graph graph =
        exact::MakeModel({.batch = 2, .layers = 1, .width = 4, .heads = 1, .context = 4})->graph;
    Dataset data = RecordsOf(base::Bytes(300, 7), 4).value();
    held_out_ = data.test.size();
    GraphTask task = PrepareTask(options, std::move(graph), std::move(data)).value();
    auto engine = std::make_unique<CountingEngine>(calls_, name);
    engine_ = engine.get();
    return MakeGraphTrainer(std::move(task), options, std::move(engine)).value();
  }

  Calls calls_;
  CountingEngine* engine_ = nullptr;
  std::size_t held_out_ = 0;
};

TEST_F(GraphTrainerTest, AGradientIsTheMeanOverMicroBatchesAndIsCheckedOnce) {
  const auto trainer = Make(6);
  const std::vector<float> at = trainer->InitialParameters(SeedOf(1));
  const auto gradient = trainer->Gradient(at, SeedOf(2)).value();
  EXPECT_EQ(gradient, std::vector<float>(at.size(), 6 * (1.0F / 3)));
  EXPECT_DOUBLE_EQ(trainer->BatchLoss().value(), 2);
  EXPECT_THAT(calls_.made,
              ElementsAre("first gradient", "first gradient", "first gradient", "first after"));
}

TEST_F(GraphTrainerTest, AnUnwantedGradientEndsBetweenTwoMicroBatches) {
  const auto trainer = Make(6);
  const std::vector<float> at = trainer->InitialParameters(SeedOf(1));
  int asked = 0;
  trainer->EndWhere([&asked] { return ++asked == 2; });
  EXPECT_TRUE(absl::IsCancelled(trainer->Gradient(at, SeedOf(2)).status()));
  EXPECT_THAT(calls_.made, ElementsAre("first gradient", "first gradient", "first after"));
  EXPECT_FALSE(trainer->BatchLoss().has_value());
  trainer->EndWhere(nullptr);
  EXPECT_TRUE(trainer->Gradient(at, SeedOf(2)).ok());
}

TEST_F(GraphTrainerTest, NobodySeesAGradientOfAnEngineThatFails) {
  const auto trainer = Make(2);
  const std::vector<float> at = trainer->InitialParameters(SeedOf(1));
  calls_.after = base::FailedPrecondition("other bits");
  EXPECT_EQ(base::MessageOf(trainer->Gradient(at, SeedOf(2)).status()), "other bits");
  EXPECT_EQ(base::MessageOf(trainer->GradientAgain(at, SeedOf(2)).status()), "other bits");
  EXPECT_FALSE(trainer->BatchLoss().has_value());
}

TEST_F(GraphTrainerTest, ASecondGradientIsByTheOtherEngineIfThereIsOne) {
  const auto trainer = Make(2);
  const std::vector<float> at = trainer->InitialParameters(SeedOf(1));
  EXPECT_TRUE(trainer->GradientAgain(at, SeedOf(2)).ok());
  EXPECT_THAT(calls_.made, ElementsAre("other gradient", "first after"));
  calls_.made.clear();
  EXPECT_TRUE(Make(2, "alone")->GradientAgain(at, SeedOf(2)).ok());
  EXPECT_THAT(calls_.made, ElementsAre("alone gradient", "alone after"));
}

TEST_F(GraphTrainerTest, WithoutLogitsAnEvaluationHasALossAlone) {
  const auto trainer = Make(2);
  const std::vector<float> at = trainer->InitialParameters(SeedOf(1));
  const Evaluation evaluation = trainer->Evaluate(at).value();
  EXPECT_EQ(evaluation.metric, "loss");
  EXPECT_EQ(evaluation.value, evaluation.loss);
  // Every held-out record once, of four targets each.
  std::ptrdiff_t kept = 0;
  double loss = 0;
  for (std::size_t i = 0; i < engine_->kept().size(); ++i) {
    kept += engine_->kept()[i];
    loss += static_cast<double>(i + 1) * static_cast<double>(engine_->kept()[i]);
  }
  EXPECT_EQ(kept, static_cast<std::ptrdiff_t>(4 * held_out_));
  EXPECT_DOUBLE_EQ(evaluation.loss, loss / static_cast<double>(kept));
}

}  // namespace
}  // namespace ostraka::train::graph_trainer_test
