#include "node/config/origin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "node/store/checkpoint.h"
#include "tests/unit/os/temp_folder.h"

namespace ostraka::config::origin_test {
namespace {

using ::testing::HasSubstr;

// A folder with the states after steps 5 and 6 of an old run, and a manifest that goes on from 6.
class OriginTest : public os::TempFolderTest {
 protected:
  void SetUp() override {
    TempFolderTest::SetUp();
    for (const std::uint64_t step : {5, 6}) {
      const base::Status written = store::WriteCheckpoint(dir_, {step, kLayout, StateOf(step), {}});
      ASSERT_TRUE(written.ok()) << written;
    }
    manifest_.origin = protocol::Origin{{}, 6, protocol::StateRoot(StateOf(6), kLayout)};
  }
  static protocol::ModelState StateOf(std::uint64_t step) {
    const auto values = std::make_shared<const std::vector<float>>(12, static_cast<float>(step));
    return {values, {{"velocity", values}}};
  }
  std::string PathOf(std::uint64_t step) const { return store::CheckpointPath(dir_, step); }
  std::string Refusal(const std::string& path, const base::TensorLayout& layout) const {
    const auto state = ReadOrigin(manifest_, path, layout);
    EXPECT_EQ(state.status().code(), absl::StatusCode::kInvalidArgument);
    return base::MessageOf(state.status());
  }

  static inline const base::TensorLayout kLayout = {{"x", {12}}};
  protocol::Manifest manifest_;
};

TEST_F(OriginTest, GivesTheStateThatTheManifestNames) {
  const auto state = ReadOrigin(manifest_, PathOf(6), kLayout);
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(*state->parameters, std::vector<float>(12, 6.0F));
  EXPECT_EQ(*state->slots.at(0).values, std::vector<float>(12, 6.0F));
}

TEST_F(OriginTest, ARunWithoutAnOriginHasNoStateAndTakesNoFile) {
  manifest_.origin.reset();
  const auto state = ReadOrigin(manifest_, "", kLayout);
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->parameters, nullptr);
  EXPECT_TRUE(state->slots.empty());
  EXPECT_THAT(Refusal(PathOf(6), kLayout), HasSubstr("of its own"));
}

TEST_F(OriginTest, RefusesTheStateOfAnotherOptimizer) {
  manifest_.training.optimizer = aggregation::Optimizer::kAdamW;
  EXPECT_THAT(Refusal(PathOf(6), kLayout), HasSubstr("another optimizer than adamw"));
  manifest_.training.optimizer = aggregation::Optimizer::kNesterov;
  EXPECT_TRUE(ReadOrigin(manifest_, PathOf(6), kLayout).ok()) << "it has the slot of SGD";
}

TEST_F(OriginTest, RefusesAnotherStateAnotherModelAndNoFile) {
  EXPECT_THAT(Refusal(PathOf(5), kLayout), HasSubstr("is not the state after step 6"));
  EXPECT_THAT(Refusal(PathOf(6), {{"y", {12}}}), HasSubstr("another model"));
  EXPECT_THAT(Refusal("", kLayout), HasSubstr("--origin"));
  EXPECT_EQ(ReadOrigin(manifest_, PathOf(7), kLayout).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace ostraka::config::origin_test
