#include "node/train/tokens/tokenizer_json.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ostraka::train {
namespace {

using base::InvalidArgument;

constexpr std::size_t kMaxDepth = 16;
// Of all but tokens and merges: a real file has some forty.
constexpr std::size_t kMaxFacts = 4096;
constexpr std::size_t kMaxAddedFields = 16;
constexpr std::uint64_t kMaxId = 0xffffffff;

base::Status OtherKind(const std::string& what) {
  return InvalidArgument(what +
                         ": this program does byte-level BPE with the words of GPT-2, Llama 3 or "
                         "Qwen 2; ostraka.data.pack in Python packs by any tokenizer");
}

// A name of the file's as part of a message.
std::string Shown(std::string_view name) {
  const bool printable =
      std::all_of(name.begin(), name.end(), [](char byte) { return byte >= ' ' && byte <= '~'; });
  return printable && !name.empty() && name.size() <= 40 ? std::string(name) : "another one";
}

struct Composite {};  // an object or an array
struct OtherNumber {};
using Fact = std::variant<std::nullptr_t, bool, std::uint64_t, OtherNumber, std::string, Composite>;
using Facts = std::map<std::string, Fact>;

// Takes tokens, merges and added tokens out of the events of a parser, and keeps all other values
// by their path, such as "pre_tokenizer/pretokenizers/0/type".
class Collector final : public nlohmann::json_sax<nlohmann::json> {
 public:
  TokenizerParts& parts() { return parts_; }
  const Facts& facts() const { return facts_; }
  const std::vector<Facts>& added() const { return added_; }
  const base::Status& error() const { return error_; }

  bool null() override { return Take(nullptr); }
  bool boolean(bool value) override { return Take(value); }
  bool number_integer(number_integer_t) override { return Take(OtherNumber()); }
  bool number_unsigned(number_unsigned_t value) override { return Take(std::uint64_t{value}); }
  bool number_float(number_float_t value, const string_t&) override {
    return value == 0 ? Take(std::uint64_t{0}) : Take(OtherNumber());
  }
  bool string(string_t& value) override { return Take(std::move(value)); }
  bool binary(binary_t&) override { return Stop("is no JSON"); }
  bool key(string_t& name) override {
    levels_.back().key = std::move(name);
    return true;
  }
  bool start_object(std::size_t) override { return Open(/*array=*/false); }
  bool start_array(std::size_t) override { return Open(/*array=*/true); }
  bool end_object() override { return Close(); }
  bool end_array() override {
    if (levels_.size() == 4 && Within("model", "merges")) {
      if (pair_.size() != 2) return Stop(kBadMerge);
      if (!AddMerge(std::move(pair_[0]), std::move(pair_[1]))) return false;
      pair_.clear();
    }
    return Close();
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception&) override {
    return Stop("is no JSON at byte " + std::to_string(position));
  }

 private:
  static constexpr std::string_view kBadVocabulary = "has a vocabulary that is no object of ids";
  static constexpr std::string_view kBadMerge = "has a merge that is not of two tokens";
  static constexpr std::string_view kBadAdded =
      "has an added token that is no object of a few fields";

  struct Level {
    bool array = false;
    std::string key = {};   // of an object: of the value at hand
    std::size_t index = 0;  // of an array: of the value at hand
  };

  bool Stop(std::string_view why) {
    return Stop(InvalidArgument(std::string(why) +
                                ": give a tokenizer.json that the library tokenizers wrote"));
  }
  bool Stop(base::Status why) {
    if (error_.ok()) error_ = std::move(why);
    return false;
  }

  bool Within(std::string_view first) const { return !levels_.empty() && levels_[0].key == first; }
  bool Within(std::string_view first, std::string_view second) const {
    return levels_.size() > 1 && Within(first) && levels_[1].key == second;
  }

  bool Open(bool array) {
    const std::size_t depth = levels_.size();
    if (depth == kMaxDepth) return Stop("is nested too deep");
    if (depth == 0 && array) return Stop("is no object");
    if (Within("model", "vocab") && (array || depth > 2)) {
      // Of Unigram, whose tokens have scores.
      return array && depth == 2 ? Stop(OtherKind("has a model without ids of tokens, no BPE"))
                                 : Stop(kBadVocabulary);
    }
    if (Within("model", "merges") && (!array || depth > 3)) return Stop(kBadMerge);
    if (Within("added_tokens")) {
      if (depth > 2 || array != (depth == 1)) return Stop(kBadAdded);
      if (depth == 2 && added_.size() == kMaxAddedTokens) {
        return Stop("has more than " + std::to_string(kMaxAddedTokens) + " added tokens");
      }
      if (depth == 2) added_.emplace_back();
    }
    const bool streamed = depth > 2 && Within("model", "merges");
    if (depth > 0 && !streamed && !(depth == 2 && Within("added_tokens")) && !Keep(Composite())) {
      return false;
    }
    levels_.push_back({.array = array});
    return true;
  }

  bool Close() {
    levels_.pop_back();
    return Next();
  }

  bool Next() {
    if (!levels_.empty() && levels_.back().array) ++levels_.back().index;
    return true;
  }

