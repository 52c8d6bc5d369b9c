// The order in which micro-batches are asked for and added.
#include "node/train/exact/graph_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ostraka::train::graph_engine_test {
namespace {

using ::testing::ElementsAre;

// A gradient is the micro-batch's first integer in each place, and a loss is its half.
class FirstInteger final : public MicroBatchEngine {
 public:
  base::StatusOr<float> Gradient(std::span<const float> /*parameters*/,
                                 std::span<const exact::InputValues> inputs,
                                 std::span<float> gradient) override {
    const auto value = static_cast<float>(inputs[0].integers[0]);
    for (float& each : gradient) each = value;
    return value / 2;
  }
  base::StatusOr<float> Loss(std::span<const float> /*parameters*/,
                             std::span<const exact::InputValues> inputs) override {
    logits_ = {static_cast<float>(inputs[0].integers[0])};
    return logits_[0] / 2;
  }
  std::span<const float> Logits() const override { return logits_; }

 private:
  std::vector<float> logits_;
};

class GraphEngineTest : public ::testing::Test {
 protected:
  MicroBatches BatchesOf(std::vector<std::int32_t> values) {
    values_ = std::move(values);
    return {.count = values_.size(),
            .inputs =
                [this](std::size_t index) {
                  calls_ += "i" + std::to_string(index);
                  one_ = {values_[index]};
                  return std::vector<exact::InputValues>{{.integers = one_}};
                },
            .check_wanted =
                [this] {
                  calls_ += "?";
                  return wanted_;
                }};
  }

  std::vector<std::int32_t> values_;
  std::vector<std::int32_t> one_;
  std::string calls_;
  base::Status wanted_;
  FirstInteger engine_;
  const std::vector<float> parameters_ = {0, 0};
  std::vector<float> mean_ = {7, 7};
};

TEST_F(GraphEngineTest, MeanAddsInOrderAndScalesOnce) {
  // 2^24 + 1 rounds to 2^24: another order, or a share of each, gives other bits.
  const auto loss = engine_.Mean(parameters_, BatchesOf({1 << 24, 1, 1}), mean_);
  EXPECT_EQ(calls_, "i0?i1?i2");
  EXPECT_EQ(*loss, (8388608.0 + 0.5 + 0.5) / 3);
  const float expected = 16777216.0F * (1.0F / 3.0F);
  EXPECT_THAT(mean_, ElementsAre(expected, expected));
}

TEST_F(GraphEngineTest, OneMicroBatchIsItsOwnMean) {
  EXPECT_EQ(*engine_.Mean(parameters_, BatchesOf({3}), mean_), 1.5);
  EXPECT_EQ(calls_, "i0");
  EXPECT_THAT(mean_, ElementsAre(3, 3));
}

TEST_F(GraphEngineTest, EndsBetweenTwoMicroBatches) {
  wanted_ = base::Cancelled("nobody");
  EXPECT_EQ(engine_.Mean(parameters_, BatchesOf({1, 2}), mean_).status(), wanted_);
  EXPECT_EQ(calls_, "i0?");
}

TEST_F(GraphEngineTest, TellsEachLossBeforeTheNextInputs) {
  const auto each = [this](float loss, std::span<const float> logits) {
    calls_ += "l" + std::to_string(static_cast<int>(loss * 2)) + "/" +
              std::to_string(static_cast<int>(logits[0]));
  };
  ASSERT_TRUE(engine_.Losses(parameters_, BatchesOf({5, 6}), each).ok());
  EXPECT_EQ(calls_, "i0l5/5?i1l6/6");
}

}  // namespace
}  // namespace ostraka::train::graph_engine_test
