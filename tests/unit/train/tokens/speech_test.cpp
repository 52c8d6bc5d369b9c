#include "node/train/tokens/speech.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ostraka::train::speech_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Each byte is a token, by the alphabet of bytes; and "ab" is one, 256.
Tokenizer ByteTokenizer() {
  TokenizerParts parts;
  std::uint32_t next = 0;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    const bool seen = (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte != 0xad);
    const std::uint32_t code = seen ? byte : 256 + next++;
    std::string letter;
    if (code < 0x80) {
      letter += static_cast<char>(code);
    } else {
      letter += static_cast<char>(0xc0 | (code >> 6));
      letter += static_cast<char>(0x80 | (code & 0x3f));
    }
    parts.vocabulary.emplace_back(letter, byte);
  }
  parts.vocabulary.emplace_back("ab", 256);
  parts.merges = {{"a", "b"}};
  return Tokenizer::Make(std::move(parts)).value();
}

TEST(Speech, OfBytes) {
  const Speech speech(128);
  EXPECT_THAT(*speech.TokensOf("Hi"), ElementsAre('H', 'i'));
  EXPECT_THAT(*speech.TokensOf(""), ElementsAre('\n'));
  EXPECT_THAT(base::MessageOf(speech.TokensOf("\xc3").status()), HasSubstr("the byte 195"));
  EXPECT_EQ(speech.BytesOf('H'), "H");
  EXPECT_TRUE(speech.Knows(255));
  EXPECT_FALSE(speech.Knows(256));
}

TEST(Speech, ByATokenizer) {
  const Speech speech = Speech::By(ByteTokenizer(), 300).value();
  EXPECT_THAT(*speech.TokensOf("cab"), ElementsAre('c', 256));
  EXPECT_THAT(*speech.TokensOf(""), ElementsAre('\n'));
  EXPECT_EQ(speech.BytesOf(256), "ab");
  EXPECT_EQ(speech.BytesOf('\n'), "\n");
  EXPECT_TRUE(speech.Knows(256));
  EXPECT_FALSE(speech.Knows(257));
  EXPECT_THAT(base::MessageOf(Speech::By(ByteTokenizer(), 256).status()),
              HasSubstr("has 257 tokens, and the model only 256"));
}

TEST(TokenizerBeside, IsTheFilesOwn) {
  EXPECT_EQ(TokenizerBeside("a/book.tokens"), "a/book.tokens.tokenizer.json");
}

}  // namespace
}  // namespace ostraka::train::speech_test
