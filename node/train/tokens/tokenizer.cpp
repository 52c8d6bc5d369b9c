#include "node/train/tokens/tokenizer.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>

#include "node/base/check.h"
#include "node/train/tokens/nfc.h"
#include "node/train/tokens/unicode.h"

namespace ostraka::train {
namespace {

using base::InvalidArgument;

// The character that stands for each byte in a tokenizer.json: itself if it can be seen in Latin-1,
// else the next from U+0100 on.
std::array<char32_t, 256> MakeAlphabet() {
  std::array<char32_t, 256> alphabet{};
  char32_t next = 0x100;
  for (char32_t byte = 0; byte < alphabet.size(); ++byte) {
    const bool seen = (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte != 0xad);
    alphabet[byte] = seen ? byte : next++;
  }
  return alphabet;
}

// nullopt: a character that stands for no byte.
std::optional<std::string> BytesByAlphabet(std::string_view token) {
  static const auto bytes = [] {
    std::array<std::optional<char>, 0x144> found;  // 68 bytes cannot be seen
    const std::array<char32_t, 256> alphabet = MakeAlphabet();
    for (std::size_t i = 0; i < alphabet.size(); ++i) found[alphabet[i]] = static_cast<char>(i);
    return found;
  }();
  std::string result;
  while (!token.empty()) {
    const Utf8Char next = FirstChar(token);
    if (next.code >= bytes.size() || !bytes[next.code]) return {};
    result += *bytes[next.code];
    token.remove_prefix(next.bytes);
  }
  return result;
}

// The ids of tokens by what stands in the file.
class Names {
 public:
  using Vocabulary = std::span<const std::pair<std::string, std::uint32_t>>;

  explicit Names(Vocabulary vocabulary) : vocabulary_(vocabulary) {
    for (std::uint32_t i = 0; i < vocabulary.size(); ++i) order_.push_back(i);
    std::sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) {
      return vocabulary_[a].first < vocabulary_[b].first;
    });
  }

  bool HasTwice() const {
    return std::adjacent_find(order_.begin(), order_.end(),
                              [this](std::uint32_t a, std::uint32_t b) {
                                return vocabulary_[a].first == vocabulary_[b].first;
                              }) != order_.end();
  }

  std::optional<std::uint32_t> Find(std::string_view name) const {
    const auto found = std::lower_bound(order_.begin(), order_.end(), name,
                                        [this](std::uint32_t index, std::string_view searched) {
                                          return vocabulary_[index].first < searched;
                                        });
    if (found == order_.end() || vocabulary_[*found].first != name) return {};
    return vocabulary_[*found].second;
  }

 private:
  Vocabulary vocabulary_;
  std::vector<std::uint32_t> order_;
};

base::Status CheckSizes(const TokenizerParts& parts) {
  const auto check = [](std::size_t count, std::size_t most, const char* what) {
    if (count <= most) return base::OkStatus();
    return InvalidArgument("has more than " + std::to_string(most) + " " + what);
  };
  RETURN_IF_ERROR(check(parts.vocabulary.size(), kMaxTokens, "tokens"));
  RETURN_IF_ERROR(check(parts.merges.size(), kMaxMerges, "merges"));
  RETURN_IF_ERROR(check(parts.added.size(), kMaxAddedTokens, "added tokens"));
  std::uint32_t highest = 0;
  for (const auto& [name, id] : parts.vocabulary) highest = std::max(highest, id);
  for (const TokenizerParts::Added& each : parts.added) highest = std::max(highest, each.id);
  if (highest < kMaxTokens) return base::OkStatus();
  return InvalidArgument("has a token of the id " + std::to_string(highest) + "; ids are below " +
                         std::to_string(kMaxTokens));
}

base::StatusOr<std::array<std::uint32_t, 256>> TokensOfBytes(const Names& names) {
  std::array<std::uint32_t, 256> tokens{};
  const std::array<char32_t, 256> alphabet = MakeAlphabet();
  for (std::size_t byte = 0; byte < tokens.size(); ++byte) {
    std::string name;
    AppendUtf8(alphabet[byte], name);
    const auto id = names.Find(name);
    if (!id) {
      return InvalidArgument("has no token for the byte " + std::to_string(byte) +
                             ": train it with the alphabet of all bytes");
    }
    tokens[byte] = *id;
  }
  return tokens;
}

base::StatusOr<std::vector<TokenMerge>> MergesOf(const TokenizerParts& parts, const Names& names) {
  std::vector<TokenMerge> merges;
  for (const auto& [left, right] : parts.merges) {
    const auto joined = names.Find(left + right);
    const auto a = names.Find(left);
    const auto b = names.Find(right);
    if (left.empty() || right.empty() || !a || !b || !joined || !BytesByAlphabet(left + right)) {
      return InvalidArgument("has a merge, number " + std::to_string(merges.size() + 1) +
                             ", of or to what is no token of bytes");
    }
    merges.push_back({*a, *b, *joined});
  }
  return merges;
}

// Which ids the library gives to added tokens: that of the vocabulary, else the next one.
base::Status CheckAdded(const TokenizerParts& parts, const Names& names) {
  auto next = static_cast<std::uint32_t>(parts.vocabulary.size());
  std::size_t number = 0;
  for (const TokenizerParts::Added& each : parts.added) {
    const std::string which = "has an added token, number " + std::to_string(++number) + ", ";
    if (each.text.empty() || each.text.size() > kMaxAddedBytes) {
      return InvalidArgument(which + "that is not of 1 to " + std::to_string(kMaxAddedBytes) +
                             " bytes");
    }
    const auto known = names.Find(each.text);
    const std::uint32_t id = known ? *known : next++;
    if (id != each.id) {
      return InvalidArgument(which + "of the id " + std::to_string(each.id) +
                             ", where the library gives it " + std::to_string(id) +
                             ": save it once more with the library");
    }
    // It would stand for its characters and for the bytes that these mean in the vocabulary.
    if (known && BytesByAlphabet(each.text).value_or(each.text) != each.text) {
      return InvalidArgument(which + "that the vocabulary has for other bytes");
    }
  }
  return base::OkStatus();
}

