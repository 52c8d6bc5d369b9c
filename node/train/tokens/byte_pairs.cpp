#include "node/train/tokens/byte_pairs.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>

#include "node/base/check.h"

namespace ostraka::train {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// A piece of a word, in a list: `next` and `previous` are places, kNone at the ends.
struct Piece {
  std::uint32_t token;
  std::uint32_t previous;
  std::uint32_t next;
  bool gone = false;  // joined to the one before it
};

// A merge that may be done at the piece at `place`; the first of equal ranks is done first.
struct Candidate {
  std::uint32_t rank;
  std::uint32_t place;
  bool operator>(const Candidate& other) const {
    return rank != other.rank ? rank > other.rank : place > other.place;
  }
};

}  // namespace

BytePairs::BytePairs(const std::array<std::uint32_t, 256>& bytes,
                     const std::vector<TokenMerge>& merges)
    : bytes_(bytes) {
  OSTRAKA_CHECK(merges.size() < kNone);
  std::uint32_t rank = 0;
  std::uint32_t tokens = 0;
  for (const TokenMerge& merge : merges) {
    merges_.push_back({merge.left, merge.right, merge.joined, rank++});
    tokens = std::max(tokens, merge.left + 1);
  }
  const auto pair = [](const Ranked& each) { return std::tuple(each.left, each.right); };
  // Of those with the same neighbours the last one stands first, and stays.
  std::sort(merges_.begin(), merges_.end(), [&pair](const Ranked& a, const Ranked& b) {
    return pair(a) != pair(b) ? pair(a) < pair(b) : a.rank > b.rank;
  });
  merges_.erase(
      std::unique(merges_.begin(), merges_.end(),
                  [&pair](const Ranked& a, const Ranked& b) { return pair(a) == pair(b); }),
      merges_.end());
  begins_.assign(std::size_t{tokens} + 1, 0);
  for (const Ranked& each : merges_) ++begins_[each.left + 1];
  for (std::size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
}

const BytePairs::Ranked* BytePairs::Find(std::uint32_t left, std::uint32_t right) const {
  if (std::size_t{left} + 1 >= begins_.size()) return nullptr;
  const auto end = merges_.begin() + begins_[left + 1];
  const auto found =
      std::lower_bound(merges_.begin() + begins_[left], end, right,
                       [](const Ranked& each, std::uint32_t value) { return each.right < value; });
  return found == end || found->right != right ? nullptr : &*found;
}

void BytePairs::Encode(std::string_view word, std::vector<std::uint32_t>& ids) const {
  OSTRAKA_CHECK(word.size() < kNone);
  if (word.empty()) return;
  std::vector<Piece> pieces(word.size());
  for (std::uint32_t i = 0; i < pieces.size(); ++i) {
    pieces[i] = {.token = bytes_[static_cast<std::uint8_t>(word[i])],
                 .previous = i == 0 ? kNone : i - 1,
                 .next = i + 1 == pieces.size() ? kNone : i + 1};
  }
  const auto merge_at = [&](std::uint32_t place) -> const Ranked* {
    const std::uint32_t next = pieces[place].next;
    return next == kNone ? nullptr : Find(pieces[place].token, pieces[next].token);
  };
  std::vector<Candidate> first;
  for (std::uint32_t i = 0; i + 1 < pieces.size(); ++i) {
    if (const Ranked* merge = merge_at(i)) first.push_back({merge->rank, i});
  }
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> waiting(std::greater<>(),
                                                                                 std::move(first));
  while (!waiting.empty()) {
    const Candidate best = waiting.top();
    waiting.pop();
    Piece& left = pieces[best.place];
    const Ranked* merge = left.gone ? nullptr : merge_at(best.place);
    // A neighbour may have changed since the candidate was found.
    if (merge == nullptr || merge->rank != best.rank) continue;
    Piece& right = pieces[left.next];
    left.token = merge->joined;
    left.next = right.next;
    right.gone = true;
    if (left.next != kNone) pieces[left.next].previous = best.place;
    if (left.previous != kNone) {
      if (const Ranked* before = merge_at(left.previous)) {
        waiting.push({before->rank, left.previous});
      }
    }
    if (const Ranked* after = merge_at(best.place)) waiting.push({after->rank, best.place});
  }
  for (std::uint32_t i = 0; i != kNone; i = pieces[i].next) ids.push_back(pieces[i].token);
}

}  // namespace ostraka::train
