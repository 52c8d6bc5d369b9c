// Reads tokenizer.json, the form in which the library `tokenizers` keeps a tokenizer: byte-level
// BPE with the words of GPT-2, Llama 3 or Qwen 2. Whatever would make other ids than the library
// does is refused.
//
// What an attacker can do here: a file is a stranger's. Its size, its depth and what it holds are
// limited as it is read, and nothing is made of it before.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <string_view>

#include "node/base/status.h"
#include "node/train/tokens/tokenizer.h"

namespace ostraka::train {

inline constexpr std::size_t kMaxTokenizerBytes = std::size_t{64} << 20;

// InvalidArgument: no such file, or a tokenizer of another kind. The message follows a file's name.
base::StatusOr<Tokenizer> ParseTokenizer(std::string_view json);

}  // namespace ostraka::train
