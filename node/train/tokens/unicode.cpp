#include "node/train/tokens/unicode.h"

#include <algorithm>
#include <array>
#include <span>

namespace ostraka::train {
namespace {

struct CodeRange {
  char32_t first;
  char32_t last;
};

#include "node/train/tokens/unicode_classes.inc"

constexpr char32_t kAscii = 0x80;

bool IsIn(std::span<const CodeRange> ranges, char32_t code) {
  const auto next = std::upper_bound(
      ranges.begin(), ranges.end(), code,
      [](char32_t searched, const CodeRange& range) { return searched < range.first; });
  return next != ranges.begin() && code <= std::prev(next)->last;
}

CharClass Search(char32_t code) {
  if (IsIn(kLetters, code)) return CharClass::kLetter;
  if (IsIn(kNumbers, code)) return CharClass::kNumber;
  return IsIn(kSpaces, code) ? CharClass::kSpace : CharClass::kOther;
}

std::array<CharClass, kAscii> SearchAscii() {
  std::array<CharClass, kAscii> classes;
  for (char32_t code = 0; code < kAscii; ++code) classes[code] = Search(code);
  return classes;
}

// Bytes of a character by its first byte; 0: none begins so.
std::size_t LengthBy(std::uint8_t first) {
  if (first < kAscii) return 1;
  if (first < 0xc2) return 0;  // goes on, or would be longer than needed
  if (first < 0xe0) return 2;
  if (first < 0xf0) return 3;
  return first < 0xf5 ? 4 : 0;
}

}  // namespace

CharClass ClassOf(char32_t code) {
  static const std::array<CharClass, kAscii> ascii = SearchAscii();
  return code < kAscii ? ascii[code] : Search(code);
}

std::size_t FindNoUtf8(std::string_view text) {
  constexpr std::array<char32_t, 5> kLowest = {0, 0, 0x80, 0x800, 0x10000};
  const auto goes_on = [](char byte) { return (static_cast<std::uint8_t>(byte) & 0xc0) == 0x80; };
  std::size_t at = 0;
  while (at < text.size()) {
    const std::string_view rest = text.substr(at);
    const std::size_t length = LengthBy(static_cast<std::uint8_t>(rest.front()));
    if (length == 0 || length > rest.size()) return at;
    if (!std::all_of(rest.begin() + 1, rest.begin() + static_cast<std::ptrdiff_t>(length),
                     goes_on)) {
      return at;
    }
    const char32_t code = FirstChar(rest).code;
    if (code < kLowest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return at;
    at += length;
  }
  return std::string_view::npos;
}

Utf8Char FirstChar(std::string_view text) {
  const auto first = static_cast<std::uint8_t>(text.front());
  const std::size_t length = LengthBy(first);
  if (length == 1) return {first, 1};
  char32_t code = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    code = code << 6 | (static_cast<std::uint8_t>(text[i]) & 0x3fU);
  }
  return {code, length};
}

void AppendUtf8(char32_t code, std::string& text) {
  const auto add = [&text](char32_t byte) { text += static_cast<char>(byte); };
  const auto add_rest = [&add, code](int shift) { add(0x80 | (code >> shift & 0x3f)); };
  if (code < kAscii) return add(code);
  if (code < 0x800) {
    add(0xc0 | code >> 6);
  } else if (code < 0x10000) {
    add(0xe0 | code >> 12);
    add_rest(6);
  } else {
    add(0xf0 | code >> 18);
    add_rest(12);
    add_rest(6);
  }
  add_rest(0);
}

}  // namespace ostraka::train
