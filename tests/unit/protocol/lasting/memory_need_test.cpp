#include "node/protocol/lasting/memory_need.h"

#include <gtest/gtest.h>

#include "node/protocol/ground/manifest.h"

namespace ostraka::protocol::memory_need_test {
namespace {

// Of 1,000,000 parameters, in bytes a parameter.
MemoryNeed Of(const Manifest& manifest) {
  MemoryNeed need = MemoryOf(manifest, 1'000'000);
  for (std::uint64_t* bytes :
       {&need.states, &need.served, &need.past, &need.parts, &need.results, &need.work}) {
    *bytes /= 1'000'000;
  }
  return need;
}

TEST(MemoryNeed, OfRawGradientsIsMostlyOfPastSteps) {
  Manifest manifest;
  manifest.compute_profile = std::string(kExact);
  manifest.training.optimizer = aggregation::Optimizer::kNesterov;
  const MemoryNeed need = Of(manifest);
  EXPECT_EQ(need.states, 3U * 8);
  EXPECT_EQ(need.served, 0U) << "the store has them";
  EXPECT_EQ(need.past, 6U * 4) << "four steps before are looked at";
  EXPECT_EQ(need.parts, 4U * 4);
  EXPECT_EQ(need.results, 7U * 4);
  EXPECT_EQ(need.work, 4U);
  EXPECT_EQ(need.total(), 24U + 24 + 16 + 28 + 4);
}

TEST(MemoryNeed, OfLocalStepsWithCodesIsLess) {
  Manifest manifest;
  manifest.compute_profile = std::string(kExact);
  manifest.training.optimizer = aggregation::Optimizer::kNesterov;
  manifest.training.inner.steps = 16;
  manifest.training.most_batches = 2;
  manifest.codecs = {Codec::kI8, Codec::kI16};
  const MemoryNeed need = Of(manifest);
  EXPECT_EQ(need.past, 2U * 4);
  EXPECT_EQ(need.parts, 4U);
  EXPECT_EQ(need.results, 3U * 2);
  EXPECT_EQ(need.work, 5U * 4);
}

TEST(MemoryNeed, GrowsWithTheSlotsAndWithTheRootsOfStates) {
  Manifest manifest;
  manifest.training.optimizer = aggregation::Optimizer::kAdamW;
  manifest.state_root_every = 1;
  const MemoryNeed need = Of(manifest);
  EXPECT_EQ(need.states, 3U * 12);
  EXPECT_EQ(need.served, 16U * 12) << "one in sixteen is on disk";
}

// Its bound in the longest measured run was not reached: 8 steps of 50.6 million raw parameters.
TEST(DiskNeed, IsOfTheAggregatesAndStatesThatAreKept) {
  Manifest manifest;
  manifest.training.optimizer = aggregation::Optimizer::kNesterov;
  const DiskNeed raw = DiskOf(manifest, 1'000'000);
  EXPECT_EQ(raw.kept, 100'000'000U);
  EXPECT_EQ(raw.checkpoint, 8'000'000U);
  EXPECT_EQ(raw.each_step, 4'000'000U + 800'000) << "a state in ten steps";
  manifest.codecs.results = Codec::kI16;
  EXPECT_LT(DiskOf(manifest, 1'000'000).kept, 67'000'000U);
  manifest.state_root_every = 1;
  EXPECT_GT(DiskOf(manifest, 1'000'000).kept, 17U * 8'000'000) << "all that are served";
}

// A model of a billion parameters is trained, though the aggregates of one step are 4 GB.
TEST(MemoryNeed, OneStepOfAnyModelMayWaitForTheDisk) {
  const Manifest raw;
  EXPECT_GT(MostWaitingForDisk(raw, 1'000'000'000), 4'000'000'000U);
  EXPECT_LT(MostWaitingForDisk(raw, 1'000), 300U << 20) << "what a dead disk may cost";
}

}  // namespace
}  // namespace ostraka::protocol::memory_need_test
