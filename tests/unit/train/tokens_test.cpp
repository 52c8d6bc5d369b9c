// Records of tokens: how a text is cut, the packed file, the hash.
#include "node/train/tokens/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "crypto/merkle.h"
#include "node/base/rng.h"

namespace ostraka::train::tokens_test {
namespace {

using ::testing::HasSubstr;

base::Bytes Numbered(std::size_t size) {
  base::Bytes text(size);
  base::Rng rng(size);
  for (auto& byte : text) byte = static_cast<std::uint8_t>(rng.Below(256));
  return text;
}

base::Bytes BytesOf(const std::string& text) { return {text.begin(), text.end()}; }

std::string Refusal(const base::Bytes& file) {
  return base::MessageOf(ParseRecords(file).status());
}

TEST(RecordsOfText, EachByteOfAStretchIsATargetOnceAndNoneCrossesABorder) {
  const base::Bytes text = Numbered(1000);
  const Dataset data = RecordsOf(text, 9).value();
  // 800 bytes train: 88 records of 9 targets, and 100 are held out twice: 11 records each.
  ASSERT_EQ(data.training.size(), 88u);
  ASSERT_EQ(data.validation.size(), 11u);
  ASSERT_EQ(data.test.size(), 11u);
  EXPECT_EQ(data.class_count, 256u);
  const auto expect_at = [&](const Examples& part, std::size_t index, std::size_t begin) {
    for (std::size_t t = 0; t < 9; ++t) ASSERT_EQ(part.image(index)[t], text[begin + t]);
    ASSERT_EQ(part.labels[index], text[begin + 9]);
  };
  for (std::size_t i = 0; i < 88; ++i) expect_at(data.training, i, 9 * i);
  for (std::size_t i = 0; i < 11; ++i) expect_at(data.validation, i, 800 + 9 * i);
  for (std::size_t i = 0; i < 11; ++i) expect_at(data.test, i, 900 + 9 * i);
}

TEST(RecordsOfTokens, AreCutAsTheBytesOfATextAre) {
  const base::Bytes text = Numbered(1000);
  const std::vector<std::uint32_t> tokens(text.begin(), text.end());
  const Dataset narrow = RecordsOf(text, 9).value();
  for (const std::uint32_t vocabulary : {256U, 65'536U, 65'537U}) {
    const Dataset wide = RecordsOfTokens(tokens, vocabulary, 9).value();
    EXPECT_EQ(wide.class_count, vocabulary);
    EXPECT_EQ(wide.training.value_bytes, vocabulary > 65'536 ? 4U : 2U);
    ASSERT_EQ(wide.training.size(), narrow.training.size());
    ASSERT_EQ(wide.test.size(), narrow.test.size());
    for (std::size_t t = 0; t <= 9; ++t) {
      ASSERT_EQ(TokenOf(wide.training, 87, t), TokenOf(narrow.training, 87, t));
      ASSERT_EQ(TokenOf(wide.test, 10, t), TokenOf(narrow.test, 10, t));
    }
    EXPECT_EQ(HashOfRecords(ParseRecords(PackRecords(wide)).value()), HashOfRecords(wide));
  }
  EXPECT_THAT(base::MessageOf(RecordsOfTokens(std::span(tokens).first(99), 256, 9).status()),
              HasSubstr("too short: 99 tokens"));
  EXPECT_FALSE(RecordsOfTokens({}, 0, 9).ok());
}

TEST(RecordsOfText, HeldOutPartsHaveAMaximum) {
  const Dataset data = RecordsOf(Numbered(20'000), 3).value();
  EXPECT_EQ(data.validation.size(), kMaxHeldOutRecords);
  EXPECT_EQ(data.test.size(), kMaxHeldOutRecords);
  EXPECT_GT(data.training.size(), 5000u);
}

TEST(RecordsOfText, TooShortOrTooLongIsRefused) {
  EXPECT_TRUE(RecordsOf(Numbered(100), 9).ok());
  EXPECT_THAT(base::MessageOf(RecordsOf(Numbered(99), 9).status()), HasSubstr("too short"));
  EXPECT_THAT(base::MessageOf(RecordsOf(Numbered(100), 0).status()), HasSubstr("1 to 65536"));
  EXPECT_FALSE(RecordsOf(Numbered(100), kMaxContext + 1).ok());
}

TEST(PackedRecords, GoToAFileAndBack) {
  for (const std::uint32_t context : {1U, 9U, 64U}) {
    const Dataset data = RecordsOf(Numbered(5000), context).value();
    const base::Bytes file = PackRecords(data);
    EXPECT_TRUE(LooksPacked(file));
    const Dataset read = ParseRecords(file).value();
    EXPECT_EQ(read.training.values, data.training.values);
    EXPECT_EQ(read.validation.values, data.validation.values);
    EXPECT_EQ(read.test.labels, data.test.labels);
    EXPECT_EQ(HashOfRecords(read), HashOfRecords(data));
    EXPECT_EQ(PackRecords(read), file);
  }
  EXPECT_FALSE(LooksPacked(Numbered(5000)));
  base::Bytes damaged = PackRecords(RecordsOf(Numbered(5000), 9).value());
  for (const std::size_t at : {0U, 3U, 15U, 22U}) {
    damaged[at] ^= 1;
    EXPECT_TRUE(LooksPacked(damaged)) << "a damaged file is no text";
    EXPECT_THAT(Refusal(damaged), HasSubstr("is no packed file"));
  }
}

TEST(PackedRecords, OtherFilesAreRefused) {
  const std::string good = "ostraka-tokens 1 bytes 2 1 1 1\nabcdefghi";
  ASSERT_TRUE(ParseRecords(BytesOf(good)).ok());
  EXPECT_THAT(Refusal(BytesOf("")), HasSubstr("is no packed file"));
  EXPECT_THAT(Refusal(BytesOf("ostraka-tokens 1 bytes 2 1 1 1")), HasSubstr("is no packed file"));
  EXPECT_THAT(Refusal(BytesOf(good.substr(0, good.size() - 1))), HasSubstr("not the 3 records"));
  EXPECT_THAT(Refusal(BytesOf(good + "jkl")), HasSubstr("not the 3 records"));
  for (const char* line : {"02 1 1 1", "2 1 1 1 ", "2  1 1 1", "2 1 1", "2 1 1 1 1", "2,1,1,1"}) {
    const auto reason =
        Refusal(BytesOf("ostraka-tokens 1 bytes " + std::string(line) + "\nabcdefghi"));
    EXPECT_THAT(reason, HasSubstr("its first line")) << line;
  }
  EXPECT_THAT(Refusal(BytesOf("ostraka-tokens 1 bytes 0 1 1 1\nabc")), HasSubstr("1 to 65536"));
  EXPECT_THAT(Refusal(BytesOf("ostraka-tokens 1 bytes 2 18446744073709551615 1 3\nabcdefghi")),
              HasSubstr("cut short"));
}

// --- wider tokens -------------------------------------------------------------------------------

base::Bytes Wide(const std::string& line, const std::vector<std::uint32_t>& tokens,
                 std::size_t width) {
  base::Bytes file = BytesOf(line);
  for (const std::uint32_t token : tokens) {
    for (std::size_t i = 0; i < width; ++i)
      file.push_back(static_cast<std::uint8_t>(token >> (8 * i)));
  }
  return file;
}

TEST(WideTokens, AreReadAndPackedAgain) {
  const std::vector<std::uint32_t> of_gpt2 = {50256, 1, 2, 300, 4, 5, 6, 256, 8};
  const base::Bytes file = Wide("ostraka-tokens 2 u16 50257 2 1 1 1\n", of_gpt2, 2);
  EXPECT_TRUE(LooksPacked(file));
  const Dataset data = ParseRecords(file).value();
  EXPECT_EQ(data.class_count, 50257U);
  EXPECT_EQ(data.shape.width, 2U);
  EXPECT_EQ(data.training.size(), 1U);
  EXPECT_EQ(data.test.size(), 1U);
  EXPECT_EQ(TokenOf(data.training, 0, 0), 50256U);
  EXPECT_EQ(TokenOf(data.training, 0, 2), 2U) << "the label";
  EXPECT_EQ(TokenOf(data.validation, 0, 0), 300U);
  EXPECT_EQ(TokenOf(data.test, 0, 1), 256U);
  EXPECT_EQ(PackRecords(data), file);

  const std::vector<std::uint32_t> of_qwen = {151'935, 70'000, 3, 4, 5, 6, 7, 8, 9};
  const base::Bytes wider = Wide("ostraka-tokens 2 u32 151936 2 1 1 1\n", of_qwen, 4);
  const Dataset more = ParseRecords(wider).value();
  EXPECT_EQ(TokenOf(more.training, 0, 0), 151'935U);
  EXPECT_EQ(TokenOf(more.training, 0, 1), 70'000U);
  EXPECT_EQ(PackRecords(more), wider);
  EXPECT_NE(HashOfRecords(more), HashOfRecords(data));
}

TEST(WideTokens, HaveANameThatNoBytesHave) {
  const std::vector<std::uint32_t> tokens = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const Dataset bytes = ParseRecords(Wide("ostraka-tokens 1 bytes 2 1 1 1\n", tokens, 1)).value();
  const Dataset wide = ParseRecords(Wide("ostraka-tokens 2 u16 256 2 1 1 1\n", tokens, 2)).value();
  const Dataset larger =
      ParseRecords(Wide("ostraka-tokens 2 u16 257 2 1 1 1\n", tokens, 2)).value();
  EXPECT_NE(HashOfRecords(bytes), HashOfRecords(wide));
  EXPECT_NE(HashOfRecords(wide), HashOfRecords(larger));
  // Computed by proofs/verifier/texts.py.
  EXPECT_EQ(HashOfRecords(wide).Hex(),
            "2fe3195d0081f7145e39a59de203ffa59a827ba904bf2b4583f86f38b1ecdb0b");
}

TEST(WideTokens, BeyondTheirVocabularyOrOfAnotherWidthAreRefused) {
  const std::vector<std::uint32_t> tokens = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const auto refused = [&](const std::string& line, std::size_t width) {
    return Refusal(Wide("ostraka-tokens 2 " + line + "\n", tokens, width));
  };
  EXPECT_THAT(refused("u16 9 2 1 1 1", 2), HasSubstr("has the token 9, and a vocabulary of 9"));
  EXPECT_THAT(refused("u16 65537 2 1 1 1", 2), HasSubstr("its vocabulary is 65537"));
  EXPECT_THAT(refused("u32 65536 2 1 1 1", 4), HasSubstr("its vocabulary is 65536"));
  EXPECT_THAT(refused("u16 0 2 1 1 1", 2), HasSubstr("its vocabulary is 0"));
  EXPECT_THAT(refused("u32 2147483648 2 1 1 1", 4), HasSubstr("its vocabulary is 2147483648"));
  EXPECT_THAT(refused("u16 10 2 1 1", 2), HasSubstr("its first line"));
  EXPECT_THAT(refused("u16 010 2 1 1 1", 2), HasSubstr("not canonical"));
  EXPECT_THAT(refused("u64 10 2 1 1 1", 2), HasSubstr("is no packed file"));
  EXPECT_THAT(refused("u16 10 2 1 1 1", 4), HasSubstr("not the 3 records"));
  EXPECT_THAT(refused("u32 70000 2 1 1 1", 2), HasSubstr("not the 3 records"));
}

TEST(HashOfRecordsTest, CoversEveryRecordAndThePartItIsIn) {
  const Dataset data = RecordsOf(Numbered(5000), 9).value();
  const base::Digest hash = HashOfRecords(data);
  EXPECT_EQ(HashOf(data), hash);
  Dataset other = data;
  other.training.values[17] ^= 1;
  EXPECT_NE(HashOfRecords(other), hash);
  other = data;
  other.test.labels.back() ^= 1;
  EXPECT_NE(HashOfRecords(other), hash);
  other = data;  // the last record for training moves to the validation part: the same leaves
  other.validation.values.insert(other.validation.values.begin(), data.training.values.end() - 9,
                                 data.training.values.end());
  other.validation.labels.insert(other.validation.labels.begin(), data.training.labels.back());
  other.training.values.resize(other.training.values.size() - 9);
  other.training.labels.pop_back();
  EXPECT_EQ(LeavesOfRecords(other), LeavesOfRecords(data));
  EXPECT_NE(HashOfRecords(other), hash);
  other = data;  // the first record for tests moves to the validation part
  other.validation.values.insert(other.validation.values.end(), data.test.values.begin(),
                                 data.test.values.begin() + 9);
  other.validation.labels.push_back(data.test.labels.front());
  other.test.values.erase(other.test.values.begin(), other.test.values.begin() + 9);
  other.test.labels.erase(other.test.labels.begin());
  EXPECT_EQ(LeavesOfRecords(other), LeavesOfRecords(data));
  EXPECT_NE(HashOfRecords(other), hash);
}

TEST(HashOfRecordsTest, APathProvesOneRecord) {
  const Dataset data = RecordsOf(Numbered(5000), 9).value();
  const std::vector<base::Digest> leaves = LeavesOfRecords(data);
  const base::Digest root = crypto::MerkleRoot(leaves);
  base::Bytes record(data.training.image(7).begin(), data.training.image(7).end());
  record.push_back(data.training.labels[7]);
  const auto path = crypto::MerklePath(leaves, 7);
  EXPECT_TRUE(crypto::VerifyMerklePath(root, crypto::ChunkLeaf(record), 7, leaves.size(), path));
  record[3] ^= 1;
  EXPECT_FALSE(crypto::VerifyMerklePath(root, crypto::ChunkLeaf(record), 7, leaves.size(), path));
}

}  // namespace
}  // namespace ostraka::train::tokens_test
