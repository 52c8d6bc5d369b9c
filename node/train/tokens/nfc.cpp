#include "node/train/tokens/nfc.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "node/train/tokens/unicode.h"

namespace ostraka::train {
namespace {

struct CombiningRange {
  char32_t first;
  char32_t last;
  std::uint8_t combining;
};
struct CanonicalPair {
  char32_t code;
  char32_t first;
  char32_t second;
};
struct CanonicalSingle {
  char32_t code;
  char32_t other;
};

#include "node/train/tokens/unicode_composed.inc"
#include "node/train/tokens/unicode_replaced.inc"

// Below it no character combines with one before it.
constexpr char32_t kLowestCombining = 0x300;
constexpr std::uint8_t kFirstByteOfLowest = 0xcc;  // in UTF-8

// Syllables of Hangul are composed by a formula (chapter 3.12 of the Unicode Standard).
constexpr char32_t kSyllables = 0xac00;
constexpr char32_t kLeads = 0x1100;
constexpr char32_t kVowels = 0x1161;
constexpr char32_t kTrails = 0x11a7;  // the first of them stands for none
constexpr char32_t kLeadCount = 19;
constexpr char32_t kVowelCount = 21;
constexpr char32_t kTrailCount = 28;
constexpr char32_t kSyllableCount = kLeadCount * kVowelCount * kTrailCount;

bool IsWithin(char32_t code, char32_t first, char32_t count) {
  return code >= first && code - first < count;
}

std::uint8_t CombiningOf(char32_t code) {
  const auto* const next = std::upper_bound(
      std::begin(kCombining), std::end(kCombining), code,
      [](char32_t searched, const CombiningRange& range) { return searched < range.first; });
  if (next == std::begin(kCombining) || code > std::prev(next)->last) return 0;
  return std::prev(next)->combining;
}

template <typename Row>
const Row* RowOf(std::span<const Row> rows, char32_t code) {
  const auto found =
      std::lower_bound(rows.begin(), rows.end(), code,
                       [](const Row& row, char32_t searched) { return row.code < searched; });
  return found == rows.end() || found->code != code ? nullptr : &*found;
}

const CanonicalPair* PairOf(char32_t code) {
  const auto* const composed = RowOf<CanonicalPair>(kComposed, code);
  return composed != nullptr ? composed : RowOf<CanonicalPair>(kParted, code);
}

void Decompose(char32_t code, std::u32string& into) {
  if (IsWithin(code, kSyllables, kSyllableCount)) {
    const char32_t index = code - kSyllables;
    into.push_back(kLeads + index / (kVowelCount * kTrailCount));
    into.push_back(kVowels + index / kTrailCount % kVowelCount);
    if (index % kTrailCount != 0) into.push_back(kTrails + index % kTrailCount);
    return;
  }
  // Only the first of two may have a form of its own (write_unicode.py).
  std::u32string seconds;
  while (code >= 0xc0) {
    if (const auto* single = RowOf<CanonicalSingle>(kReplaced, code)) {
      code = single->other;
    } else if (const CanonicalPair* pair = PairOf(code)) {
      code = pair->first;
      seconds += pair->second;
    } else {
      break;
    }
  }
  into += code;
  into.append(seconds.rbegin(), seconds.rend());
}

bool ByParts(const CanonicalPair& a, const CanonicalPair& b) {
  return a.first != b.first ? a.first < b.first : a.second < b.second;
}

std::optional<char32_t> Compose(char32_t first, char32_t second) {
  if (IsWithin(first, kLeads, kLeadCount) && IsWithin(second, kVowels, kVowelCount)) {
    return kSyllables + ((first - kLeads) * kVowelCount + second - kVowels) * kTrailCount;
  }
  if (IsWithin(first, kSyllables, kSyllableCount) && (first - kSyllables) % kTrailCount == 0 &&
      IsWithin(second, kTrails + 1, kTrailCount - 1)) {
    return first + (second - kTrails);
  }
  static const std::vector<CanonicalPair> pairs = [] {
    std::vector<CanonicalPair> sorted(std::begin(kComposed), std::end(kComposed));
    std::sort(sorted.begin(), sorted.end(), ByParts);
    return sorted;
  }();
  const auto found =
      std::lower_bound(pairs.begin(), pairs.end(), CanonicalPair{0, first, second}, ByParts);
  if (found == pairs.end() || found->first != first || found->second != second) return {};
  return found->code;
}

// Whether some character is composed of another one and this.
bool IsSecond(char32_t code) {
  if (code < kLowestCombining) return false;
  if (IsWithin(code, kVowels, kVowelCount) || IsWithin(code, kTrails, kTrailCount)) return true;
  static const std::vector<char32_t> seconds = [] {
    std::vector<char32_t> sorted;
    for (const CanonicalPair& pair : kComposed) sorted.push_back(pair.second);
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }();
  return std::binary_search(seconds.begin(), seconds.end(), code);
}

// Characters of which only those within may combine: a stretch from one that combines with none
// before it to the next such one.
class Stretch {
 public:
  void Add(char32_t code, std::string& text) {
    const std::uint8_t combining = CombiningOf(code);
    if (combining == 0 && !IsSecond(code)) Finish(text);
    marks_.push_back({code, combining});
  }

  void Finish(std::string& text) {
    if (marks_.empty()) return;
    Order();
    Combine();
    for (const Mark& mark : marks_) AppendUtf8(mark.code, text);
    marks_.clear();
  }

 private:
  struct Mark {
    char32_t code;
    std::uint8_t combining;
  };

  void Order() {
    const auto stays = [](const Mark& mark) { return mark.combining == 0; };
    for (auto begin = marks_.begin(); begin != marks_.end();) {
      begin = std::find_if_not(begin, marks_.end(), stays);
      const auto end = std::find_if(begin, marks_.end(), stays);
      std::stable_sort(begin, end,
                       [](const Mark& a, const Mark& b) { return a.combining < b.combining; });
      begin = end;
    }
  }

  void Combine() {
    std::size_t kept = 0;
    std::optional<std::size_t> starter;  // where it stands
    for (const Mark mark : marks_) {
      // One of equal or higher class between the two keeps them apart.
      const bool adjacent = starter && *starter + 1 == kept;
      const bool free = adjacent || (kept > 0 && marks_[kept - 1].combining != 0 &&
                                     marks_[kept - 1].combining < mark.combining);
      if (starter && free) {
        if (const auto composed = Compose(marks_[*starter].code, mark.code)) {
          marks_[*starter].code = *composed;
          continue;
        }
      }
      if (mark.combining == 0) starter = kept;
      marks_[kept++] = mark;
    }
    marks_.resize(kept);
  }

  std::vector<Mark> marks_;
};

}  // namespace

std::string Nfc(std::string_view text) {
  const auto plain = [&text](std::size_t at) {
    return at >= text.size() || static_cast<std::uint8_t>(text[at]) < kFirstByteOfLowest;
  };
  std::string result;
  result.reserve(text.size());
  Stretch stretch;
  std::u32string parts;
  while (!text.empty()) {
    const Utf8Char next = FirstChar(text);
    if (plain(0) && plain(next.bytes)) {
      stretch.Finish(result);
      result += text.substr(0, next.bytes);
    } else {
      parts.clear();
      Decompose(next.code, parts);
      for (const char32_t code : parts) stretch.Add(code, result);
    }
    text.remove_prefix(next.bytes);
  }
  stretch.Finish(result);
  return result;
}

}  // namespace ostraka::train
