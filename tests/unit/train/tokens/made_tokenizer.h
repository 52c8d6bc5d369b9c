// Small tokenizers for tests: the 256 bytes, then what `merges` make, in the alphabet of bytes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "node/train/tokens/tokenizer.h"
#include "node/train/tokens/unicode.h"

namespace ostraka::train {

// The character that stands for `byte` in a tokenizer.json.
inline std::string CharacterOf(std::uint32_t byte) {
  std::uint32_t before = 0;  // bytes below it that cannot be seen
  const auto seen = [](std::uint32_t each) {
    return (each > 32 && each < 127) || (each > 160 && each != 173);
  };
  for (std::uint32_t each = 0; each < byte; ++each) before += seen(each) ? 0 : 1;
  std::string character;
  AppendUtf8(seen(byte) ? byte : 256 + before, character);
  return character;
}

// Ids: a byte's is the byte, that of merge i is 256 + i.
inline TokenizerParts MadeParts(std::vector<std::pair<std::string, std::string>> merges) {
  TokenizerParts parts;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    parts.vocabulary.emplace_back(CharacterOf(byte), byte);
  }
  for (const auto& [left, right] : merges) {
    parts.vocabulary.emplace_back(left + right,
                                  static_cast<std::uint32_t>(parts.vocabulary.size()));
  }
  parts.merges = std::move(merges);
  return parts;
}

}  // namespace ostraka::train
