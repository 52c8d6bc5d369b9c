#include "sim/trainers/tiny_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace ostraka::sim::tiny_text_test {
namespace {

TEST(TinyText, IsSentencesOfAFewWords) {
  const std::string text = TinyText(1, 4000);
  EXPECT_EQ(text.size(), 4000U);
  EXPECT_THAT(text, testing::StartsWith("the "));
  EXPECT_THAT(text, testing::HasSubstr(". the "));
  for (const char letter : text) {
    EXPECT_TRUE((letter >= 'a' && letter <= 'z') || letter == ' ' || letter == '.') << letter;
  }
}

TEST(TinyText, FollowsFromItsSeed) {
  EXPECT_EQ(TinyText(1, 500), TinyText(1, 500));
  EXPECT_NE(TinyText(1, 500), TinyText(2, 500));
  EXPECT_EQ(TinyText(1, 500), TinyText(1, 4000).substr(0, 500));
}

TEST(TinyRecords, AreSymbolsInThreeParts) {
  const train::Dataset data = TinyRecords(1, 4000, 16).value();
  EXPECT_EQ(data.class_count, kTinySymbols);
  EXPECT_EQ(data.training.size(), 199U);
  EXPECT_EQ(data.validation.size(), 24U);
  EXPECT_EQ(data.test.size(), 24U);
  for (const train::Examples* part : {&data.training, &data.validation, &data.test}) {
    EXPECT_LT(*std::max_element(part->values.begin(), part->values.end()), kTinySymbols);
    EXPECT_LT(*std::max_element(part->labels.begin(), part->labels.end()), kTinySymbols);
  }
  // "the ", as symbols.
  EXPECT_THAT(data.training.image(0).first(4), testing::ElementsAre(19, 7, 4, 26));
}

TEST(TinyRecords, RefuseATextThatIsTooShort) { EXPECT_FALSE(TinyRecords(1, 100, 16).ok()); }

}  // namespace
}  // namespace ostraka::sim::tiny_text_test
