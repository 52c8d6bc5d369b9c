#include "node/train/tokens/unicode.h"

#include <gtest/gtest.h>

namespace ostraka::train::unicode_test {
namespace {

TEST(Unicode, ClassesAreThoseOfTheRegularExpressions) {
  for (const char32_t letter :
       {U'a', U'Z', U'é', U'ª', U'ſ', U'日', U'ǅ', U'\U00020000', U'\x10d4a'}) {
    EXPECT_EQ(ClassOf(letter), CharClass::kLetter) << static_cast<unsigned>(letter);
  }
  for (const char32_t number : {U'0', U'9', U'½', U'²', U'٠', U'Ⅷ', U'\x1d7ce'}) {
    EXPECT_EQ(ClassOf(number), CharClass::kNumber) << static_cast<unsigned>(number);
  }
  for (const char32_t space :
       {U' ', U'\t', U'\v', U'\x85', U'\xa0', U'\x1680', U'\x2028', U'\x3000'}) {
    EXPECT_EQ(ClassOf(space), CharClass::kSpace) << static_cast<unsigned>(space);
  }
  // A mark, signs, a blank that is none, one that is not assigned, the last one.
  for (const char32_t other :
       {U'\x301', U'_', U'\'', U'\x1f', U'\x200b', U'\xfeff', U'\x378', U'\x10ffff'}) {
    EXPECT_EQ(ClassOf(other), CharClass::kOther) << static_cast<unsigned>(other);
  }
}

TEST(Unicode, EveryCharacterIsReadAsItWasWritten) {
  for (char32_t code = 0; code < 0x110000; code += code < 0x3000 ? 1 : 61) {
    if (code >= 0xd800 && code < 0xe000) continue;
    std::string text;
    AppendUtf8(code, text);
    ASSERT_EQ(FindNoUtf8(text), std::string_view::npos);
    const Utf8Char read = FirstChar(text + "x");
    ASSERT_EQ(read.code, code);
    ASSERT_EQ(read.bytes, text.size());
  }
}

TEST(Unicode, WhatIsNoUtf8IsFoundWhereItStands) {
  const auto place = [](std::string_view text) { return FindNoUtf8(text); };
  EXPECT_EQ(place("ab\x80"), 2U);  // goes on with nothing
  EXPECT_EQ(place("a\xc3"), 1U);   // cut short
  EXPECT_EQ(place("\xc3("), 0U);
  EXPECT_EQ(place("\xc1\xbf"), 0U);  // longer than needed
  EXPECT_EQ(place("\xe0\x9f\xbf"), 0U);
  EXPECT_EQ(place("\xf0\x8f\xbf\xbf"), 0U);
  EXPECT_EQ(place("\xed\xa0\x80"), 0U);      // a surrogate
  EXPECT_EQ(place("\xf4\x90\x80\x80"), 0U);  // above U+10FFFF
  EXPECT_EQ(place("\xf5\x80\x80\x80"), 0U);
  EXPECT_EQ(place("\xff"), 0U);
  EXPECT_EQ(place(""), std::string_view::npos);
}

}  // namespace
}  // namespace ostraka::train::unicode_test
