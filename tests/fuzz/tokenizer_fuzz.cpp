// Any bytes as a tokenizer.json: it is refused in one line, or encodes every byte that a text may
// have, with ids that it knows.
//
// A real file has 256 tokens at least, which no fuzzer finds: the bytes are a vocabulary of all
// bytes where they say "@", which stands for it.
#include <cstdint>
#include <string>

#include "node/base/check.h"
#include "node/train/tokens/tokenizer_json.h"
#include "tests/unit/train/tokens/made_tokenizer.h"

namespace ostraka::train {
namespace {

// The tokens of all bytes, as members of an object.
std::string AllBytes() {
  std::string members;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::string name = CharacterOf(byte);
    if (name == "\"" || name == "\\") name.insert(0, "\\");
    members += byte > 0 ? ",\"" : "\"";
    members += name;
    members += "\":";
    members += std::to_string(byte);
  }
  return members;
}

void Run(std::string_view input) {
  static const std::string all_bytes = AllBytes();
  std::string text(input);
  if (const std::size_t at = text.find('@'); at != std::string::npos) {
    text.replace(at, 1, all_bytes);
  }
  const auto tokenizer = ParseTokenizer(text);
  if (!tokenizer.ok()) {
    OSTRAKA_CHECK(tokenizer.status().code() == absl::StatusCode::kInvalidArgument);
    OSTRAKA_CHECK(!tokenizer.status().message().empty());
    OSTRAKA_CHECK(base::MessageOf(tokenizer.status()).find('\n') == std::string::npos);
    return;
  }
  OSTRAKA_CHECK(tokenizer->vocabulary() >= 256 && tokenizer->vocabulary() <= kMaxTokens);
  const std::string tried = "it's 12 \xc3\xa9\xe1\x84\x92\xe1\x85\xa1 <x> ab\n";
  const auto ids = tokenizer->Encode(tried);
  OSTRAKA_CHECK(ids.ok() && !ids->empty());
  std::string decoded;
  for (const std::uint32_t id : *ids) decoded += tokenizer->BytesOf(id);
  OSTRAKA_CHECK(tokenizer->Encode(decoded).ok());
}

}  // namespace
}  // namespace ostraka::train

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ostraka::train::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