  bool Take(Fact fact) {
    const std::size_t depth = levels_.size();
    if (depth == 0) return Stop("is no object");
    if (depth == 3 && Within("model", "vocab")) return TakeToken(fact);
    if (depth >= 3 && Within("model", "merges")) return TakeMerge(std::move(fact));
    if (depth >= 2 && Within("added_tokens")) {
      if (depth == 2 || added_.back().size() == kMaxAddedFields) return Stop(kBadAdded);
      const auto [at, is_new] = added_.back().emplace(levels_.back().key, std::move(fact));
      return is_new || Stop(kBadAdded);
    }
    return Keep(std::move(fact)) && Next();
  }

  bool Keep(Fact fact) {
    if (Within("post_processor")) return true;  // adds tokens that nobody asks for
    std::string path;
    for (const Level& level : levels_) {
      if (level.key.find('/') != std::string::npos) return true;  // looks like another path
      path += (path.empty() ? "" : "/") + (level.array ? std::to_string(level.index) : level.key);
    }
    if (facts_.size() == kMaxFacts) return Stop("holds more than a tokenizer does");
    const auto [at, is_new] = facts_.emplace(std::move(path), std::move(fact));
    return is_new || Stop("names " + Shown(at->first) + " twice");
  }

  bool TakeToken(const Fact& fact) {
    const auto* const id = std::get_if<std::uint64_t>(&fact);
    if (id == nullptr || *id > kMaxId) return Stop(kBadVocabulary);
    if (parts_.vocabulary.size() == kMaxTokens) {
      return Stop("has more than " + std::to_string(kMaxTokens) + " tokens");
    }
    parts_.vocabulary.emplace_back(std::move(levels_.back().key), static_cast<std::uint32_t>(*id));
    return true;
  }

  bool TakeMerge(Fact fact) {
    auto* const text = std::get_if<std::string>(&fact);
    if (text == nullptr) return Stop(kBadMerge);
    if (levels_.size() == 4) {
      if (pair_.size() == 2) return Stop(kBadMerge);
      pair_.push_back(std::move(*text));
      return true;
    }
    if (text->starts_with("#version")) return true;  // the head of a merges.txt
    const std::size_t blank = text->find(' ');
    if (blank == std::string::npos || text->find(' ', blank + 1) != std::string::npos) {
      return Stop(kBadMerge);
    }
    return AddMerge(text->substr(0, blank), text->substr(blank + 1));
  }

  bool AddMerge(std::string left, std::string right) {
    if (parts_.merges.size() == kMaxMerges) {
      return Stop("has more than " + std::to_string(kMaxMerges) + " merges");
    }
    parts_.merges.emplace_back(std::move(left), std::move(right));
    return true;
  }

  TokenizerParts parts_;
  Facts facts_;
  std::vector<Facts> added_;
  std::vector<Level> levels_;
  std::vector<std::string> pair_;  // of the merge at hand
  base::Status error_;
};

// --- what the values mean ------------------------------------------------------------------------

const Fact* FactAt(const Facts& facts, const std::string& path) {
  const auto at = facts.find(path);
  return at == facts.end() ? nullptr : &at->second;
}

bool IsNull(const Facts& facts, const std::string& path) {
  const Fact* const fact = FactAt(facts, path);
  return fact == nullptr || std::holds_alternative<std::nullptr_t>(*fact);
}

// "" if it is no text.
std::string TextAt(const Facts& facts, const std::string& path) {
  const Fact* const fact = FactAt(facts, path);
  const auto* const text = fact == nullptr ? nullptr : std::get_if<std::string>(fact);
  return text == nullptr ? "" : *text;
}

// Whether a switch is on; nullopt if it is no switch.
std::optional<bool> SwitchAt(const Facts& facts, const std::string& path, bool otherwise) {
  const Fact* const fact = FactAt(facts, path);
  if (fact == nullptr) return otherwise;
  const auto* const value = std::get_if<bool>(fact);
  if (value == nullptr) return {};
  return *value;
}

base::Status CheckModel(const Facts& facts) {
  if (const Fact* type = FactAt(facts, "model/type");
      type != nullptr && TextAt(facts, "model/type") != "BPE") {
    return OtherKind("has a model that is no BPE, but " + Shown(TextAt(facts, "model/type")));
  }
  if (IsNull(facts, "model/vocab") || IsNull(facts, "model/merges")) {
    return OtherKind("has no model with vocab and merges");
  }
  if (const Fact* dropout = FactAt(facts, "model/dropout");
      dropout != nullptr && !IsNull(facts, "model/dropout") &&
      !std::holds_alternative<std::uint64_t>(*dropout)) {
    return OtherKind("has a model that drops merges by chance (dropout)");
  }
  if (SwitchAt(facts, "model/byte_fallback", false) != false) {
    return OtherKind("has a model with byte_fallback");
  }
  for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const std::string path = std::string("model/") + affix;
    const Fact* const fact = FactAt(facts, path);
    const auto* const text = fact == nullptr ? nullptr : std::get_if<std::string>(fact);
    if (IsNull(facts, path) || (text != nullptr && text->empty())) continue;
    return OtherKind(std::string("has a model with ") + affix);
  }
  return base::OkStatus();
}

