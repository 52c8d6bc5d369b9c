#include "node/train/digits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "crypto/merkle.h"

namespace ostraka::train::digits_test {
namespace {

using ::testing::ElementsAre;

std::array<int, 10> CountByClass(const Examples& examples) {
  std::array<int, 10> counts{};
  for (const std::uint8_t label : examples.labels) ++counts.at(label);
  return counts;
}

TEST(Digits, HasEveryImageOnce) {
  const Dataset digits = LoadDigits();
  EXPECT_EQ(digits.class_count, 10u);
  EXPECT_EQ(digits.shape, (ImageShape{1, 8, 8}));
  std::set<std::vector<std::uint8_t>> images;
  std::size_t count = 0;
  for (const Examples* part : {&digits.training, &digits.validation, &digits.test}) {
    ASSERT_EQ(part->value_count, 64u);
    ASSERT_EQ(part->values.size(), part->size() * 64);
    count += part->size();
    for (std::size_t i = 0; i < part->size(); ++i) {
      images.emplace(part->image(i).begin(), part->image(i).end());
    }
  }
  EXPECT_EQ(count, 1797u);
  EXPECT_EQ(images.size(), 1797u) << "no image is in two parts, or twice in one";
}

TEST(Digits, PixelsAreFromZeroToSixteen) {
  const Dataset digits = LoadDigits();
  EXPECT_EQ(digits.max_value, 16);
  for (const Examples* part : {&digits.training, &digits.validation, &digits.test}) {
    EXPECT_EQ(*std::max_element(part->values.begin(), part->values.end()), 16);
  }
}

TEST(Digits, EachClassGivesAFifthToTheTestAndATenthOfTheRestToTheValidation) {
  const Dataset digits = LoadDigits();
  // Images of each class in the published file: 178 182 177 183 181 182 181 179 174 180.
  EXPECT_THAT(CountByClass(digits.test), ElementsAre(35, 36, 35, 36, 36, 36, 36, 35, 34, 36));
  EXPECT_THAT(CountByClass(digits.validation), ElementsAre(14, 14, 14, 14, 14, 14, 14, 14, 14, 14));
  EXPECT_THAT(CountByClass(digits.training),
              ElementsAre(129, 132, 128, 133, 131, 132, 131, 130, 126, 130));
}

// The hashes come from an independent program that reads the CSV file.
TEST(Digits, SplitIsTheSameOnEveryMachine) {
  const Dataset digits = LoadDigits();
  const auto hash_of = [](const std::vector<std::uint8_t>& bytes) {
    return crypto::MerkleRootOfData(bytes).Hex();
  };
  EXPECT_EQ(hash_of(digits.test.values),
            "4eec3888298d8d09cf4c7f9f29bcdba3a660faa4545de0f680b6c58188ecf978");
  EXPECT_EQ(hash_of(digits.test.labels),
            "64f33b3a3f2ba797c51d348e59ca658a059de7f345e230467f296b54a7071f6c");
  EXPECT_EQ(hash_of(digits.validation.values),
            "ef8468c4e397ad179bb5fc0f058323745d9f9727219e8e730d5079852378e9e9");
  EXPECT_EQ(hash_of(digits.validation.labels),
            "c55b728d87ff13422036a42bc852b2e33fc3731afd050cdae60e8d08a05f8338");
  EXPECT_EQ(hash_of(digits.training.values),
            "7fa95ef6697599974e1633f39ae929b301a1966cdd93a334c2625b33b95b2def");
  EXPECT_EQ(hash_of(digits.training.labels),
            "f66b63f01b990629aa88fa1df4acf9959797981db8d7076e09f04b8da529ebda");
  EXPECT_EQ(HashOf(digits).Hex(),
            "26886555b8a980f2cac62f5ec304f03ea319f27b11d8e6f59ebaa0dd657dc944");
}

}  // namespace
}  // namespace ostraka::train::digits_test
