// Any bytes as a text, by tokenizers of each rule: it is refused as no UTF-8, or encoded to ids
// that decode to it. Of NFC what is decoded has the same ids, and is its own form.
#include <cstdint>
#include <string>
#include <vector>

#include "node/base/check.h"
#include "node/train/tokens/nfc.h"
#include "node/train/tokens/tokenizer.h"
#include "node/train/tokens/unicode.h"
#include "tests/unit/train/tokens/made_tokenizer.h"

namespace ostraka::train {
namespace {

Tokenizer Made(WordRule rule, bool nfc, bool ignore_merges) {
  const std::string blank = CharacterOf(' ');
  const std::string line = CharacterOf('\n');
  const std::string accent = CharacterOf(0xcc);
  TokenizerParts parts = MadeParts({{"a", "a"},
                                    {"aa", "aa"},
                                    {"a", "b"},
                                    {blank, blank},
                                    {blank, "ab"},
                                    {line, line},
                                    {accent, CharacterOf(0x81)},
                                    {"'", "s"},
                                    {"b", "aaaa"},
                                    {"1", "1"}});
  if (ignore_merges)
    parts.vocabulary.emplace_back("abc", static_cast<std::uint32_t>(parts.vocabulary.size()));
  auto next = static_cast<std::uint32_t>(parts.vocabulary.size());
  for (const char* text : {"<|", "<|end|>", "<|end|>\n"})
    parts.added.push_back({text, next++, false});
  parts.added.push_back({"e\xcc\x81", next, true});
  parts.rule = rule;
  parts.nfc = nfc;
  parts.ignore_merges = ignore_merges;
  return Tokenizer::Make(std::move(parts)).value();
}

void Run(std::string_view text) {
  static const std::vector<Tokenizer> plain = {Made(WordRule::kGpt2, false, false),
                                               Made(WordRule::kLlama3, false, true)};
  static const Tokenizer normalizing = Made(WordRule::kQwen2, true, false);
  const auto decoded = [](const Tokenizer& tokenizer, const std::vector<std::uint32_t>& ids) {
    std::string bytes;
    for (const std::uint32_t id : ids) bytes += tokenizer.BytesOf(id);
    return bytes;
  };
  const bool utf8 = FindNoUtf8(text) == std::string_view::npos;
  for (const Tokenizer& tokenizer : plain) {
    const auto ids = tokenizer.Encode(text);
    OSTRAKA_CHECK(ids.ok() == utf8);
    if (utf8) OSTRAKA_CHECK(decoded(tokenizer, *ids) == text);
  }
  const auto ids = normalizing.Encode(text);
  OSTRAKA_CHECK(ids.ok() == utf8);
  if (!utf8) return;
  const std::string form = Nfc(text);
  OSTRAKA_CHECK(FindNoUtf8(form) == std::string_view::npos && Nfc(form) == form);
  OSTRAKA_CHECK(normalizing.Encode(decoded(normalizing, *ids)).value() == *ids);
}

}  // namespace
}  // namespace ostraka::train

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ostraka::train::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
