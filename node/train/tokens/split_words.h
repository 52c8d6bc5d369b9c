// Cuts a text into the words within which tokens are merged, as the regular expressions of known
// tokenizers cut it. Each of these few expressions is written by hand here, in linear time: an
// engine for any expression would be a second Oniguruma, with its backtracking.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ostraka::train {

enum class WordRule : std::uint8_t {
  kGpt2,
  kLlama3,  // cl100k, too
  kQwen2,   // as kLlama3, but that each digit is a word
};

// The rule that the text of a regular expression stands for; nullopt: none that is known here.
std::optional<WordRule> WordRuleOf(std::string_view expression);

// Bytes of the word with which `text` begins; at least 1. The end of `text` counts as the end of
// the whole. REQUIRES: `text` is UTF-8 and not empty.
std::size_t FirstWord(std::string_view text, WordRule rule);

}  // namespace ostraka::train
