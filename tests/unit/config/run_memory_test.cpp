#include "node/config/run_memory.h"

#include <gtest/gtest.h>

#include <memory>

#include "node/train/trainer_loader.h"

namespace ostraka::config::run_memory_test {
namespace {

std::unique_ptr<train::Trainer> TrainerOf(const std::string& model, const std::string& data) {
  train::TrainerOptions options;
  options.model = model;
  options.data = data;
  options.hidden = 100;
  options.exact = model != "toy";
  return train::MakeTrainer(options).value();
}

TEST(RunMemory, GrowsWithTheModelAndNamesEachUseOnce) {
  const protocol::Manifest manifest;
  const auto small = TrainerOf("softmax", "digits");
  const auto large = TrainerOf("mlp", "digits");
  const std::vector<MemoryRow> few = MemoryRowsOf(manifest, *small);
  const std::vector<MemoryRow> more = MemoryRowsOf(manifest, *large);
  ASSERT_EQ(few.size(), more.size());
  EXPECT_GT(SumOf(more), SumOf(few));
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < more.size(); ++i) {
    EXPECT_GE(more[i].bytes, few[i].bytes) << more[i].what;
    for (std::size_t k = 0; k < i; ++k) EXPECT_NE(more[k].what, more[i].what);
    sum += more[i].bytes;
  }
  EXPECT_EQ(SumOf(more), sum);
}

// The digits are 1,797 images of 64 bytes, and their labels.
TEST(RunMemory, CountsTheDataWhereTheTrainerTellsThem) {
  const protocol::Manifest manifest;
  const auto exact = TrainerOf("softmax", "digits");
  ASSERT_TRUE(exact->WorkingBytes().has_value());
  EXPECT_GT(*exact->WorkingBytes(), 1797U * 65);
  EXPECT_EQ(MemoryRowsOf(manifest, *exact).back().bytes, *exact->WorkingBytes());
  const auto toy = TrainerOf("toy", "toy");
  EXPECT_FALSE(toy->WorkingBytes().has_value());
  EXPECT_EQ(MemoryRowsOf(manifest, *toy).size() + 1, MemoryRowsOf(manifest, *exact).size());
}

}  // namespace
}  // namespace ostraka::config::run_memory_test
