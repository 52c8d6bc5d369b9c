#include "node/train/tokens/token_finder.h"

#include <gtest/gtest.h>

namespace ostraka::train::token_finder_test {
namespace {

void ExpectFound(const TokenFinder& finder, std::string_view text, std::size_t begin,
                 std::uint32_t id) {
  const auto found = finder.FindIn(text);
  ASSERT_TRUE(found) << text;
  EXPECT_EQ(found->begin, begin) << text;
  EXPECT_EQ(found->id, id) << text;
}

TEST(TokenFinder, TheLongestOfTheLeftmost) {
  const TokenFinder finder(
      {{"<|end|>", 1}, {"<|", 2}, {"<|end|>\n", 3}, {"d|>", 4}, {"\xc3\xa9", 5}});
  ExpectFound(finder, "x<|end|>", 1, 1);
  ExpectFound(finder, "<|end|>\n", 0, 3);
  ExpectFound(finder, "<|en<|end|>", 0, 2);
  ExpectFound(finder, "<end|>", 3, 4);
  ExpectFound(finder, "caf\xc3\xa9", 3, 5);
  EXPECT_FALSE(finder.FindIn("<end>"));
  EXPECT_FALSE(finder.FindIn(""));
  EXPECT_FALSE(TokenFinder({}).FindIn("abc"));
}

TEST(TokenFinder, ManyAlikeTakeLittleTime) {
  std::vector<LiteralToken> tokens;
  for (std::uint32_t i = 1; i <= 1000; ++i) tokens.push_back({std::string(i, 'a') + "b", i});
  const TokenFinder finder(std::move(tokens));
  EXPECT_FALSE(finder.FindIn(std::string(5'000, 'a')));
  ExpectFound(finder, std::string(5'000, 'a') + "b", 4'000, 1000);
}

}  // namespace
}  // namespace ostraka::train::token_finder_test
