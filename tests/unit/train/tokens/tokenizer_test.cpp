#include "node/train/tokens/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/unit/train/tokens/made_tokenizer.h"

namespace ostraka::train::tokenizer_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Ids = std::vector<std::uint32_t>;

Ids Encoded(const TokenizerParts& parts, std::string_view text) {
  return Tokenizer::Make(parts).value().Encode(text).value();
}

std::string Refusal(const TokenizerParts& parts) {
  return base::MessageOf(Tokenizer::Make(parts).status());
}

const std::string kBlank = CharacterOf(' ');

TEST(Tokenizer, WordsAreMergedWithinThemselves) {
  const TokenizerParts parts = MadeParts({{"a", "b"}, {kBlank, "ab"}, {"b", kBlank}});
  EXPECT_THAT(Encoded(parts, "ab ab b b"), ElementsAre(256, 257, ' ', 'b', ' ', 'b'));
  EXPECT_THAT(Encoded(parts, ""), ElementsAre());
  EXPECT_THAT(Encoded(parts, "\n\xc3\xa9"), ElementsAre('\n', 0xc3, 0xa9));
}

TEST(Tokenizer, WhatIsEncodedIsDecodedToTheText) {
  const Tokenizer tokenizer =
      Tokenizer::Make(MadeParts({{"a", "b"}, {CharacterOf(0xc3), CharacterOf(0xa9)}})).value();
  const std::string text = "ab \xc3\xa9\xc3\xab \xf0\x9f\x98\x80\n";
  const Ids ids = tokenizer.Encode(text).value();
  std::string decoded;
  for (const std::uint32_t id : ids) decoded += tokenizer.BytesOf(id);
  EXPECT_EQ(decoded, text);
  EXPECT_EQ(tokenizer.vocabulary(), 258U);
  EXPECT_FALSE(tokenizer.Has(258));
}

TEST(Tokenizer, AWordThatIsATokenNeedsNoMergeIfMergesAreIgnored) {
  TokenizerParts parts = MadeParts({{"a", "b"}, {"ab", "c"}});
  parts.merges.pop_back();
  EXPECT_THAT(Encoded(parts, "abc"), ElementsAre(256, 'c'));
  parts.ignore_merges = true;
  EXPECT_THAT(Encoded(parts, "abc abcd"), ElementsAre(257, ' ', 256, 'c', 'd'));
}

TEST(Tokenizer, AddedTokensAreFoundAsTheyStandAndThenInTheNormalizedText) {
  TokenizerParts parts = MadeParts({});
  parts.added = {{"<|end|>", 256, false}, {"e\xcc\x81", 257, true}, {"e\xcc\x81!", 258, false}};
  EXPECT_THAT(Encoded(parts, "a<|end|>e\xcc\x81"), ElementsAre('a', 256, 257));
  EXPECT_THAT(Encoded(parts, "\xc3\xa9"), ElementsAre(0xc3, 0xa9));
  parts.nfc = true;
  EXPECT_THAT(Encoded(parts,
                      "\xc3\xa9"
                      "e\xcc\x81"
                      "a\xcc\x81"),
              ElementsAre(257, 257, 0xc3, 0xa1));
  EXPECT_THAT(Encoded(parts, "\xc3\xa9!e\xcc\x81!"), ElementsAre(257, '!', 258));
}

TEST(Tokenizer, TextsThatItCannotReadAreRefused) {
  const Tokenizer tokenizer = Tokenizer::Make(MadeParts({})).value();
  EXPECT_THAT(base::MessageOf(tokenizer.Encode("ab\xff").status()),
              HasSubstr("no UTF-8 at byte 2"));
  const auto long_word = tokenizer.Encode("x " + std::string(kMaxWordBytes + 1, 'a'));
  EXPECT_THAT(base::MessageOf(long_word.status()), HasSubstr("a word of"));
}

TEST(Tokenizer, PartsThatMakeNoTokenizerAreRefused) {
  const TokenizerParts good = MadeParts({{"a", "b"}});
  const auto with = [&good](const std::function<void(TokenizerParts&)>& change) {
    TokenizerParts parts = good;
    change(parts);
    return Refusal(parts);
  };
  using Parts = TokenizerParts&;
  EXPECT_EQ(Refusal(good), "");
  EXPECT_THAT(with([](Parts p) { p.vocabulary.erase(p.vocabulary.begin() + 3); }),
              HasSubstr("no token for the byte 3"));
  EXPECT_THAT(with([](Parts p) { p.vocabulary.push_back(p.vocabulary[5]); }),
              HasSubstr("a token twice"));
  EXPECT_THAT(with([](Parts p) { p.vocabulary.emplace_back("xy", 7); }),
              HasSubstr("the id 7 twice"));
  EXPECT_THAT(with([](Parts p) { p.vocabulary.emplace_back("xy", kMaxTokens); }),
              HasSubstr("ids are below"));
  EXPECT_THAT(with([](Parts p) { p.vocabulary.emplace_back("xy", 0xffffffff); }),
              HasSubstr("ids are below"));
  for (const auto& merge : {std::pair("a", "x"), {"", "ab"}, {"ab", ""}, {"zz", "a"}}) {
    EXPECT_THAT(with([&merge](Parts p) { p.merges.emplace_back(merge.first, merge.second); }),
                HasSubstr("a merge, number 2"))
        << merge.first;
  }
  EXPECT_THAT(with([](Parts p) { p.added = {{"", 257, false}}; }), HasSubstr("1 to 1024 bytes"));
  EXPECT_THAT(with([](Parts p) {
                p.added = {{std::string(1025, 'x'), 257, false}};
              }),
              HasSubstr("1 to 1024 bytes"));
  EXPECT_THAT(with([](Parts p) {
                p.added = {{"<x>", 258, false}};
              }),
              HasSubstr("the library gives it 257"));
  EXPECT_THAT(with([](Parts p) {
                p.added = {{"ab", 257, false}};
              }),
              HasSubstr("the library gives it 256"));
  EXPECT_THAT(with([](Parts p) {
                p.added = {{"<x>", 257, false}, {"<x>", 258, false}};
              }),
              HasSubstr("an added token twice"));
  EXPECT_THAT(with([](Parts p) {
                p.added = {{CharacterOf(0xe9), 0xe9, false}};
              }),
              HasSubstr("other bytes"));
  EXPECT_EQ(with([](Parts p) { p.added = {{"<x>", 257, false}, {"ab", 256, false}}; }), "");
  // The library counts tokens, and so may meet an id that a vocabulary with holes has.
  EXPECT_THAT(with([](Parts p) {
                p.vocabulary.back().second = 258;
                p.added = {{"<x>", 257, false}, {"<y>", 258, false}};
              }),
              HasSubstr("the id 258 twice"));
}

}  // namespace
}  // namespace ostraka::train::tokenizer_test
