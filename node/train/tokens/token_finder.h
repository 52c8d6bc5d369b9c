// Finds tokens that stand in a text as they are, such as <|endoftext|>: at each place the longest
// one, from the left, and none within another.
//
// What an attacker can do here: nothing is hashed, and a place costs at most as many steps as the
// longest token has bytes, each a binary search.
//
// Thread safety: immutable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ostraka::train {

struct LiteralToken {
  std::string text;
  std::uint32_t id = 0;
};

class TokenFinder {
 public:
  // REQUIRES: no two texts are equal, and none is empty.
  explicit TokenFinder(std::vector<LiteralToken> tokens);

  struct Found {
    std::size_t begin = 0;
    std::size_t bytes = 0;
    std::uint32_t id = 0;
  };
  // The first one in `text`.
  std::optional<Found> FindIn(std::string_view text) const;

 private:
  // The longest with which `text` begins.
  const LiteralToken* Longest(std::string_view text) const;

  std::vector<LiteralToken> tokens_;  // by their bytes
  std::array<bool, 256> begins_{};    // whether one begins with the byte
};

}  // namespace ostraka::train
