#include "node/train/examples_file.h"
#include "node/train/columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "node/base/little_endian.h"

namespace ostraka::train::examples_file_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kLines[] =
    "tokens u16[3] 0 30522\n"
    "targets u8[] -1 3\n"
    "pixels p8[1,2]\n"
    "weights f32[2]\n";

base::Bytes BytesOf(const std::string& text) { return {text.begin(), text.end()}; }

// 6 + 1 + 2 + 8 bytes.
base::Bytes Row(std::uint32_t token, std::uint8_t target, std::uint8_t pixel, float weight) {
  base::Bytes row;
  for (std::uint32_t i = 0; i < 3; ++i) base::AppendLittleEndian(row, token + i, 2);
  row.insert(row.end(), {target, pixel, 255});
  for (const float value : {weight, -weight}) {
    base::AppendLittleEndian(row, std::bit_cast<std::uint32_t>(value), 4);
  }
  return row;
}

base::Bytes File(const std::string& lines = kLines, const std::string& counts = "4 2 1 1",
                 const base::Bytes& last = Row(30519, 3, 51, 0.5F)) {
  base::Bytes file = BytesOf("ostraka-examples 1 " + counts + "\n" + lines);
  for (const base::Bytes& row :
       {Row(0, 0, 0, 1.0F), Row(7, 1, 128, 2.0F), Row(9, 2, 255, -0.0F), last}) {
    file.insert(file.end(), row.begin(), row.end());
  }
  return file;
}

std::string Refusal(const base::Bytes& file) {
  const auto data = ParseExamples(file);
  return data.ok() ? "accepted" : base::MessageOf(data.status());
}

TEST(ExamplesFile, HasItsColumnsInEachRow) {
  const Dataset data = ParseExamples(File()).value();
  EXPECT_EQ(data.name, kExamples);
  ASSERT_EQ(data.columns.size(), 4u);
  std::string lines;
  for (const Column& column : data.columns) lines += TextOf(column) + "\n";
  EXPECT_EQ(lines, kLines);
  ASSERT_EQ(data.training.size(), 2u);
  ASSERT_EQ(data.validation.size(), 1u);
  ASSERT_EQ(data.test.size(), 1u);
  std::vector<std::int32_t> tokens(3);
  ReadIntegers(data.test.image(0), data.columns[0], tokens);
  EXPECT_THAT(tokens, ElementsAre(30519, 30520, 30521));
  std::vector<std::int32_t> target(1);
  ReadIntegers(data.training.image(0), data.columns[1], target);
  EXPECT_THAT(target, ElementsAre(-1));
  ReadIntegers(data.test.image(0), data.columns[1], target);
  EXPECT_THAT(target, ElementsAre(2));
  std::vector<float> two(2);
  ReadFloats(data.test.image(0), data.columns[2], two);
  EXPECT_THAT(two, ElementsAre(2 * (51 / 255.0F) - 1, 1.0F));
  ReadFloats(data.training.image(1), data.columns[3], two);
  EXPECT_THAT(two, ElementsAre(2.0F, -2.0F));
}

// By the second verifier's reader (tests/python/data_test.py has the same file).
TEST(ExamplesFile, HasTheHashOfTheSecondVerifier) {
  EXPECT_EQ(HashOf(ParseExamples(File()).value()).Hex(),
            "3067df6f178f7ddbed175f6eb423e0f1a4ed933be7634f814849acdba9ad129c");
}

TEST(ExamplesFile, AnotherOrderOfRowsOrAnotherNameIsOtherData) {
  const base::Digest hash = HashOf(ParseExamples(File()).value());
  EXPECT_NE(HashOf(ParseExamples(File(kLines, "4 1 2 1")).value()), hash);
  std::string renamed = kLines;
  renamed.replace(0, 6, "tokenz");
  EXPECT_NE(HashOf(ParseExamples(File(renamed)).value()), hash);
  std::string ranged = kLines;
  ranged.replace(ranged.find("30522"), 5, "30523");
  EXPECT_NE(HashOf(ParseExamples(File(ranged)).value()), hash);
  EXPECT_NE(HashOf(ParseExamples(File(kLines, "4 2 1 1", Row(30519, 3, 51, 0.25F))).value()), hash);
}

