#include "sim/trainers/tiny_text.h"

#include <iterator>
#include <span>
#include <string_view>

#include "node/base/bytes.h"
#include "node/base/rng.h"
#include "node/train/tokens/tokens.h"

namespace ostraka::sim {
namespace {

constexpr std::string_view kAdjectives[] = {"old", "quiet", "young", "tired", "honest", "tall"};
constexpr std::string_view kPeople[] = {"potter", "sailor", "miller",  "baker",
                                        "singer", "farmer", "builder", "writer"};
constexpr std::string_view kVerbs[] = {"sells", "keeps", "breaks", "finds", "counts", "hides"};
constexpr std::string_view kColours[] = {"red", "black", "broken", "small", "painted"};
constexpr std::string_view kThings[] = {"jar", "lamp", "shard", "basket", "ladder", "coin"};
constexpr std::string_view kPlaces[] = {"in the market", "near the gate", "on the hill",
                                        "by the river"};

template <std::size_t kCount>
std::string_view OneOf(base::Rng& rng, const std::string_view (&words)[kCount]) {
  return words[rng.Below(kCount)];
}

// "the old potter sells a red jar near the gate."
std::string Sentence(base::Rng& rng) {
  std::string sentence = "the ";
  if (rng.Chance(1, 2)) sentence.append(OneOf(rng, kAdjectives)).append(" ");
  sentence.append(OneOf(rng, kPeople)).append(" ").append(OneOf(rng, kVerbs)).append(" a ");
  if (rng.Chance(1, 2)) sentence.append(OneOf(rng, kColours)).append(" ");
  sentence.append(OneOf(rng, kThings));
  if (rng.Chance(1, 3)) sentence.append(" ").append(OneOf(rng, kPlaces));
  return sentence + ".";
}

std::uint8_t SymbolOf(char letter) {
  if (letter == ' ') return kTinySymbols - 2;
  if (letter == '.') return kTinySymbols - 1;
  return static_cast<std::uint8_t>(letter - 'a');
}

}  // namespace

std::string TinyText(std::uint64_t seed, std::size_t size) {
  base::Rng rng = base::Rng(seed).Fork("tiny text");
  std::string text;
  while (text.size() < size) text += (text.empty() ? "" : " ") + Sentence(rng);
  text.resize(size);
  return text;
}

base::StatusOr<train::Dataset> TinyRecords(std::uint64_t seed, std::size_t size,
                                           std::uint32_t context) {
  base::Bytes symbols;
  for (const char letter : TinyText(seed, size)) symbols.push_back(SymbolOf(letter));
  ASSIGN_OR_RETURN(train::Dataset data, train::RecordsOf(symbols, context));
  data.class_count = kTinySymbols;
  return data;
}

}  // namespace ostraka::sim
