#include "node/cli/terminal/byte_count.h"

#include <gtest/gtest.h>

namespace ostraka::cli::byte_count_test {
namespace {

TEST(ByteCountTest, TakesPlainNumbersAndUnits) {
  EXPECT_EQ(ParseByteCount("0").value(), 0u);
  EXPECT_EQ(ParseByteCount("4096").value(), 4096u);
  EXPECT_EQ(ParseByteCount("64K").value(), 64u << 10);
  EXPECT_EQ(ParseByteCount("16M").value(), 16u << 20);
  EXPECT_EQ(ParseByteCount("3G").value(), std::uint64_t{3} << 30);
  EXPECT_EQ(ParseByteCount("4294967296G").value(), std::uint64_t{1} << 62);
}

TEST(ByteCountTest, RefusesOtherTextsInOneLine) {
  for (const char* text : {"", "K", "-1", "+1", " 1", "1 ", "1k", "1KB", "1.5M", "0x10", "1e3",
                           "18446744073709551616", "4294967297G", "4611686018427387905"}) {
    const auto count = ParseByteCount(text);
    EXPECT_EQ(count.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_NE(base::MessageOf(count.status()).find(std::string("'") + text + "'"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace ostraka::cli::byte_count_test
