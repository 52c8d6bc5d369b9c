#include "node/train/tokens/tokenizer_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "node/train/tokens/tokenizer_json.h"

namespace ostraka::train::tokenizer_file_test {
namespace {

using ::testing::HasSubstr;

TEST(TokenizerFile, IsReadAndNamedByItsBytes) {
  const auto golden = nlohmann::json::parse(std::ifstream("tests/vectors/tokenizers.json"));
  const std::string good = golden["cases"][0]["tokenizer"].dump();
  const std::string path = testing::TempDir() + "/tokenizer.json";
  std::ofstream(path) << good;
  const TokenizerFile file = ReadTokenizerFile(path).value();
  EXPECT_EQ(file.text, good);
  EXPECT_EQ(file.tokenizer.vocabulary(), ParseTokenizer(good).value().vocabulary());
  EXPECT_EQ(HashOfTokenizer(file.text), HashOfTokenizer(good));
  EXPECT_NE(HashOfTokenizer(good + " "), HashOfTokenizer(good));
}

TEST(TokenizerFile, WhatCannotBeReadIsNamed) {
  EXPECT_EQ(ReadTokenizerFile("tests").status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(base::MessageOf(ReadTokenizerFile("tests/none").status()),
              HasSubstr("tests/none is no file"));
  EXPECT_THAT(base::MessageOf(ReadTokenizerFile("tests/vectors/lamb.json").status()),
              HasSubstr("tests/vectors/lamb.json has no model"));
  const std::string path = testing::TempDir() + "/large.json";
  std::ofstream(path) << std::string(kMaxTokenizerBytes + 1, ' ');
  EXPECT_THAT(base::MessageOf(ReadTokenizerFile(path).status()), HasSubstr("more than 64 MiB"));
}

}  // namespace
}  // namespace ostraka::train::tokenizer_file_test