base::StatusOr<bool> IsNfc(const Facts& facts) {
  if (IsNull(facts, "normalizer")) return false;
  const std::string type = TextAt(facts, "normalizer/type");
  if (type == "NFC") return true;
  return OtherKind("has a normalizer that is not NFC, but " + Shown(type));
}

// ByteLevel at `path`, which cuts words as GPT-2 does or leaves them.
base::Status CheckByteLevel(const Facts& facts, const std::string& path, bool cuts) {
  const std::string type = TextAt(facts, path + "/type");
  if (type != "ByteLevel") return OtherKind("has a pre_tokenizer " + Shown(type));
  if (SwitchAt(facts, path + "/add_prefix_space", true) != false) {
    return OtherKind("has a pre_tokenizer with add_prefix_space");
  }
  if (SwitchAt(facts, path + "/use_regex", true) == cuts) return base::OkStatus();
  return OtherKind(cuts ? "has a pre_tokenizer that cuts no words"
                        : "has a pre_tokenizer that cuts words twice");
}

base::StatusOr<WordRule> RuleOf(const Facts& facts) {
  const std::string root = "pre_tokenizer";
  if (TextAt(facts, root + "/type") != "Sequence") {
    RETURN_IF_ERROR(CheckByteLevel(facts, root, /*cuts=*/true));
    return WordRule::kGpt2;
  }
  const std::string first = root + "/pretokenizers/0";
  const std::string second = root + "/pretokenizers/1";
  if (TextAt(facts, first + "/type") != "Split" ||
      FactAt(facts, root + "/pretokenizers/2") != nullptr) {
    return OtherKind("has a pre_tokenizer that is not Split and then ByteLevel");
  }
  RETURN_IF_ERROR(CheckByteLevel(facts, second, /*cuts=*/false));
  const auto rule = WordRuleOf(TextAt(facts, first + "/pattern/Regex"));
  // A known expression leaves no rest between words, so both settings give the same words: Isolated
  // keeps words and rest, and Removed, inverted, takes the rest away.
  const std::string behavior = TextAt(facts, first + "/behavior");
  const bool keeps = behavior == "Isolated" && SwitchAt(facts, first + "/invert", false) == false;
  const bool takes = behavior == "Removed" && SwitchAt(facts, first + "/invert", false) == true;
  if (rule && (keeps || takes)) return *rule;
  return OtherKind("has a pre_tokenizer that cuts words by another expression");
}

base::StatusOr<TokenizerParts::Added> AddedOf(const Facts& facts) {
  for (const char* flag : {"single_word", "lstrip", "rstrip"}) {
    if (SwitchAt(facts, flag, false) == false) continue;
    return OtherKind(std::string("has an added token with ") + flag);
  }
  const Fact* const id = FactAt(facts, "id");
  const auto* const number = id == nullptr ? nullptr : std::get_if<std::uint64_t>(id);
  const Fact* const normalized = FactAt(facts, "normalized");
  const auto* const is = normalized == nullptr ? nullptr : std::get_if<bool>(normalized);
  if (number == nullptr || *number > kMaxId || is == nullptr) {
    return InvalidArgument("has an added token without id or normalized");
  }
  return TokenizerParts::Added{.text = TextAt(facts, "content"),
                               .id = static_cast<std::uint32_t>(*number),
                               .normalized = *is};
}

base::StatusOr<TokenizerParts> PartsOf(Collector& collected) {
  const Facts& facts = collected.facts();
  TokenizerParts parts = std::move(collected.parts());
  RETURN_IF_ERROR(CheckModel(facts));
  for (const char* changes : {"truncation", "padding"}) {
    if (IsNull(facts, changes)) continue;
    return InvalidArgument(std::string("cuts or fills what it encodes: set ") + changes +
                           " to null in it");
  }
  ASSIGN_OR_RETURN(parts.nfc, IsNfc(facts));
  ASSIGN_OR_RETURN(parts.rule, RuleOf(facts));
  if (!IsNull(facts, "decoder") && TextAt(facts, "decoder/type") != "ByteLevel") {
    return OtherKind("has a decoder that is not ByteLevel");
  }
  const auto ignores = SwitchAt(facts, "model/ignore_merges", false);
  if (!ignores) return InvalidArgument("has ignore_merges that is not true or false");
  parts.ignore_merges = *ignores;
  for (const Facts& each : collected.added()) {
    ASSIGN_OR_RETURN(parts.added.emplace_back(), AddedOf(each));
  }
  return parts;
}

}  // namespace

base::StatusOr<Tokenizer> ParseTokenizer(std::string_view json) {
  if (json.size() > kMaxTokenizerBytes) {
    return InvalidArgument("has more than " + std::to_string(kMaxTokenizerBytes >> 20) + " MiB");
  }
  Collector collected;
  if (!nlohmann::json::sax_parse(json.begin(), json.end(), &collected)) {
    return collected.error();
  }
  ASSIGN_OR_RETURN(TokenizerParts parts, PartsOf(collected));
  return Tokenizer::Make(std::move(parts));
}

}  // namespace ostraka::train
