#include "node/train/tokens/byte_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "node/base/rng.h"

namespace ostraka::train::byte_pairs_test {
namespace {

using ::testing::ElementsAre;
using Ids = std::vector<std::uint32_t>;

std::array<std::uint32_t, 256> Bytes() {
  std::array<std::uint32_t, 256> bytes{};
  for (std::uint32_t i = 0; i < bytes.size(); ++i) bytes[i] = i;
  return bytes;
}

Ids Encoded(const BytePairs& pairs, std::string_view word) {
  Ids ids = {7};  // stays
  pairs.Encode(word, ids);
  EXPECT_EQ(ids.front(), 7U);
  return {ids.begin() + 1, ids.end()};
}

// The rule as it is said, in as many passes as there are merges to do.
Ids Naively(const std::vector<TokenMerge>& merges, std::string_view word) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> ranks;
  for (std::size_t i = 0; i < merges.size(); ++i) ranks[{merges[i].left, merges[i].right}] = i;
  Ids ids;
  for (const char byte : word) ids.push_back(static_cast<unsigned char>(byte));
  while (true) {
    std::size_t best = merges.size();
    std::size_t place = 0;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      const auto found = ranks.find({ids[i], ids[i + 1]});
      if (found == ranks.end() || found->second >= best) continue;
      best = found->second;
      place = i;
    }
    if (best == merges.size()) return ids;
    ids[place] = merges[best].joined;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
}

TEST(BytePairs, TheFirstMergeGoesFirstAndFromTheLeft) {
  const BytePairs pairs(Bytes(),
                        {{'b', 'c', 256}, {'a', 'b', 257}, {'a', 'a', 258}, {257, 'c', 259}});
  EXPECT_THAT(Encoded(pairs, "abc"), ElementsAre('a', 256));  // 259 is never reached
  EXPECT_THAT(Encoded(pairs, "ab"), ElementsAre(257));
  EXPECT_THAT(Encoded(pairs, "aaa"), ElementsAre(258, 'a'));
  EXPECT_THAT(Encoded(pairs, "aab"), ElementsAre('a', 257));
  EXPECT_THAT(Encoded(pairs, "x"), ElementsAre('x'));
  EXPECT_THAT(Encoded(pairs, ""), ElementsAre());
}

TEST(BytePairs, OfTwoMergesOfOnePairTheLaterOneCounts) {
  const BytePairs pairs(Bytes(), {{'a', 'b', 256}, {'b', 'c', 257}, {'a', 'b', 256}});
  EXPECT_THAT(Encoded(pairs, "abc"), ElementsAre('a', 257));
}

TEST(BytePairs, DrawnMergesAreDoneAsTheRuleSays) {
  base::Rng rng(11);
  for (int round = 0; round < 200; ++round) {
    // Each id has one text, as in a vocabulary: else a merge could come back.
    std::map<std::string, std::uint32_t> texts = {{"a", 'a'}, {"b", 'b'}, {"c", 'c'}};
    std::vector<TokenMerge> merges;
    for (int i = 0; i < 12; ++i) {
      const auto draw = [&] {
        return *std::next(texts.begin(), static_cast<int>(rng.Below(texts.size())));
      };
      const auto left = draw();
      const auto right = draw();
      const auto joined = texts.emplace(left.first + right.first, 256 + texts.size()).first->second;
      merges.push_back({left.second, right.second, joined});
    }
    const BytePairs pairs(Bytes(), merges);
    for (int i = 0; i < 20; ++i) {
      std::string word;
      for (std::uint64_t left = rng.Below(40); left > 0; --left) word += "abc"[rng.Below(3)];
      ASSERT_EQ(Encoded(pairs, word), Naively(merges, word)) << word;
    }
  }
}

TEST(BytePairs, ALongWordTakesLittleTime) {
  std::vector<TokenMerge> merges = {{'a', 'a', 256}};
  for (std::uint32_t i = 256; i < 274; ++i) merges.push_back({i, i, i + 1});
  const std::string word(std::size_t{1} << 20, 'a');
  EXPECT_THAT(Encoded(BytePairs(Bytes(), merges), word), ElementsAre(274, 274));
}

}  // namespace
}  // namespace ostraka::train::byte_pairs_test
