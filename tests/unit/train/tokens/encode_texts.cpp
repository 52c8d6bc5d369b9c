// Encodes texts for tests/python/tokenizers_test.py, which compares the ids with those of the
// library `tokenizers`.
//
//   encode_texts TOKENIZER.json < (u32 size | bytes)* > (u32 count | u32 ids)*
//
// Numbers are little-endian. A text that is refused has the count 2^32 - 1. Exit code 2, and a line
// that says why: the tokenizer is refused, or an encoding does not decode to its text (unless the
// tokenizer normalizes: then to what is encoded as the text is).
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "node/train/tokens/tokenizer_file.h"

namespace {

namespace train = ostraka::train;

bool Read(void* into, std::size_t size) { return std::fread(into, 1, size, stdin) == size; }

void Write(const std::vector<std::uint32_t>& numbers) {
  std::fwrite(numbers.data(), sizeof(std::uint32_t), numbers.size(), stdout);
}

std::string Decoded(const train::Tokenizer& tokenizer, const std::vector<std::uint32_t>& ids) {
  std::string text;
  for (const std::uint32_t id : ids) text += tokenizer.BytesOf(id);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto file = train::ReadTokenizerFile(argv[1]);
  if (!file.ok()) {
    std::fprintf(stderr, "%s\n", ostraka::base::MessageOf(file.status()).c_str());
    return 2;
  }
  const train::Tokenizer& tokenizer = file->tokenizer;
  std::uint32_t size = 0;
  while (Read(&size, sizeof(size))) {
    std::string text(size, '\0');
    if (!Read(text.data(), size)) return 2;
    auto ids = tokenizer.Encode(text);
    if (!ids.ok()) {
      Write({0xffffffff});
      continue;
    }
    const std::string decoded = Decoded(tokenizer, *ids);
    if (decoded != text && tokenizer.Encode(decoded).value() != *ids) {
      std::fprintf(stderr, "a text is decoded to another one\n");
      return 2;
    }
    Write({static_cast<std::uint32_t>(ids->size())});
    Write(*ids);
  }
  return 0;
}
