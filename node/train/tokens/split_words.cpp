#include "node/train/tokens/split_words.h"

#include <algorithm>
#include <array>
#include <limits>

#include "node/base/check.h"
#include "node/train/tokens/unicode.h"

namespace ostraka::train {
namespace {

struct KnownExpression {
  std::string_view text;
  WordRule rule;
};
constexpr std::array<KnownExpression, 3> kKnown = {{
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
     WordRule::kGpt2},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
     R"(|\s*[\r\n]+|\s+(?!\S)|\s+)",
     WordRule::kLlama3},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
     R"(|\s*[\r\n]+|\s+(?!\S)|\s+)",
     WordRule::kQwen2},
}};

bool IsNewLine(char byte) { return byte == '\r' || byte == '\n'; }

CharClass ClassAt(std::string_view text, std::size_t at) {
  return ClassOf(FirstChar(text.substr(at)).code);
}

// Bytes of the characters of `wanted` from `at` on, of `most` characters at most.
std::size_t RunOf(CharClass wanted, std::string_view text, std::size_t at,
                  std::size_t most = std::numeric_limits<std::size_t>::max()) {
  std::size_t end = at;
  for (std::size_t i = 0; i < most && end < text.size(); ++i) {
    const Utf8Char next = FirstChar(text.substr(end));
    if (ClassOf(next.code) != wanted) break;
    end += next.bytes;
  }
  return end - at;
}

// 's, 't, 're, 've, 'm, 'll, 'd, in any case if `fold`; 0: `text` begins with none.
std::size_t Contraction(std::string_view text, bool fold) {
  if (text.front() != '\'') return 0;
  std::array<char, 2> letters{};  // as small letters of ASCII; 0: another character
  std::size_t at = 1;
  std::array<std::size_t, 2> ends{};
  for (std::size_t i = 0; i < letters.size() && at < text.size(); ++i) {
    const Utf8Char next = FirstChar(text.substr(at));
    at += next.bytes;
    ends[i] = at;
    if (next.code < 0x80) letters[i] = static_cast<char>(next.code);
    if (!fold) continue;
    if (next.code >= 'A' && next.code <= 'Z') letters[i] = static_cast<char>(next.code + 0x20);
    if (next.code == 0x17f) letters[i] = 's';  // the long s, which folds to it
  }
  const auto [first, second] = letters;
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return ends[0];
  const bool two = (first == 'r' && second == 'e') || (first == 'v' && second == 'e') ||
                   (first == 'l' && second == 'l');
  return two ? ends[1] : 0;
}

// White space that ends the text is one word. Else its last character is another one: with a
// blank, a word may begin. REQUIRES: `text` begins with white space.
std::size_t Blanks(std::string_view text) {
  const std::size_t run = RunOf(CharClass::kSpace, text, 0);
  if (run == text.size()) return run;
  std::size_t last = run - 1;
  while ((static_cast<std::uint8_t>(text[last]) & 0xc0) == 0x80) --last;
  return last == 0 ? run : last;
}

std::size_t FirstGpt2(std::string_view text) {
  if (const std::size_t contraction = Contraction(text, /*fold=*/false)) return contraction;
  const std::size_t blank = text.front() == ' ' ? 1 : 0;
  if (blank < text.size()) {
    const CharClass found = ClassAt(text, blank);
    if (found != CharClass::kSpace) return blank + RunOf(found, text, blank);
  }
  return Blanks(text);
}

std::size_t FirstLlama3(std::string_view text, std::size_t digits) {
  if (const std::size_t contraction = Contraction(text, /*fold=*/true)) return contraction;
  const Utf8Char first = FirstChar(text);
  const CharClass kind = ClassOf(first.code);
  if (kind == CharClass::kNumber) return RunOf(kind, text, 0, digits);
  if (kind == CharClass::kLetter) return RunOf(kind, text, 0);
  if (!IsNewLine(text.front())) {
    const std::size_t letters = RunOf(CharClass::kLetter, text, first.bytes);
    if (letters > 0) return first.bytes + letters;
  }
  const std::size_t blank = text.front() == ' ' ? 1 : 0;
  if (const std::size_t signs = RunOf(CharClass::kOther, text, blank)) {
    std::size_t end = blank + signs;
    while (end < text.size() && IsNewLine(text[end])) ++end;
    return end;
  }
  // White space up to its last line end, if it has one.
  std::size_t end = RunOf(CharClass::kSpace, text, 0);
  while (end > 0 && !IsNewLine(text[end - 1])) --end;
  return end > 0 ? end : Blanks(text);
}

}  // namespace

std::optional<WordRule> WordRuleOf(std::string_view expression) {
  const auto* const known =
      std::find_if(kKnown.begin(), kKnown.end(),
                   [expression](const KnownExpression& each) { return each.text == expression; });
  if (known == kKnown.end()) return {};
  return known->rule;
}

std::size_t FirstWord(std::string_view text, WordRule rule) {
  OSTRAKA_CHECK(!text.empty());
  switch (rule) {
    case WordRule::kGpt2:
      return FirstGpt2(text);
    case WordRule::kLlama3:
      return FirstLlama3(text, 3);
    case WordRule::kQwen2:
      return FirstLlama3(text, 1);
  }
  OSTRAKA_CHECK(false);
}

}  // namespace ostraka::train
