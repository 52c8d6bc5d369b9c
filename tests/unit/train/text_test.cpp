#include "node/train/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "tests/unit/train/image_files.h"

namespace ostraka::train::text_test {
namespace {

using ::testing::HasSubstr;

// Bytes never decrease, so each tells its tenth.
base::Bytes Counting(std::size_t count) {
  base::Bytes text;
  for (std::size_t i = 0; i < count; ++i) text.push_back(static_cast<std::uint8_t>(i / 10));
  return text;
}

TEST(Text, AWindowIsLabelledWithTheByteAfterIt) {
  base::Bytes text;
  for (int i = 0; i < 200; ++i) {
    for (const char c : {'o', 's', 't', 'r', 'a', 'k', 'a', ' ', '!'}) text.push_back(c);
  }
  const Dataset data = TextDataset(text).value();
  // " !akorst" by value: ' ' 0, '!' 1, a 2, k 3, o 4, r 5, s 6, t 7.
  EXPECT_EQ(data.class_count, 8u);
  EXPECT_EQ(data.shape.value_count(), kTextWindow);
  const auto first = data.training.image(0);
  EXPECT_EQ((base::Bytes{first.begin(), first.end()}), (base::Bytes{4, 6, 7, 5, 2, 3, 2, 0}));
  EXPECT_EQ(data.training.labels[0], 1);
  EXPECT_EQ(data.training.labels[1], 4);  // "straka !" and then 'o'
}

TEST(Text, PartsHaveNoByteInCommon) {
  const Dataset data = TextDataset(Counting(2500)).value();
  // Tenths of 250 bytes are 25 symbols of ten each.
  EXPECT_EQ(data.class_count, 250u);
  const auto symbols_of = [](const Examples& part) {
    std::set<std::uint8_t> symbols(part.values.begin(), part.values.end());
    symbols.insert(part.labels.begin(), part.labels.end());
    return symbols;
  };
  const auto training = symbols_of(data.training);
  const auto validation = symbols_of(data.validation);
  const auto test = symbols_of(data.test);
  EXPECT_EQ(*training.begin(), 0);
  EXPECT_EQ(*training.rbegin(), 199);
  EXPECT_EQ(*validation.begin(), 200);
  EXPECT_EQ(*validation.rbegin(), 224);
  EXPECT_EQ(*test.begin(), 225);
  EXPECT_EQ(*test.rbegin(), 249);
  EXPECT_EQ(data.training.size(), 2000 - kTextWindow);
  EXPECT_EQ(data.validation.size(), 250 - kTextWindow);
}

TEST(Text, HeldOutWindowsAreSpreadOverTheText) {
  const Dataset data = TextDataset(RandomBytes(1, 100'000, 200)).value();
  EXPECT_EQ(data.training.size(), 80'000 - kTextWindow);
  EXPECT_EQ(data.validation.size(), kMaxHeldOutWindows);
  EXPECT_EQ(data.test.size(), kMaxHeldOutWindows);
  EXPECT_EQ(data.class_count, 200u);
  const base::Bytes text = RandomBytes(1, 100'000, 200);
  // The last window at the stride's distance; symbols equal bytes, since all occur.
  const std::size_t windows = 10'000 - kTextWindow;
  const std::size_t begin = 90'000 + (kMaxHeldOutWindows - 1) * windows / kMaxHeldOutWindows;
  EXPECT_EQ(data.test.labels.back(), text[begin + kTextWindow]);
}

TEST(Text, AnyBytesAreATextUnlessTheyAreTooFew) {
  rc::check([] {
    const auto size = *rc::gen::inRange<std::size_t>(990, 3000);
    const auto below = *rc::gen::inRange<std::uint64_t>(1, 257);
    const auto data = TextDataset(RandomBytes(size, size, below));
    RC_ASSERT(data.ok() == (size >= 1000 && below > 1));
    if (!data.ok()) return;
    for (const Examples* part : {&data->training, &data->validation, &data->test}) {
      RC_ASSERT(part->size() > 0);
      RC_ASSERT(part->values.size() == part->size() * kTextWindow);
      for (const std::uint8_t symbol : part->values) RC_ASSERT(symbol < data->class_count);
      for (const std::uint8_t symbol : part->labels) RC_ASSERT(symbol < data->class_count);
    }
  });
}

TEST(Text, ErrorsNameTheProblem) {
  EXPECT_THAT(base::MessageOf(TextDataset(base::Bytes(999, 'a')).status()),
              HasSubstr("too short: 999 bytes"));
  EXPECT_THAT(base::MessageOf(TextDataset(base::Bytes(1000, 'a')).status()),
              HasSubstr("one byte, over and over"));
}

TEST(Text, HashCoversEveryTrainingByte) {
  base::Bytes text = RandomBytes(3, 4000, 60);
  const base::Digest hash = HashOf(TextDataset(text).value());
  EXPECT_EQ(HashOf(TextDataset(text).value()), hash);
  text[1000] = static_cast<std::uint8_t>((text[1000] + 1) % 60);
  EXPECT_NE(HashOf(TextDataset(text).value()), hash);
}

}  // namespace
}  // namespace ostraka::train::text_test
