#include "node/base/bytes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cctype>
#include <string>

namespace ostraka::base::bytes_test {
namespace {

TEST(Hex, WritesTwoLowerCaseDigitsForEachByte) {
  EXPECT_EQ(ToHex(Bytes{0x00, 0x01, 0x7f, 0x80, 0xab, 0xff}), "00017f80abff");
  EXPECT_EQ(ToHex(Bytes{}), "");
}

TEST(Hex, ReadsEitherCase) {
  const Bytes expected = {0xde, 0xad, 0xbe, 0xef};
  EXPECT_EQ(FromHex("deadbeef"), expected);
  EXPECT_EQ(FromHex("DEADBEEF"), expected);
  EXPECT_EQ(FromHex("DeAdbEeF"), expected);
  EXPECT_EQ(FromHex(""), Bytes{});
}

TEST(Hex, RefusesAnOddNumberOfDigits) {
  EXPECT_EQ(FromHex("a"), std::nullopt);
  // The digit after the end of the view must not be read as its last.
  EXPECT_EQ(FromHex(std::string_view("abcd").substr(0, 3)), std::nullopt);
}

TEST(Hex, RefusesNonDigitsInBothPlaces) {
  for (int code = 0; code < 256; ++code) {
    const char character = static_cast<char>(code);
    const bool digit = code < 128 && std::isxdigit(code) != 0;
    EXPECT_EQ(FromHex(std::string{character, '0'}).has_value(), digit) << "code " << code;
    EXPECT_EQ(FromHex(std::string{'0', character}).has_value(), digit) << "code " << code;
  }
}

RC_GTEST_PROP(Hex, ReadsBackWhatItWrote, (const Bytes& bytes)) {
  const std::string hex = ToHex(bytes);
  RC_ASSERT(hex.size() == 2 * bytes.size());
  RC_ASSERT(FromHex(hex) == bytes);
}

TEST(AsBytes, ShowsTextAsItsCharacters) {
  EXPECT_EQ(ToHex(AsBytes(std::string_view("a\0b", 3))), "610062");
  EXPECT_TRUE(AsBytes(std::string_view()).empty());
}

TEST(AsBytes, ShowsNumbersAsLittleEndianMemory) {
  const std::vector<std::uint32_t> numbers = {0x01020304, 0xaabbccdd};
  const ByteView view = AsBytes(std::span<const std::uint32_t>(numbers));
  EXPECT_EQ(ToHex(view), "04030201ddccbbaa");
  EXPECT_EQ(view.data(), reinterpret_cast<const std::uint8_t*>(numbers.data())) << "copied";

  const std::vector<float> floats = {1.0F, -0.0F};
  EXPECT_EQ(ToHex(AsBytes(std::span<const float>(floats))), "0000803f00000080");
}

}  // namespace
}  // namespace ostraka::base::bytes_test
