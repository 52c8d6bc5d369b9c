#include "node/train/digits.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "crypto/merkle.h"
#include "node/base/check.h"
#include "node/train/digits_data.h"

namespace ostraka::train {
namespace {

constexpr std::size_t kClasses = 10;
constexpr std::size_t kTestShare = 5;  // one row in five
constexpr std::uint8_t kMaxPixel = 16;

std::span<const std::uint8_t> Row(std::size_t index) {
  return std::span(kDigits).subspan(index * (kDigitsPixels + 1), kDigitsPixels + 1);
}

std::uint8_t LabelOf(std::size_t index) { return Row(index).back(); }

// A row's hash is its leaf hash (crypto/merkle.h): a row is a chunk of 65 bytes.
std::vector<bool> ChooseTestRows() {
  std::array<std::vector<std::pair<base::Digest, std::size_t>>, kClasses> hashed;
  for (std::size_t i = 0; i < kDigitsRows; ++i) {
    OSTRAKA_CHECK(LabelOf(i) < kClasses);
    hashed[LabelOf(i)].emplace_back(crypto::ChunkLeaf(Row(i)), i);
  }
  std::vector<bool> is_test(kDigitsRows, false);
  for (auto& rows : hashed) {
    std::sort(rows.begin(), rows.end());
    for (std::size_t k = 0; k < rows.size() / kTestShare; ++k) is_test[rows[k].second] = true;
  }
  return is_test;
}

void Append(std::span<const std::uint8_t> row, Examples& examples) {
  for (const std::uint8_t pixel : row.first(kDigitsPixels)) {
    OSTRAKA_CHECK(pixel <= kMaxPixel);
    examples.features.push_back(static_cast<float>(pixel) / kMaxPixel);
  }
  examples.labels.push_back(row.back());
}

}  // namespace

Dataset LoadDigits() {
  Dataset digits{.name = "digits", .class_count = kClasses, .training = {}, .test = {}};
  digits.training.feature_count = kDigitsPixels;
  digits.test.feature_count = kDigitsPixels;
  const std::vector<bool> is_test = ChooseTestRows();
  for (std::size_t i = 0; i < kDigitsRows; ++i) {
    Append(Row(i), is_test[i] ? digits.test : digits.training);
  }
  return digits;
}

}  // namespace ostraka::train
