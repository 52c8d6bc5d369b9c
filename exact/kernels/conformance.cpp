#include "exact/kernels/conformance.h"

#include <limits>
#include <string>
#include <vector>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "exact/kernels/float_environment.h"
#include "node/base/rng.h"

namespace ostraka::exact {

const std::string_view kConformanceDigest =
    "b155f089085b2a46393955fb9c63f679f8a34373b12ab39365f0765ee903c1a0";

namespace {

constexpr std::size_t kCount = 1024 + 5;  // not a multiple of kLanes

// Every kind of float: ordinary ones of all sizes, and one special in eight.
std::vector<float> Wild(base::Rng rng, std::size_t count) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float specials[] = {
      0.0F,       -0.0F,     kInfinity,       -kInfinity,    0x1p-149F,
      -0x1p-130F, 0x1p-126F, 0x1.fffffep127F, kCanonicalNan, std::bit_cast<float>(0xffc12345U)};
  std::vector<float> values(count);
  for (float& value : values) {
    const auto exponent = static_cast<std::uint32_t>(rng.Between(127 - 40, 127 + 40));
    const auto scale = std::bit_cast<float>(exponent << 23);
    value = static_cast<float>(rng.Normal()) * scale;
    if (rng.Chance(1, 8)) value = specials[rng.Below(std::size(specials))];
  }
  return values;
}

std::vector<float> Ordinary(base::Rng rng, std::size_t count) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(4 * rng.Normal());
  return values;
}

class Recorder {
 public:
  explicit Recorder(const Kernels& kernels)
      : kernels_(kernels), hasher_(crypto::kDomainConformance), scratch_(kProductScratch) {}

  void RecordAll(const base::Rng& rng) {
    for (const bool wild : {false, true}) {
      const auto draw = [&](std::string_view label, std::size_t count) {
        const base::Rng own = rng.Fork(label, wild ? 1 : 0);
        return wild ? Wild(own, count) : Ordinary(own, count);
      };
      a_ = draw("a", kCount);
      b_ = draw("b", kCount);
      c_ = draw("c", kCount);
      RecordMaps();
      RecordSums();
      RecordRows();
      RecordNorms();
      RecordProducts();
    }
  }

  base::Digest Finish() { return hasher_.Finish(); }

 private:
  void Feed(const std::vector<float>& values) {
    hasher_.Update(base::AsBytes(std::span<const float>(values)));
  }
  void Feed(float value) { Feed(std::vector<float>{value}); }

  void RecordMaps() {
    for (std::size_t map = 0; map < kMapCount; ++map) {
      std::vector<float> out(kCount);
      kernels_.maps[map]({.a = a_.data(),
                          .b = b_.data(),
                          .c = c_.data(),
                          .scalar = 0x1.99999ap-4F,
                          .out = out.data(),
                          .count = kCount});
      Feed(out);
    }
  }

  void RecordSums() {
    for (const std::size_t count : {std::size_t{1}, std::size_t{15}, std::size_t{48}, kCount}) {
      Feed(kernels_.sum(a_.data(), count));
      Feed(kernels_.dot(a_.data(), b_.data(), count));
    }
    std::vector<float> out(93);
    kernels_.sum_rows(a_.data(), 11, 93, 93, out.data());
    Feed(out);
  }

  void RecordRows() {
    constexpr std::size_t kWidth = 41;
    for (std::size_t begin = 0; begin + kWidth <= kCount; begin += kWidth) {
      std::vector<float> y(kWidth);
      std::vector<float> out(kWidth);
      kernels_.softmax(a_.data() + begin, begin % (kWidth + 1), kWidth, y.data());
      Feed(y);
      kernels_.softmax_backward(b_.data() + begin, y.data(), kWidth, out.data());
      Feed(out);
      const std::size_t target = begin / kWidth;
      Feed(kernels_.cross_entropy(a_.data() + begin, kWidth, target));
      kernels_.cross_entropy_backward(a_.data() + begin, kWidth, target, 0x1.5p-3F, out.data());
      Feed(out);
    }
  }

  void RecordNorms() {
    constexpr std::size_t kWidth = 37;
    constexpr std::size_t kRows = kCount / kWidth;
    for (const bool centered : {true, false}) {
      std::vector<float> statistics;
      for (std::size_t r = 0; r < kRows; ++r) {
        std::vector<float> out(kWidth);
        const NormRow row = {.x = a_.data() + r * kWidth,
                             .weight = b_.data(),
                             .bias = c_.data(),
                             .count = kWidth,
                             .epsilon = 0x1.4f8b58p-17F,
                             .out = out.data()};
        const RowStatistics of_row = centered ? kernels_.layer_norm(row) : kernels_.rms_norm(row);
        statistics.push_back(of_row.mean);
        statistics.push_back(of_row.inverse_deviation);
        Feed(out);
        const auto backward = centered ? kernels_.layer_norm_backward : kernels_.rms_norm_backward;
        backward(row, c_.data() + r * kWidth, of_row);
        Feed(out);
      }
      Feed(statistics);
      std::vector<float> weight(kWidth);
      std::vector<float> bias(kWidth);
      kernels_.norm_columns({.gradient = b_.data(),
                             .x = a_.data(),
                             .statistics = statistics.data(),
                             .row_count = kRows,
                             .width = kWidth,
                             .begin = 0,
                             .end = kWidth,
                             .weight_gradient = weight.data(),
                             .bias_gradient = bias.data()});
      Feed(weight);
      Feed(bias);
    }
  }

  // Each transposition, over tile edges; the last is deeper than a block of the depth.
  void RecordProducts() {
    struct Shape {
      std::size_t rows, columns, depth;
    };
    for (const Shape shape : {Shape{1, 1, 1}, {15, 33, 17}, {29, 35, 29}, {2, 2, 500}}) {
      for (const bool left : {false, true}) {
        for (const bool right : {false, true}) {
          std::vector<float> out(shape.rows * shape.columns);
          Product product = {.rows = shape.rows,
                             .columns = shape.columns,
                             .depth = shape.depth,
                             .left = {a_.data(), left ? shape.rows : shape.depth, left},
                             .right = {b_.data(), right ? shape.depth : shape.columns, right},
                             .out = out.data(),
                             .out_stride = shape.columns};
          kernels_.multiply(product, scratch_.data());
          Feed(out);
          product.accumulate = true;
          kernels_.multiply(product, scratch_.data());
          Feed(out);
        }
      }
    }
  }

  const Kernels& kernels_;
  crypto::Hasher hasher_;
  std::vector<float> scratch_;
  std::vector<float> a_, b_, c_;
};

}  // namespace

base::Digest ConformanceDigest(const Kernels& kernels) {
  Recorder recorder(kernels);
  recorder.RecordAll(base::Rng(1));
  return recorder.Finish();
}

base::Status CheckConformance(const Kernels& kernels) {
  RETURN_IF_ERROR(CheckFloatEnvironment());
  const std::string digest = ConformanceDigest(kernels).Hex();
  if (digest == kConformanceDigest) return base::OkStatus();
  return base::FailedPrecondition("the " + std::string(LevelName(kernels.level)) +
                                  " kernels of this machine give digest " + digest.substr(0, 16) +
                                  " where every machine must give " +
                                  std::string(kConformanceDigest.substr(0, 16)) +
                                  ": its gradients would differ from those of its peers; check "
                                  "memory and processor, or the build");
}

}  // namespace ostraka::exact
