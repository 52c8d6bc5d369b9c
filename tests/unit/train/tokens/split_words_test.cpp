#include "node/train/tokens/split_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ostraka::train::split_words_test {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Words(std::string_view text, WordRule rule) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t bytes = FirstWord(text, rule);
    words.emplace_back(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  return words;
}

TEST(SplitWords, OnlyTheKnownExpressionsAreRules) {
  EXPECT_EQ(
      WordRuleOf(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"),
      WordRule::kGpt2);
  const std::string begin = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)";
  const std::string end = R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  EXPECT_EQ(WordRuleOf(begin + R"(\p{N}{1,3})" + end), WordRule::kLlama3);
  EXPECT_EQ(WordRuleOf(begin + R"(\p{N})" + end), WordRule::kQwen2);
  EXPECT_EQ(WordRuleOf(begin + R"(\p{N}{1,2})" + end), std::nullopt);
  EXPECT_EQ(WordRuleOf(""), std::nullopt);
}

TEST(SplitWords, Gpt2) {
  const auto words = [](std::string_view text) { return Words(text, WordRule::kGpt2); };
  EXPECT_THAT(words("It's 2026, they'RE"),
              ElementsAre("It", "'s", " 2026", ",", " they", "'", "RE"));
  EXPECT_THAT(words("a  b\n\n c  "), ElementsAre("a", " ", " b", "\n\n", " c", "  "));
  EXPECT_THAT(words("\t\tx"), ElementsAre("\t", "\t", "x"));
  EXPECT_THAT(words("12345 ½"), ElementsAre("12345", " ½"));
  EXPECT_THAT(words("   "), ElementsAre("   "));
  EXPECT_THAT(words("e\u0301!"), ElementsAre("e", "\u0301!"));
  EXPECT_THAT(words("\u3000\u3000x"), ElementsAre("\u3000", "\u3000", "x"));
}

TEST(SplitWords, Llama3AndQwen2) {
  const auto words = [](std::string_view text) { return Words(text, WordRule::kLlama3); };
  EXPECT_THAT(words("It'S they'lL 'x '"), ElementsAre("It", "'S", " they", "'lL", " '", "x", " '"));
  EXPECT_THAT(words("a'\u017fa"), ElementsAre("a", "'\u017f", "a"));  // the long s
  EXPECT_THAT(words("12345 6"), ElementsAre("123", "45", " ", "6"));
  EXPECT_THAT(Words("123 6", WordRule::kQwen2), ElementsAre("1", "2", "3", " ", "6"));
  EXPECT_THAT(words("(word) !?\r\n\nx"), ElementsAre("(word", ")", " !?\r\n\n", "x"));
  EXPECT_THAT(words("a  \n \n  b"), ElementsAre("a", "  \n \n", " ", " b"));
  EXPECT_THAT(words("\n\nword"), ElementsAre("\n\n", "word"));
  EXPECT_THAT(words("\tword  "), ElementsAre("\tword", "  "));
  EXPECT_THAT(words(" \u0301a"), ElementsAre(" \u0301", "a"));
  EXPECT_THAT(words("\u0301a"), ElementsAre("\u0301a"));
}

TEST(SplitWords, LongRunsTakeLittleTime) {
  for (const WordRule rule : {WordRule::kGpt2, WordRule::kLlama3, WordRule::kQwen2}) {
    const std::size_t many = 300'000;
    for (const char byte : {' ', '\n', 'a', '1', '\'', '!'}) {
      const std::string run(many, byte);
      EXPECT_LE(Words(run + "x", rule).size(), many + 1);
      EXPECT_LE(Words(run + " x", rule).size(), many + 2);
    }
  }
}

}  // namespace
}  // namespace ostraka::train::split_words_test