TEST(ExamplesFile, RefusesLinesThatAreNotCanonical) {
  const std::string rest = std::string(kLines).substr(std::string(kLines).find('\n') + 1);
  for (const auto& [line, reason] : std::vector<std::pair<std::string, std::string>>{
           {"tokens u16[3] 0\n", "integers need LOWEST"},
           {"tokens u16[3] 1 30522\n", "integers need LOWEST"},
           {"tokens u16[3] 0 030522\n", "integers need LOWEST"},
           {"tokens u16[3] 0 2147483648\n", "integers need LOWEST"},
           {"tokens u16[3] 0 65537\n", "fewer values than the range"},
           {"tokens u16[3] 0  30522\n", "integers need LOWEST"},
           {"tokens u24[3] 0 30522\n", "is no type"},
           {"tokens u16 0 30522\n", "is no type"},
           {"tokens u16[3,] 0 30522\n", "other extents"},
           {"tokens u16[0] 0 30522\n", "other extents"},
           {"tokens u16[+3] 0 30522\n", "other extents"},
           {"tokens u16[1,1,1,1,1,1,1,3] 0 30522\n", "at most 7"},
           {"tokens u16[8192,8192] 0 30522\n", "more than 67108864 bytes a row"},
           {"to kens u16[3] 0 30522\n", "is no type"},
           {"to-kens u16[3] 0 30522\n", "no name and type"},
           {"tokens\n", "no name and type"},
           {"\n", "no name and type"},
           {"tokens f32[3] 0 1\n", "floats have no range"},
           {"weights u16[3] 0 30522\n", "two columns 'weights'"},
           {std::string(600, 'a') + " u16[3] 0 30522\n", "too long"}}) {
    EXPECT_THAT(Refusal(File(line + rest)), HasSubstr(reason)) << line;
  }
}

TEST(ExamplesFile, RefusesCountsAndSizesThatDoNotFit) {
  for (const char* counts :
       {"4 2 1", "4 2 1 1 1", "4 0 1 1", "4 2 0 1", "4 2 1 0", "0 2 1 1", "65 2 1 1", "4 02 1 1",
        "4 2 1 99999999999999999999", "4 2 1 -1", ""}) {
    EXPECT_THAT(Refusal(File(kLines, counts)), HasSubstr("its first line")) << counts;
  }
  EXPECT_THAT(Refusal(File(kLines, "4 2 1 2")), HasSubstr("not the 5 rows that it says"));
  EXPECT_THAT(Refusal(File(kLines, "5 2 1 1")), HasSubstr("a line of its columns that is no text"));
  EXPECT_THAT(Refusal(BytesOf("ostraka-examples 1 2 1 1 1\nx u8[] 0 2\n")),
              HasSubstr("it ends before its columns"));
  base::Bytes cut = File();
  cut.pop_back();
  EXPECT_THAT(Refusal(cut), HasSubstr("bytes of rows of 17"));
  EXPECT_THAT(Refusal({}), HasSubstr("is no file of examples"));
  EXPECT_THAT(Refusal(BytesOf("ostraka-tokens 1 bytes 2 3 4 5\n")), HasSubstr("is no file"));
}

TEST(ExamplesFile, RefusesValuesOutOfTheirRange) {
  EXPECT_THAT(Refusal(File(kLines, "4 2 1 1", Row(30520, 0, 0, 0))),
              HasSubstr("row 3, column tokens has a value beyond 30521"));
  EXPECT_THAT(Refusal(File(kLines, "4 2 1 1", Row(0, 4, 0, 0))),
              HasSubstr("row 3, column targets has a value beyond 2"));
  EXPECT_THAT(Refusal(File(kLines, "4 2 1 1", Row(0, 0, 0, HUGE_VALF))),
              HasSubstr("column weights has a float that is not finite"));
}

}  // namespace
}  // namespace ostraka::train::examples_file_test
