#include "exact/kernels/product.h"

#include <gtest/gtest.h>

#include <cmath>

#include "node/os/thread_executor.h"
#include "tests/unit/exact/testing.h"

namespace ostraka::exact::product_test {
namespace {

using testing::BitsOf;
using testing::NormalValues;
using testing::SupportedLevels;
using testing::WildValues;

using Values = std::vector<float>;

struct Case {
  std::size_t rows, columns, depth;
  bool left_transposed = false;
  bool right_transposed = false;
  bool accumulate = false;
};

float At(const Matrix& matrix, std::size_t i, std::size_t j) {
  return matrix.transposed ? matrix.data[j * matrix.stride + i]
                           : matrix.data[i * matrix.stride + j];
}

// The definition, numerics.md 3.
void MultiplyAsDefined(const Product& product) {
  for (std::size_t i = 0; i < product.rows; ++i) {
    for (std::size_t j = 0; j < product.columns; ++j) {
      float& out = product.out[i * product.out_stride + j];
      float s = product.accumulate ? out : 0.0F;
      for (std::size_t k = 0; k < product.depth; ++k) {
        s = std::fma(At(product.left, i, k), At(product.right, k, j), s);
      }
      out = s != s ? kCanonicalNan : s;
    }
  }
}

// The matrices of a case, with gaps between their rows.
class Operands {
 public:
  Operands(const Case& shape, bool wild, base::Rng& rng) : shape_(shape) {
    constexpr std::size_t kGap = 3;
    left_stride_ = (shape.left_transposed ? shape.rows : shape.depth) + kGap;
    right_stride_ = (shape.right_transposed ? shape.depth : shape.columns) + kGap;
    out_stride_ = shape.columns + kGap;
    const auto draw = [&](std::size_t count) {
      return wild ? WildValues(rng, count) : NormalValues(rng, count);
    };
    left_ = draw((shape.left_transposed ? shape.depth : shape.rows) * left_stride_);
    right_ = draw((shape.right_transposed ? shape.columns : shape.depth) * right_stride_);
    before_ = draw(shape.rows * out_stride_);
  }

  // The output, gaps included, after `multiply` of the product.
  template <typename Function>
  Values After(Function multiply) const {
    Values out = before_;
    multiply(Product{.rows = shape_.rows,
                     .columns = shape_.columns,
                     .depth = shape_.depth,
                     .left = {left_.data(), left_stride_, shape_.left_transposed},
                     .right = {right_.data(), right_stride_, shape_.right_transposed},
                     .out = out.data(),
                     .out_stride = out_stride_,
                     .accumulate = shape_.accumulate});
    return out;
  }

 private:
  Case shape_;
  std::size_t left_stride_ = 0;
  std::size_t right_stride_ = 0;
  std::size_t out_stride_ = 0;
  Values left_, right_, before_;
};

void ExpectDefinedBits(const Case& shape, bool wild, base::Rng& rng) {
  static ProductScratch scratch(2);
  static const os::ThreadExecutor threads(2);
  const Operands operands(shape, wild, rng);
  const auto expected = BitsOf(operands.After(MultiplyAsDefined));
  for (const Level level : SupportedLevels()) {
    const Kernels& kernels = KernelsFor(level);
    const auto got =
        operands.After([&](const Product& product) { kernels.multiply(product, scratch.of(0)); });
    ASSERT_EQ(BitsOf(got), expected)
        << LevelName(level) << " " << shape.rows << " x " << shape.columns << " x " << shape.depth
        << " " << shape.left_transposed << shape.right_transposed << shape.accumulate << wild;
    const auto on_two = operands.After(
        [&](const Product& product) { Multiply(kernels, threads, product, scratch); });
    ASSERT_EQ(BitsOf(on_two), expected) << LevelName(level) << " on two threads";
  }
}

TEST(Product, IsTheDefinedChainAtEveryTileEdge) {
  base::Rng rng(1);
  for (const std::size_t rows : {1, 2, 5, 6, 7, 13, 14, 15, 29}) {
    for (const std::size_t columns : {1, 7, 8, 15, 16, 17, 31, 32, 33, 49}) {
      for (const std::size_t depth : {1, 2, 33}) {
        for (int bits = 0; bits < 16; ++bits) {
          ExpectDefinedBits(
              {rows, columns, depth, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0},
              (bits & 8) != 0, rng);
        }
      }
    }
  }
}

TEST(Product, IsTheDefinedChainAcrossBlocksOfEveryExtent) {
  base::Rng rng(2);
  for (int bits = 0; bits < 8; ++bits) {
    const bool left = (bits & 1) != 0;
    const bool right = (bits & 2) != 0;
    const bool accumulate = (bits & 4) != 0;
    ExpectDefinedBits({17, 35, 385, left, right, accumulate}, false, rng);  // depth
    ExpectDefinedBits({17, 35, 800, left, right, accumulate}, true, rng);   // depth, wild
    ExpectDefinedBits({285, 3, 20, left, right, accumulate}, false, rng);   // rows
    ExpectDefinedBits({3, 1100, 20, left, right, accumulate}, false, rng);  // columns
    if (left == right) continue;  // the large ones take seconds each
    ExpectDefinedBits({300, 100, 270, left, right, accumulate}, false, rng);  // two threads
    ExpectDefinedBits({50, 700, 270, left, right, accumulate}, false, rng);   // two threads
  }
}

TEST(Product, AnyShapeIsTheDefinedChain) {
  base::Rng rng(3);
  for (int i = 0; i < 300; ++i) {
    const auto extent = [&rng] { return static_cast<std::size_t>(rng.Between(1, 80)); };
    ExpectDefinedBits(
        {extent(), extent(), extent(), rng.Chance(1, 2), rng.Chance(1, 2), rng.Chance(1, 2)},
        rng.Chance(1, 2), rng);
  }
}

TEST(ProductScratchDeathTest, IsAlignedAndApart) {
  ProductScratch scratch(3);
  for (std::size_t thread = 0; thread < 3; ++thread) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(scratch.of(thread)) % 64, 0U);
    if (thread > 0) {
      EXPECT_EQ(scratch.of(thread) - scratch.of(thread - 1), kProductScratch);
    }
  }
  EXPECT_DEATH(scratch.of(3), "CHECK failed");
}

}  // namespace
}  // namespace ostraka::exact::product_test
