#include "node/train/tokens/tokenizer_file.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/train/tokens/tokenizer_json.h"

namespace ostraka::train {

base::StatusOr<std::string> ReadTokenizerText(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return base::NotFound(path + " is no file: give a tokenizer.json");
  }
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (!error && size > kMaxTokenizerBytes) {
    return base::InvalidArgument(path + " has more than " +
                                 std::to_string(kMaxTokenizerBytes >> 20) +
                                 " MiB: give a tokenizer.json");
  }
  std::string text(error ? 0 : static_cast<std::size_t>(size), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (error || !file) return base::Unavailable(path + " cannot be read: check its mode");
  return text;
}

base::StatusOr<TokenizerFile> ReadTokenizerFile(const std::string& path) {
  ASSIGN_OR_RETURN(std::string text, ReadTokenizerText(path));
  auto tokenizer = ParseTokenizer(text);
  if (!tokenizer.ok()) {
    return base::MakeStatus(tokenizer.status().code(),
                            path + " " + base::MessageOf(tokenizer.status()));
  }
  return TokenizerFile{std::move(text), *std::move(tokenizer)};
}

base::Digest HashOfTokenizer(std::string_view json) {
  return crypto::Hash(crypto::kDomainTokenizer, base::AsBytes(json));
}

}  // namespace ostraka::train
