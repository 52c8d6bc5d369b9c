// tests/vectors/tokenizers.json (by write_golden.py) has ids of the library; the rest is what is
// refused.
#include "node/train/tokens/tokenizer_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/unit/train/tokens/made_tokenizer.h"

namespace ostraka::train::tokenizer_json_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

json Golden() { return json::parse(std::ifstream("tests/vectors/tokenizers.json")); }

// One that is read.
json Good() {
  const TokenizerParts parts = MadeParts({{"a", "b"}});
  json file = {{"version", "1.0"},
               {"added_tokens", json::array()},
               {"normalizer", nullptr},
               {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
               {"decoder", {{"type", "ByteLevel"}}},
               {"model", {{"type", "BPE"}, {"vocab", json::object()}, {"merges", {"a b"}}}}};
  for (const auto& [name, id] : parts.vocabulary) file["model"]["vocab"][name] = id;
  file["added_tokens"] = {
      {{"id", 257}, {"content", "<x>"}, {"normalized", false}, {"special", true}}};
  return file;
}

std::string Refusal(const std::string& text) {
  const base::Status status = ParseTokenizer(text).status();
  EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kInvalidArgument);
  return base::MessageOf(status);
}

// Of a file in which the value at `path` is another one.
std::string RefusalWith(const std::string& path, const json& value) {
  json file = Good();
  file[json::json_pointer(path)] = value;
  return Refusal(file.dump());
}

TEST(TokenizerJson, IdsAreThoseOfTheLibrary) {
  const json golden = Golden();
  std::size_t compared = 0;
  for (const json& each : golden["cases"]) {
    const auto tokenizer = ParseTokenizer(each["tokenizer"].dump());
    ASSERT_TRUE(tokenizer.ok()) << each["name"] << tokenizer.status();
    for (const json& pair : each["texts"]) {
      EXPECT_EQ(json(tokenizer->Encode(pair[0].get<std::string>()).value()), pair[1])
          << each["name"] << pair;
      ++compared;
    }
  }
  EXPECT_GT(compared, 400U);
}

TEST(TokenizerJson, OtherKindsAreRefusedWithTheNameOfWhatPacksThem) {
  const auto other = [](const char* what) {
    return AllOf(HasSubstr(what), HasSubstr("ostraka.data.pack in Python packs by any tokenizer"));
  };
  ASSERT_EQ(Refusal(Good().dump()), "");
  EXPECT_THAT(RefusalWith("/model/type", "Unigram"), other("no BPE, but Unigram"));
  EXPECT_THAT(RefusalWith("/model/type", "a\nb"), other("no BPE, but another one"));
  EXPECT_THAT(RefusalWith("/model/vocab", json::array()), other("no BPE"));  // as Unigram's
  EXPECT_THAT(RefusalWith("/model", json{{"type", "BPE"}}), other("vocab and merges"));
  EXPECT_THAT(RefusalWith("/model/dropout", 0.1), other("dropout"));
  EXPECT_THAT(RefusalWith("/model/byte_fallback", true), other("byte_fallback"));
  EXPECT_THAT(RefusalWith("/model/continuing_subword_prefix", "##"),
              other("continuing_subword_prefix"));
  EXPECT_THAT(RefusalWith("/model/end_of_word_suffix", "</w>"), other("end_of_word_suffix"));
  EXPECT_THAT(RefusalWith("/normalizer", {{"type", "NFKC"}}), other("not NFC, but NFKC"));
  EXPECT_THAT(RefusalWith("/pre_tokenizer", nullptr), other("pre_tokenizer"));
  EXPECT_THAT(RefusalWith("/pre_tokenizer/type", "Whitespace"), other("Whitespace"));
  EXPECT_THAT(RefusalWith("/pre_tokenizer/add_prefix_space", true), other("add_prefix_space"));
  EXPECT_THAT(RefusalWith("/pre_tokenizer", {{"type", "ByteLevel"}}), other("add_prefix_space"));
  EXPECT_THAT(RefusalWith("/pre_tokenizer/use_regex", false), other("cuts no words"));
  EXPECT_THAT(RefusalWith("/decoder", {{"type", "WordPiece"}}), other("decoder"));
  for (const char* flag : {"lstrip", "rstrip", "single_word"}) {
    EXPECT_THAT(RefusalWith(std::string("/added_tokens/0/") + flag, true), other(flag));
  }
  EXPECT_THAT(RefusalWith("/truncation", {{"max_length", 5}}), HasSubstr("set truncation to null"));
  EXPECT_THAT(RefusalWith("/padding", json::object()), HasSubstr("set padding to null"));
}

