#include "exact/device/kernel_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

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

// What stands between the beginnings of two neighbouring blocks of items, within one kernel.
std::vector<std::string> Between(std::string_view text) {
  constexpr std::string_view kBlock = "EACH_ITEM {";
  std::vector<std::string> pieces;
  std::size_t begin = text.find(kBlock);
  while (begin != std::string_view::npos) {
    const std::size_t next = text.find(kBlock, begin + kBlock.size());
    const std::string piece(text.substr(begin, next - begin));
    if (next != std::string_view::npos && piece.find("\nKERNEL(") == std::string::npos) {
      pieces.push_back(piece);
    }
    begin = next;
  }
  return pieces;
}

// The emulation runs block after block, so it does not miss a barrier; a device would.
TEST(KernelText, HasABarrierBetweenBlocks) {
  const std::string kernels(kKernelText.substr(kKernelText.find("\nKERNEL(")));
  const std::vector<std::string> pieces = Between(kernels);
  EXPECT_GE(pieces.size(), 20U);
  for (const std::string& piece : pieces) EXPECT_THAT(piece, HasSubstr("BARRIER\n"));
}

// Else some items would wait at a barrier for ever.
TEST(KernelText, HasNoReturnAndNoBarrierInABlock) {
  for (std::size_t begin = kKernelText.find("\nKERNEL("); begin != std::string_view::npos;) {
    const std::size_t end = kKernelText.find("\n}\n", begin);
    const std::string kernel(kKernelText.substr(begin, end - begin));
    EXPECT_THAT(kernel, Not(HasSubstr("return")));
    begin = kKernelText.find("\nKERNEL(", end);
  }
  // A block is indented more than the barriers beside it.
  std::size_t block = 0;  // the indentation of the one that is open, and 1
  for (std::size_t begin = 0; begin < kKernelText.size();) {
    const std::size_t end = kKernelText.find('\n', begin);
    const std::string_view line = kKernelText.substr(begin, end - begin);
    const std::size_t indentation = line.find_first_not_of(' ');
    if (line.ends_with("EACH_ITEM {")) block = indentation + 1;
    if (block != 0 && indentation + 1 == block && line.ends_with("}")) block = 0;
    if (line.ends_with(" BARRIER")) EXPECT_EQ(block, 0U) << begin;
    begin = end + 1;
  }
}

}  // namespace
}  // namespace ostraka::exact::kernel_text_test
