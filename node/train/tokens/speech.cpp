#include "node/train/tokens/speech.h"

#include <utility>

namespace ostraka::train {

base::StatusOr<Speech> Speech::By(Tokenizer tokenizer, std::uint32_t vocabulary) {
  if (tokenizer.vocabulary() > vocabulary) {
    return base::InvalidArgument("has " + std::to_string(tokenizer.vocabulary()) +
                                 " tokens, and the model only " + std::to_string(vocabulary) +
                                 ": give the tokenizer of its data");
  }
  Speech speech(vocabulary);
  speech.tokenizer_ = std::move(tokenizer);
  return speech;
}

base::StatusOr<std::vector<std::int32_t>> Speech::TokensOf(std::string text) const {
  if (text.empty()) text = "\n";
  if (tokenizer_) {
    ASSIGN_OR_RETURN(const std::vector<std::uint32_t> ids, tokenizer_->Encode(text));
    return std::vector<std::int32_t>(ids.begin(), ids.end());
  }
  std::vector<std::int32_t> tokens;
  for (const char byte : text) {
    tokens.push_back(static_cast<unsigned char>(byte));
    if (static_cast<std::uint32_t>(tokens.back()) < vocabulary_) continue;
    return base::InvalidArgument("has the byte " + std::to_string(tokens.back()) +
                                 ", and the model's tokens are 0 to " +
                                 std::to_string(vocabulary_ - 1));
  }
  return tokens;
}

bool Speech::Knows(std::size_t token) const {
  return tokenizer_ ? tokenizer_->Has(static_cast<std::uint32_t>(token)) : token < kByteTokens;
}

std::string Speech::BytesOf(std::int32_t token) const {
  if (tokenizer_) return std::string(tokenizer_->BytesOf(static_cast<std::uint32_t>(token)));
  return std::string(1, static_cast<char>(static_cast<unsigned char>(token)));
}

std::string TokenizerBeside(const std::string& packed) { return packed + ".tokenizer.json"; }

}  // namespace ostraka::train
