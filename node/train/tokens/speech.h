// How a text becomes the tokens of a model, and back: by a tokenizer, or each byte is a token.
//
// Thread safety: immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node/base/status.h"
#include "node/train/tokens/tokenizer.h"

namespace ostraka::train {

inline constexpr std::uint32_t kByteTokens = 256;

class Speech {
 public:
  // Bytes, for a model of so many tokens.
  explicit Speech(std::uint32_t vocabulary) : vocabulary_(vocabulary) {}
  // InvalidArgument: the tokenizer has more tokens than the model.
  static base::StatusOr<Speech> By(Tokenizer tokenizer, std::uint32_t vocabulary);

  // Of an empty text that of a new line, as a text begins where a line ended. InvalidArgument: a
  // byte that is no token of the model, or errors of Tokenizer::Encode.
  base::StatusOr<std::vector<std::int32_t>> TokensOf(std::string text) const;

  // A model may have more tokens than its texts: no text has others.
  bool Knows(std::size_t token) const;
  // REQUIRES: Knows(token).
  std::string BytesOf(std::int32_t token) const;

 private:
  std::uint32_t vocabulary_;
  std::optional<Tokenizer> tokenizer_;  // none: bytes
};

// Where `data pack --tokenizer` keeps the tokenizer of a packed file.
std::string TokenizerBeside(const std::string& packed);

}  // namespace ostraka::train
