#include "node/cli/model/training_memory.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace ostraka::cli::training_memory_test {
namespace {

constexpr double kGiB = 1 << 30;

// What the demonstration's own calculator printed: batch 1, checkpointing, O1; Adam on the device,
// then 8-bit Adam with offload on the device and in the machine's memory.
struct Row {
  const char* preset;
  double adam;
  double device;
  double host;
};
constexpr Row kRows[] = {{"bert-large", 5.05, 1.95, 1.24},
                         {"gpt2-l", 11.79, 4.60, 2.88},
                         {"gpt-j-6b", 87.95, 33.52, 21.77},
                         {"dalle-12b", 182.40, 68.87, 45.41},
                         {"gpt3-175b", 2606.24, 980.48, 650.31}};

TEST(TrainingMemoryTest, IsThatOfTheDemonstration) {
  for (const Row& row : kRows) {
    const auto sizes = FindTransformer(row.preset);
    ASSERT_TRUE(sizes) << row.preset;
    const TrainingMemory adam = TrainingMemoryOf(*sizes, {});
    EXPECT_NEAR(adam.device_bytes / kGiB, row.adam, 0.01) << row.preset;
    EXPECT_EQ(adam.host_bytes, 0) << row.preset;
    const TrainingMemory small =
        TrainingMemoryOf(*sizes, {.state = StateBits::k8, .offload = true});
    EXPECT_NEAR(small.device_bytes / kGiB, row.device, 0.01) << row.preset;
    EXPECT_NEAR(small.host_bytes / kGiB, row.host, 0.01) << row.preset;
  }
}

TEST(TrainingMemoryTest, ThereAreEighteenPresetsAndNoOthers) {
  EXPECT_EQ(TransformerPresets().size(), 18u);
  EXPECT_FALSE(FindTransformer("gpt-5"));
}

TEST(TrainingMemoryTest, WithoutCheckpointsActivationsGrowWithTheSquareOfTheContext) {
  const TransformerSizes sizes = {"", 1000, 10, 40, 2, 0};
  const TrainingMemoryOptions kept = {.precision = Precision::kO0, .checkpoint = false, .batch = 3};
  const double weights = 16.0 * static_cast<double>(TrainingMemoryOf(sizes, kept).parameters);
  EXPECT_EQ(TrainingMemoryOf(sizes, kept).device_bytes,
            weights + 4 * 2 * (3.0 * 1000 * (40 + 100) + 2 * 3 * 1000.0 * 1000));
}

}  // namespace
}  // namespace ostraka::cli::training_memory_test
