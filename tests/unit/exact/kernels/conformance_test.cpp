#include "exact/kernels/conformance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cfenv>

#include "tests/unit/exact/testing.h"

namespace ostraka::exact::conformance_test {
namespace {

using ::testing::HasSubstr;

TEST(Conformance, EveryLevelHasTheRecordedDigest) {
  for (const Level level : testing::SupportedLevels()) {
    EXPECT_EQ(ConformanceDigest(KernelsFor(level)).Hex(), kConformanceDigest) << LevelName(level);
    EXPECT_TRUE(CheckConformance(KernelsFor(level)).ok());
  }
}

// Sums in ascending order, without lanes.
float SumInOrder(const float* x, std::size_t count) {
  float sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += x[i];
  return sum;
}

void KeepNan(const MapArguments& arguments) {
  for (std::size_t i = 0; i < arguments.count; ++i)
    arguments.out[i] = arguments.a[i] + arguments.b[i];
}

TEST(Conformance, AKernelOfAnotherOrderIsRefused) {
  Kernels kernels = BestKernels();
  kernels.sum = SumInOrder;
  EXPECT_THAT(base::MessageOf(CheckConformance(kernels)), HasSubstr("its gradients would differ"));
}

TEST(Conformance, AKernelThatKeepsNanBitsIsRefused) {
  Kernels kernels = BestKernels();
  kernels.maps[static_cast<std::size_t>(Map::kAdd)] = KeepNan;
  EXPECT_FALSE(CheckConformance(kernels).ok());
}

TEST(Conformance, AThreadThatRoundsUpwardIsRefused) {
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  const base::Status status = CheckConformance(BestKernels());
  std::fesetround(FE_TONEAREST);
  EXPECT_FALSE(status.ok());
}

}  // namespace
}  // namespace ostraka::exact::conformance_test