base::StatusOr<std::vector<LiteralToken>> LiteralsOf(const TokenizerParts& parts, bool normalized) {
  std::vector<LiteralToken> tokens;
  std::set<std::string> texts;
  for (const TokenizerParts::Added& each : parts.added) {
    if (each.normalized != normalized) continue;
    LiteralToken& token = tokens.emplace_back(LiteralToken{each.text, each.id});
    if (normalized && parts.nfc) token.text = Nfc(each.text);
    if (!texts.insert(token.text).second) return InvalidArgument("has an added token twice");
  }
  return tokens;
}

}  // namespace

base::StatusOr<Tokenizer> Tokenizer::Make(TokenizerParts parts) {
  RETURN_IF_ERROR(CheckSizes(parts));
  const Names names(parts.vocabulary);
  if (names.HasTwice()) return InvalidArgument("has a token twice");
  RETURN_IF_ERROR(CheckAdded(parts, names));
  ASSIGN_OR_RETURN(std::vector<LiteralToken> literal, LiteralsOf(parts, /*normalized=*/false));
  ASSIGN_OR_RETURN(std::vector<LiteralToken> normalized, LiteralsOf(parts, /*normalized=*/true));
  ASSIGN_OR_RETURN(const auto of_byte, TokensOfBytes(names));
  ASSIGN_OR_RETURN(const std::vector<TokenMerge> merges, MergesOf(parts, names));
  Tokenizer made(TokenFinder(std::move(literal)), TokenFinder(std::move(normalized)),
                 BytePairs(of_byte, merges));
  made.rule_ = parts.rule;
  made.nfc_ = parts.nfc;
  made.ignore_merges_ = parts.ignore_merges;
  const auto set = [&made](std::uint32_t id, std::string bytes) {
    if (id >= made.tokens_.size()) made.tokens_.resize(std::size_t{id} + 1);
    made.tokens_[id] = {.bytes = std::move(bytes), .known = true};
  };
  const auto twice = [](std::uint32_t id) {
    return InvalidArgument("has the id " + std::to_string(id) + " twice");
  };
  for (const auto& [name, id] : parts.vocabulary) {
    if (made.Has(id)) return twice(id);
    auto of_bytes = BytesByAlphabet(name);
    if (of_bytes) made.by_bytes_.push_back(id);
    set(id, of_bytes ? *std::move(of_bytes) : name);
  }
  for (const TokenizerParts::Added& each : parts.added) {
    if (made.Has(each.id) && !names.Find(each.text)) return twice(each.id);
    set(each.id, each.text);
  }
  std::sort(made.by_bytes_.begin(), made.by_bytes_.end(),
            [&made](std::uint32_t a, std::uint32_t b) {
              return made.tokens_[a].bytes < made.tokens_[b].bytes;
            });
  return made;
}

base::StatusOr<std::vector<std::uint32_t>> Tokenizer::Encode(std::string_view text) const {
  if (const std::size_t at = FindNoUtf8(text); at != std::string_view::npos) {
    return InvalidArgument("is no UTF-8 at byte " + std::to_string(at) +
                           ", and a tokenizer reads characters: convert it");
  }
  std::vector<std::uint32_t> ids;
  while (!text.empty()) {
    const auto found = literal_.FindIn(text);
    const std::string_view before = text.substr(0, found ? found->begin : text.size());
    RETURN_IF_ERROR(nfc_ ? EncodeNormalized(Nfc(before), ids) : EncodeNormalized(before, ids));
    if (found) ids.push_back(found->id);
    text.remove_prefix(found ? found->begin + found->bytes : text.size());
  }
  return ids;
}

base::Status Tokenizer::EncodeNormalized(std::string_view text,
                                         std::vector<std::uint32_t>& ids) const {
  while (!text.empty()) {
    const auto found = normalized_.FindIn(text);
    RETURN_IF_ERROR(EncodeWords(text.substr(0, found ? found->begin : text.size()), ids));
    if (found) ids.push_back(found->id);
    text.remove_prefix(found ? found->begin + found->bytes : text.size());
  }
  return base::OkStatus();
}

base::Status Tokenizer::EncodeWords(std::string_view text, std::vector<std::uint32_t>& ids) const {
  const auto before = [this](std::uint32_t id, std::string_view word) {
    return tokens_[id].bytes < word;
  };
  while (!text.empty()) {
    const std::string_view word = text.substr(0, FirstWord(text, rule_));
    text.remove_prefix(word.size());
    if (word.size() > kMaxWordBytes) {
      return InvalidArgument("has a word of " + std::to_string(word.size()) +
                             " bytes, and one has at most " + std::to_string(kMaxWordBytes) +
                             ": put blanks or line ends into it");
    }
    if (ignore_merges_) {
      const auto found = std::lower_bound(by_bytes_.begin(), by_bytes_.end(), word, before);
      if (found != by_bytes_.end() && tokens_[*found].bytes == word) {
        ids.push_back(*found);
        continue;
      }
    }
    pairs_.Encode(word, ids);
  }
  return base::OkStatus();
}

std::string_view Tokenizer::BytesOf(std::uint32_t id) const {
  OSTRAKA_CHECK(Has(id));
  return tokens_[id].bytes;
}

}  // namespace ostraka::train
