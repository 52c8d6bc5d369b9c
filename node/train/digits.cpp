#include "node/train/digits.h"

#include <span>

#include "node/base/check.h"
#include "node/train/digits_data.h"

namespace ostraka::train {
namespace {

constexpr std::uint32_t kSide = 8;
constexpr std::uint32_t kClasses = 10;
constexpr std::uint8_t kMaxPixel = 16;
constexpr std::size_t kTestShare = 5;               // one image in five
constexpr std::size_t kDigitsValidationShare = 10;  // of the others

static_assert(kSide * kSide == kDigitsPixels);

}  // namespace

Dataset LoadDigits() {
  Dataset digits{.name = "digits",
                 .shape = {1, kSide, kSide},
                 .class_count = kClasses,
                 .max_value = kMaxPixel,
                 .training = {},
                 .validation = {},
                 .test = {}};
  digits.training.value_count = digits.shape.value_count();
  for (std::size_t i = 0; i < kDigitsRows; ++i) {
    const auto row = std::span(kDigits).subspan(i * (kDigitsPixels + 1), kDigitsPixels + 1);
    for (const std::uint8_t pixel : row.first(kDigitsPixels)) OSTRAKA_CHECK(pixel <= kMaxPixel);
    digits.training.Add(row.first(kDigitsPixels), row.back());
  }
  digits.test = SplitOff(digits.training, kClasses, kTestShare);
  digits.validation = SplitOff(digits.training, kClasses, kDigitsValidationShare);
  return digits;
}

}  // namespace ostraka::train
