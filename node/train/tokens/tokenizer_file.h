// Tokenizers in files, and their names.
//
// Thread safety: pure functions, except those that read files.
#pragma once

#include <string>
#include <string_view>

#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/train/tokens/tokenizer.h"

namespace ostraka::train {

// The bytes of any file. InvalidArgument: more than kMaxTokenizerBytes. NotFound, Unavailable: it
// cannot be read.
base::StatusOr<std::string> ReadTokenizerText(const std::string& path);

struct TokenizerFile {
  std::string text;
  Tokenizer tokenizer;
};
// Errors of ReadTokenizerText, and of ParseTokenizer with the path.
base::StatusOr<TokenizerFile> ReadTokenizerFile(const std::string& path);

// Names a tokenizer by its file's bytes.
base::Digest HashOfTokenizer(std::string_view json);

}  // namespace ostraka::train
