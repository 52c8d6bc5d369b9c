#include "node/train/digits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "tests/unit/train/digest_of.h"

namespace ostraka::train {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::Le;

std::array<int, 10> CountByClass(const Examples& examples) {
  std::array<int, 10> counts{};
  for (const std::uint8_t label : examples.labels) ++counts.at(label);
  return counts;
}

TEST(Digits, HasEveryImageOnce) {
  const Dataset digits = LoadDigits();
  EXPECT_EQ(digits.class_count, 10u);
  EXPECT_EQ(digits.training.size() + digits.test.size(), 1797u);
  std::set<std::vector<float>> images;
  for (const Examples* part : {&digits.training, &digits.test}) {
    ASSERT_EQ(part->feature_count, 64u);
    ASSERT_EQ(part->features.size(), part->size() * 64);
    for (std::size_t i = 0; i < part->size(); ++i) {
      images.emplace(part->row(i).begin(), part->row(i).end());
    }
  }
  EXPECT_EQ(images.size(), 1797u) << "no image is in both parts, or twice in one";
}

TEST(Digits, FeaturesAreSixteenthsFromZeroToOne) {
  const Dataset digits = LoadDigits();
  EXPECT_THAT(digits.training.features, Each(AllOf(Ge(0.0F), Le(1.0F))));
  EXPECT_EQ(*std::max_element(digits.test.features.begin(), digits.test.features.end()), 1.0F);
  for (const float feature : digits.test.features) {
    ASSERT_EQ(feature * 16, static_cast<float>(static_cast<int>(feature * 16)));
  }
}

TEST(Digits, EachClassGivesAFifthToTheTest) {
  const Dataset digits = LoadDigits();
  // Images of each class in the published file.
  EXPECT_THAT(CountByClass(digits.test),
              ::testing::ElementsAre(35, 36, 35, 36, 36, 36, 36, 35, 34, 36));
  EXPECT_THAT(CountByClass(digits.training),
              ::testing::ElementsAre(143, 146, 142, 147, 145, 146, 145, 144, 140, 144));
}

// The fingerprints come from an independent program that reads the CSV file.
TEST(Digits, SplitIsTheSameOnEveryMachine) {
  const Dataset digits = LoadDigits();
  EXPECT_EQ(FingerprintOf(digits.test.features),
            "94559281b3f5e18aa9c862895e7d1955155be38dfa120c223ae38a44ff72aacf");
  EXPECT_EQ(crypto::ChunkLeaf(digits.test.labels).Hex(),
            "a2518268552d86b8e88164e31603062e5db723d49b4f2c8e65149bfb8ee96b2d");
  EXPECT_EQ(FingerprintOf(digits.training.features),
            "9c27154d7d9a9174d6ecc2e3878c452472707107ed48ead94ac997f876ee93fe");
  EXPECT_EQ(crypto::ChunkLeaf(digits.training.labels).Hex(),
            "b503245531eb5d0dabdbb69f52986e8a3365c7a8b859970ffef2852fd77d8ae7");
}

}  // namespace
}  // namespace ostraka::train
