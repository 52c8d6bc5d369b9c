#include "node/train/dataset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/unit/train/image_files.h"

namespace ostraka::train::dataset_test {
namespace {

Examples SomeExamples(std::size_t count) {
  Examples examples{.value_count = 4, .values = {}, .labels = {}};
  const base::Bytes labels = RoundLabels(count);
  for (std::size_t i = 0; i < count; ++i) examples.Add(RandomBytes(i, 4), labels[i]);
  return examples;
}

std::set<std::vector<std::uint8_t>> ImagesOf(const Examples& examples) {
  std::set<std::vector<std::uint8_t>> images;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    images.emplace(examples.image(i).begin(), examples.image(i).end());
  }
  return images;
}

TEST(SplitOff, TakesAShareOfEachClassAndLosesNothing) {
  Examples rest = SomeExamples(237);
  const auto all = ImagesOf(rest);
  ASSERT_EQ(all.size(), 237u);
  const Examples taken = SplitOff(rest, 10, 4);
  for (std::uint8_t label = 0; label < 10; ++label) {
    const auto count = std::count(taken.labels.begin(), taken.labels.end(), label);
    EXPECT_EQ(count, (label < 7 ? 24 : 23) / 4);
  }
  auto together = ImagesOf(rest);
  for (const auto& image : ImagesOf(taken)) EXPECT_TRUE(together.insert(image).second);
  EXPECT_EQ(together, all);
}

TEST(SplitOff, DoesNotDependOnTheOrderOfTheExamples) {
  Examples forward = SomeExamples(200);
  Examples backward{.value_count = 4, .values = {}, .labels = {}};
  for (std::size_t i = forward.size(); i > 0; --i) {
    backward.Add(forward.image(i - 1), forward.labels[i - 1]);
  }
  EXPECT_EQ(ImagesOf(SplitOff(forward, 10, 5)), ImagesOf(SplitOff(backward, 10, 5)));
}

TEST(SplitOff, AShareTooSmallTakesNothing) {
  Examples examples = SomeExamples(50);
  EXPECT_EQ(SplitOff(examples, 10, 6).size(), 0u);
  EXPECT_EQ(examples.size(), 50u);
}

Dataset SomeDataset() {
  Dataset data{.name = "some",
               .shape = {1, 2, 2},
               .class_count = 10,
               .max_value = 255,
               .training = SomeExamples(40),
               .validation = SomeExamples(3),
               .test = SomeExamples(5)};
  return data;
}

TEST(HashOf, DependsOnEverythingThatTrainingUses) {
  const Dataset data = SomeDataset();
  std::set<base::Digest> hashes = {HashOf(data)};
  const auto changed = [&](auto change) {
    Dataset other = data;
    change(other);
    EXPECT_TRUE(hashes.insert(HashOf(other)).second);
  };
  changed([](Dataset& d) { d.training.values[17] ^= 1; });
  changed([](Dataset& d) { d.training.labels[3] ^= 1; });
  changed([](Dataset& d) { d.validation.values[0] ^= 1; });
  changed([](Dataset& d) { d.test.labels[0] ^= 1; });
  changed([](Dataset& d) { d.max_value = 16; });
  changed([](Dataset& d) { d.class_count = 11; });
  changed([](Dataset& d) { d.shape = {4, 1, 1}; });
  // Equal bytes, cut elsewhere.
  changed([](Dataset& d) {
    d.validation.Add(d.test.image(0), d.test.labels[0]);
    d.test.values.erase(d.test.values.begin(), d.test.values.begin() + 4);
    d.test.labels.erase(d.test.labels.begin());
  });
  changed([](Dataset& d) { std::swap(d.validation, d.test); });
}

TEST(HashOf, DoesNotDependOnTheName) {
  Dataset data = SomeDataset();
  const base::Digest hash = HashOf(data);
  data.name = "another";
  EXPECT_EQ(HashOf(data), hash);
}

TEST(WriteFeatures, PixelsAreCentredAndSymbolsAreOneHot) {
  Dataset data = SomeDataset();
  data.max_value = 16;
  std::vector<float> features(4, 7);
  ASSERT_EQ(FeatureCount(data), 4u);
  WriteFeatures(data, std::vector<std::uint8_t>{0, 4, 8, 16}, features);
  EXPECT_EQ(features, (std::vector<float>{-1, -0.5, 0, 1}));
  data.max_value = kSymbols;
  data.class_count = 9;
  ASSERT_EQ(FeatureCount(data), 36u);
  features.assign(36, 7);
  WriteFeatures(data, std::vector<std::uint8_t>{0, 8, 3, 3}, features);
  std::vector<float> expected(36, 0);
  for (const std::size_t at : {0, 9 + 8, 18 + 3, 27 + 3})
    expected[at] = 3;  // sqrt(9): mean square 1
  EXPECT_EQ(features, expected);
}

}  // namespace
}  // namespace ostraka::train::dataset_test
