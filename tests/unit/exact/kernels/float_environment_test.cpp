#include "exact/kernels/float_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cfenv>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace ostraka::exact::float_environment_test {
namespace {

using ::testing::HasSubstr;

TEST(FloatEnvironment, IsExactByDefault) { EXPECT_TRUE(CheckFloatEnvironment().ok()); }

TEST(FloatEnvironment, RefusesEveryOtherRounding) {
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    const base::Status status = CheckFloatEnvironment();
    std::fesetround(FE_TONEAREST);
    EXPECT_THAT(base::MessageOf(status), HasSubstr("round to nearest")) << mode;
  }
  EXPECT_TRUE(CheckFloatEnvironment().ok());
}

#if defined(__x86_64__)
TEST(FloatEnvironment, RefusesFlushedSubnormals) {
  const unsigned before = _mm_getcsr();
  constexpr unsigned kFlushResults = 0x8000;
  constexpr unsigned kFlushInputs = 0x0040;
  for (const unsigned flag : {kFlushResults, kFlushInputs}) {
    _mm_setcsr(before | flag);
    const base::Status status = CheckFloatEnvironment();
    _mm_setcsr(before);
    EXPECT_THAT(base::MessageOf(status), HasSubstr("subnormal")) << flag;
  }
  EXPECT_TRUE(CheckFloatEnvironment().ok());
}
#endif

}  // namespace
}  // namespace ostraka::exact::float_environment_test
