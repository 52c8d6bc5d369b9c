// Byte-pair encoding of a word: of all neighbours that a merge joins, those of the first merge are
// joined, from the left, until no merge fits.
//
// What an attacker can do here: a tokenizer is a stranger's file. A word of n bytes takes
// O(n log n) steps whatever the merges are, and merges are found by comparing, not by hashes that
// an attacker could make collide.
//
// Thread safety: immutable after Make.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace ostraka::train {

// Two neighbours and the token that they become.
struct TokenMerge {
  std::uint32_t left = 0;
  std::uint32_t right = 0;
  std::uint32_t joined = 0;
};

class BytePairs {
 public:
  // The token of each byte, and the merges in their order. If two merges have the same neighbours,
  // the later one counts. REQUIRES: fewer than 2^32 merges.
  BytePairs(const std::array<std::uint32_t, 256>& bytes, const std::vector<TokenMerge>& merges);

  // Adds the tokens of `word` to `ids`. REQUIRES: fewer than 2^32 bytes.
  void Encode(std::string_view word, std::vector<std::uint32_t>& ids) const;

 private:
  struct Ranked {
    std::uint32_t left;
    std::uint32_t right;
    std::uint32_t joined;
    std::uint32_t rank;
  };
  // Null: no merge joins the two.
  const Ranked* Find(std::uint32_t left, std::uint32_t right) const;

  std::array<std::uint32_t, 256> bytes_;
  std::vector<Ranked> merges_;         // by left, then right
  std::vector<std::uint32_t> begins_;  // in merges_, of each left token; one more at the end
};

}  // namespace ostraka::train
