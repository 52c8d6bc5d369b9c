#include "exact/device/kernel_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "exact/device/kernel_list.h"

namespace ostraka::exact::kernel_text_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(KernelText, IsWhole) { EXPECT_THAT(std::string(kKernelText), Not(HasSubstr("\n#include"))); }

// What drivers are asked for by name, with items as the text has them.
TEST(KernelText, HasEveryKernel) {
  const std::string text(kKernelText);
#define OSTRAKA_EXPECT_KERNEL(constant, name, items)                 \
  if (std::string(#name).starts_with("run_product_")) {              \
    EXPECT_THAT(text, HasSubstr("#define TILE_KERNEL " #name "\n")); \
  } else {                                                           \
    EXPECT_THAT(text, HasSubstr("\nKERNEL(" #name ", " #items ")")); \
  }
  OSTRAKA_DEVICE_KERNELS(OSTRAKA_EXPECT_KERNEL)
#undef OSTRAKA_EXPECT_KERNEL
}

// Letters beyond ASCII, tabs and long lines are what drivers' compilers stumble over.
TEST(KernelText, IsPlain) {
  std::size_t length = 0;
  for (const char letter : kKernelText) {
    EXPECT_TRUE(letter == '\n' || (letter >= ' ' && letter <= '~'));
    length = letter == '\n' ? 0 : length + 1;
    EXPECT_LE(length, 100U);
  }
}

}  // namespace
}  // namespace ostraka::exact::kernel_text_test
