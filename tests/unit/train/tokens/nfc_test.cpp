// What no case here has, tests/python/tokenizers_test.py draws.
#include "node/train/tokens/nfc.h"

#include <gtest/gtest.h>

#include "node/train/tokens/unicode.h"

namespace ostraka::train::nfc_test {
namespace {

std::string Utf8(std::u32string_view text) {
  std::string bytes;
  for (const char32_t code : text) AppendUtf8(code, bytes);
  return bytes;
}

void ExpectNfc(std::u32string_view text, std::u32string_view form) {
  EXPECT_EQ(Nfc(Utf8(text)), Utf8(form));
  EXPECT_EQ(Nfc(Utf8(form)), Utf8(form));
}

TEST(Nfc, ComposesAndLeavesTheRest) {
  ExpectNfc(U"", U"");
  ExpectNfc(U"Only ASCII, and ÀÉ.", U"Only ASCII, and ÀÉ.");
  ExpectNfc(U"e\x301t\x65\x301", U"ét\xe9");
  ExpectNfc(U"\x212b", U"Å");                // replaced by one that is composed
  ExpectNfc(U"A\x30a\x301", U"\x1fa");       // composed twice
  ExpectNfc(U"\x958", U"\x915\x93c");        // parted, and left so
  ExpectNfc(U"\xfb2c", U"\x5e9\x5bc\x5c1");  // parted twice
  ExpectNfc(U"日本語\x3099", U"日本語\x3099");
  ExpectNfc(U"\x304b\x3099", U"\x304c");
}

TEST(Nfc, MarksAreOrderedAndOnesBetweenKeepApart) {
  ExpectNfc(U"q\x301\x323", U"q\x323\x301");
  ExpectNfc(U"e\x323\x301", U"\x1eb9\x301");
  ExpectNfc(U"a\x345\x334\x301", U"á\x334\x345");
  ExpectNfc(U"a\x310\x300", U"a\x310\x300");  // an equal class
  ExpectNfc(U"a\x302\x302", U"â\x302");
  ExpectNfc(U"\x301\x65\x301", U"\x301é");  // marks without a letter
  ExpectNfc(U"a\x5ae\x300\x315", U"à\x5ae\x315");
  ExpectNfc(U"\x1100\x301\x1161", U"\x1100\x301\x1161");
}

TEST(Nfc, ComposesSyllablesOfHangul) {
  ExpectNfc(U"\x1112\x1161\x11ab\x1100\x1173\x11af", U"한글");
  ExpectNfc(U"\xac00\x11a8", U"\xac01");
  ExpectNfc(U"\xac00\x11a7", U"\xac00\x11a7");  // stands for no trailing sound
  ExpectNfc(U"\xac01\x11a8", U"\xac01\x11a8");  // has one already
}

TEST(Nfc, KnowsWhatTheLibraryKnows) {
  // Two of Unicode 10 and 16, which the library's data lack.
  ExpectNfc(U"q\x1df6\x323", U"q\x1df6\x323");
  ExpectNfc(U"\x11382\x113c9", U"\x11382\x113c9");
}

TEST(Nfc, ManyMarksTakeLittleTime) {
  std::u32string text = U"a";
  for (int i = 0; i < 200'000; ++i) text += i % 2 == 0 ? U'\x301' : U'\x323';
  std::u32string form = U"\x1ea1" + std::u32string(99'999, U'\x323');
  form += std::u32string(100'000, U'\x301');
  EXPECT_EQ(Nfc(Utf8(text)), Utf8(form));
}

}  // namespace
}  // namespace ostraka::train::nfc_test