TEST(TokenizerJson, OfASequenceOnlyAKnownSplitAndThenBytes) {
  const json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  const json split = Golden()["cases"][2]["tokenizer"]["pre_tokenizer"]["pretokenizers"][0];
  ASSERT_EQ(split["type"], "Split");
  const auto refusal = [](const json& steps) {
    return RefusalWith("/pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", steps}});
  };
  EXPECT_EQ(refusal({split, bytes}), "");
  EXPECT_THAT(refusal(json::array({split})), HasSubstr("pre_tokenizer"));
  EXPECT_THAT(refusal({bytes, split}), HasSubstr("not Split and then ByteLevel"));
  EXPECT_THAT(refusal({split, bytes, bytes}), HasSubstr("not Split and then ByteLevel"));
  json cut_twice = bytes;
  cut_twice["use_regex"] = true;
  EXPECT_THAT(refusal({split, cut_twice}), HasSubstr("cuts words twice"));
  for (const auto& [path, value] :
       std::vector<std::pair<const char*, json>>{{"/pattern/Regex", "a+"},
                                                 {"/pattern", {{"String", " "}}},
                                                 {"/behavior", "Removed"},
                                                 {"/invert", true}}) {
    json changed = split;
    changed[json::json_pointer(path)] = value;
    EXPECT_THAT(refusal({changed, bytes}), HasSubstr("by another expression")) << path;
  }
}

TEST(TokenizerJson, WhatIsNoTokenizerIsRefusedInOneLine) {
  const std::string good = Good().dump();
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("7"), std::string("{}"),
        good.substr(0, good.size() / 2), good + "x",
        std::string("{\"model\":{\"vocab\":{\"\xff\":1}}}"), std::string(1'000'000, '['),
        R"({"model":{"vocab":{},"vocab":{}}})" + std::string(),
        std::string(R"({"a/b":[1,{"c":[]}]})"),
        std::string(R"({"model":{"vocab":{"a":-1},"merges":[]}})"),
        std::string(R"({"model":{"vocab":{"a":[1]}}})"), std::string(R"({"model":{"vocab":[1]}})"),
        std::string(R"({"model":{"merges":{"a":"b"}}})"),
        std::string(R"({"model":{"vocab":{"a":4294967296}}})")}) {
    const std::string message = Refusal(text);
    EXPECT_NE(message, "") << text.substr(0, 50);
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
  for (const json& merges : std::vector<json>{{"a b c"},
                                              {"ab"},
                                              {1},
                                              {{"a"}},
                                              {{"a", "b", "c"}},
                                              {{"a", 1}},
                                              {{"a", {"b"}}},
                                              {json::object()}}) {
    EXPECT_THAT(RefusalWith("/model/merges", merges), HasSubstr("merge")) << merges;
  }
  EXPECT_EQ(RefusalWith("/model/merges", {"#version: 0.2", "a b"}), "");
  EXPECT_EQ(RefusalWith("/model/merges", json::array({{"a", "b"}})), "");
  for (const json& added :
       std::vector<json>{{{"id", 257}},
                         {{"id", 257}, {"content", "x"}},
                         {{"id", "x"}, {"content", "x"}, {"normalized", false}},
                         {{"id", 257}, {"content", 1}, {"normalized", false}}}) {
    EXPECT_THAT(RefusalWith("/added_tokens/0", added), HasSubstr("added token")) << added;
  }
  EXPECT_THAT(RefusalWith("/added_tokens", {1}), HasSubstr("added token"));
  EXPECT_THAT(RefusalWith("/added_tokens", {{"a", 1}}), HasSubstr("added token"));
  EXPECT_THAT(RefusalWith("/model/ignore_merges", 1), HasSubstr("ignore_merges"));
}

TEST(TokenizerJson, LimitsHoldBeforeMemoryIsTaken) {
  json many = json::object();
  for (std::size_t i = 0; i < 5000; ++i) many["k" + std::to_string(i)] = 1;
  EXPECT_THAT(RefusalWith("/decoder/more", many), HasSubstr("more than a tokenizer does"));
  EXPECT_EQ(RefusalWith("/post_processor", many), "");
  std::string tokens = R"({"model":{"vocab":{)";
  std::string merges = R"({"model":{"merges":[)";
  for (std::size_t i = 0; i <= kMaxTokens; ++i) {
    tokens += "\"" + std::to_string(i) + "\":1,";
    merges += "\"a b\",";
  }
  EXPECT_THAT(Refusal(tokens), HasSubstr("has more than 1048576 tokens"));
  EXPECT_THAT(Refusal(merges), HasSubstr("has more than 1048576 merges"));
  EXPECT_THAT(Refusal(std::string(kMaxTokenizerBytes + 1, ' ')), HasSubstr("more than 64 MiB"));
}

}  // namespace
}  // namespace ostraka::train::tokenizer_json_test
