// A byte-level BPE tokenizer: a text becomes ids, as the library `tokenizers` makes them of
// encode(text, add_special_tokens=False).
//
//   text ─ literal tokens as they stand ─ NFC ─ literal tokens in that ─ words ─ merged bytes
//
// What an attacker can do here: the parts are of a stranger's file. Every id that Encode gives is
// below vocabulary(), and what it gives is decoded to the text itself (of NFC: to its form).
//
// Thread safety: immutable after Make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "node/base/status.h"
#include "node/train/tokens/byte_pairs.h"
#include "node/train/tokens/split_words.h"
#include "node/train/tokens/token_finder.h"

namespace ostraka::train {

inline constexpr std::size_t kMaxTokens = std::size_t{1} << 20;  // ids are below it, too
inline constexpr std::size_t kMaxMerges = std::size_t{1} << 20;
inline constexpr std::size_t kMaxAddedTokens = std::size_t{1} << 16;
inline constexpr std::size_t kMaxAddedBytes = 1024;  // of one of them
// Merging takes some 30 bytes of memory for each byte of a word.
inline constexpr std::size_t kMaxWordBytes = std::size_t{1} << 24;

// What stands in a tokenizer.json. Tokens of `vocabulary` and `merges` are written in the alphabet
// of bytes: one character for each byte.
struct TokenizerParts {
  struct Added {
    std::string text;  // as it is
    std::uint32_t id = 0;
    bool normalized = false;  // found in the normalized text
  };
  std::vector<std::pair<std::string, std::uint32_t>> vocabulary;
  std::vector<std::pair<std::string, std::string>> merges;
  std::vector<Added> added;
  WordRule rule = WordRule::kGpt2;
  bool nfc = false;
  bool ignore_merges = false;  // a word that is a token becomes it, though no merges lead there
};

class Tokenizer {
 public:
  // InvalidArgument: more than the limits, a token or an id twice, a byte without a token, a merge
  // of or to what is no token, or an id of an added token that the library would not give it.
  static base::StatusOr<Tokenizer> Make(TokenizerParts parts);

  // One more than the highest id.
  std::uint32_t vocabulary() const { return static_cast<std::uint32_t>(tokens_.size()); }
  bool Has(std::uint32_t id) const { return id < tokens_.size() && tokens_[id].known; }

  // InvalidArgument: no UTF-8, or a word of more than kMaxWordBytes.
  base::StatusOr<std::vector<std::uint32_t>> Encode(std::string_view text) const;

  // What `id` stands for; a character may be parted among tokens. REQUIRES: Has(id).
  std::string_view BytesOf(std::uint32_t id) const;

 private:
  struct Token {
    std::string bytes;
    bool known = false;
  };
  Tokenizer(TokenFinder literal, TokenFinder normalized, BytePairs pairs)
      : literal_(std::move(literal)),
        normalized_(std::move(normalized)),
        pairs_(std::move(pairs)) {}

  base::Status EncodeNormalized(std::string_view text, std::vector<std::uint32_t>& ids) const;
  base::Status EncodeWords(std::string_view text, std::vector<std::uint32_t>& ids) const;

  std::vector<Token> tokens_;            // by id
  std::vector<std::uint32_t> by_bytes_;  // ids that words may become, by their bytes
  TokenFinder literal_;
  TokenFinder normalized_;
  BytePairs pairs_;
  WordRule rule_ = WordRule::kGpt2;
  bool nfc_ = false;
  bool ignore_merges_ = false;
};

}  // namespace ostraka::train
