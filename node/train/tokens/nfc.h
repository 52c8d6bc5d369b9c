// Normalization Form C of Unicode (UAX 15), as the tokenizers of Qwen ask for it.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace ostraka::train {

// REQUIRES: `text` is UTF-8.
std::string Nfc(std::string_view text);

}  // namespace ostraka::train
