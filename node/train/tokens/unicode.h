// Characters of UTF-8 texts, and their classes as the regular expressions of tokenizers know them.
//
// The tables are of one version of Unicode (write_unicode.py), so that ids do not depend on the
// machine; a character that is assigned later stays without a class.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ostraka::train {

enum class CharClass : std::uint8_t { kOther, kLetter, kNumber, kSpace };  // \p{L}, \p{N}, \s

CharClass ClassOf(char32_t code);

// Where the first byte stands that no UTF-8 has there; npos: `text` is UTF-8. Surrogates, longer
// forms than needed and codes above U+10FFFF are none.
std::size_t FindNoUtf8(std::string_view text);

struct Utf8Char {
  char32_t code = 0;
  std::size_t bytes = 0;
};
// REQUIRES: `text` is UTF-8 and not empty.
Utf8Char FirstChar(std::string_view text);

void AppendUtf8(char32_t code, std::string& text);

}  // namespace ostraka::train
