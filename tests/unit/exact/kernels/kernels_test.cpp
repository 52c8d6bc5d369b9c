// Every kernel of every level against the scalar level, bit for bit.
#include "exact/kernels/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/unit/exact/testing.h"

namespace ostraka::exact::kernels_test {
namespace {

using testing::AnyValues;
using testing::BitsOf;
using testing::NormalValues;
using testing::SupportedLevels;
using testing::WildValues;

using Values = std::vector<float>;

const Kernels& Scalar() { return KernelsFor(Level::kScalar); }

// Calls compare(kernels) for each level but the reference.
template <typename Function>
void ForEachOtherLevel(Function compare) {
  for (const Level level : SupportedLevels()) {
    if (level == Level::kScalar) continue;
    SCOPED_TRACE(std::string(LevelName(level)));
    compare(KernelsFor(level));
  }
}

TEST(Kernels, ScalarAlwaysExistsAndTheWidestIsTheBest) {
  EXPECT_TRUE(IsSupported(Level::kScalar));
  EXPECT_EQ(BestKernels().level, SupportedLevels().back());
  for (const Level level : SupportedLevels()) EXPECT_EQ(KernelsFor(level).level, level);
  EXPECT_EQ(LevelName(Level::kScalar), "scalar");
  EXPECT_EQ(LevelName(Level::kAvx2), "avx2");
  EXPECT_EQ(LevelName(Level::kAvx512), "avx512");
  EXPECT_EQ(LevelName(Level::kNeon), "neon");
}

TEST(Kernels, MapsAreEqualAtEveryLevelAndLength) {
  base::Rng rng(1);
  for (std::size_t count = 1; count <= 67; ++count) {
    const Values a = WildValues(rng, count);
    const Values b = WildValues(rng, count);
    const Values c = WildValues(rng, count);
    for (std::size_t map = 0; map < kMapCount; ++map) {
      const auto run = [&](const Kernels& kernels) {
        // A canary beyond the end must stay.
        Values out(count + 1, 7);
        kernels.maps[map]({a.data(), b.data(), c.data(), 0.3F, out.data(), count});
        EXPECT_EQ(out.back(), 7);
        return out;
      };
      const Values expected = run(Scalar());
      ForEachOtherLevel([&](const Kernels& kernels) {
        EXPECT_EQ(BitsOf(run(kernels)), BitsOf(expected)) << "map " << map << " count " << count;
      });
    }
  }
}

TEST(Kernels, MapsAreEqualForFloatsOfAnyBits) {
  constexpr std::size_t kCount = 100'000;
  base::Rng rng(2);
  const Values a = AnyValues(rng, kCount);
  const Values b = AnyValues(rng, kCount);
  const Values c = AnyValues(rng, kCount);
  for (std::size_t map = 0; map < kMapCount; ++map) {
    Values expected(kCount);
    Scalar().maps[map]({a.data(), b.data(), c.data(), -1.7F, expected.data(), kCount});
    for (const float value : expected) {
      if (value != value) {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(value), kCanonicalNanBits);
      }
    }
    ForEachOtherLevel([&](const Kernels& kernels) {
      Values out(kCount);
      kernels.maps[map]({a.data(), b.data(), c.data(), -1.7F, out.data(), kCount});
      EXPECT_EQ(BitsOf(out), BitsOf(expected)) << "map " << map;
    });
  }
}

TEST(Kernels, AMapMayWriteOverItsInput) {
  base::Rng rng(3);
  for (const Level level : SupportedLevels()) {
    const Values a = NormalValues(rng, 37);
    const Values b = NormalValues(rng, 37);
    Values apart(37);
    Values over = a;
    KernelsFor(level).RunMap(Map::kDiv, {a.data(), b.data(), nullptr, 0, apart.data(), 37});
    KernelsFor(level).RunMap(Map::kDiv, {over.data(), b.data(), nullptr, 0, over.data(), 37});
    EXPECT_EQ(BitsOf(over), BitsOf(apart));
  }
}

// Everything that a row kernel gives for one width.
Values RowResults(const Kernels& kernels, const Values& a, const Values& b, const Values& c) {
  const std::size_t count = a.size();
  Values all = {kernels.sum(a.data(), count), kernels.dot(a.data(), b.data(), count)};
  const auto keep = [&all](const Values& values) {
    all.insert(all.end(), values.begin(), values.end());
  };
  Values y(count);
  Values out(count);
  for (const std::size_t visible : {count, count - 1, count / 2}) {
    kernels.softmax(a.data(), visible, count, y.data());
    keep(y);
    kernels.softmax_backward(b.data(), y.data(), count, out.data());
    keep(out);
  }
  all.push_back(kernels.cross_entropy(a.data(), count, count / 3));
  kernels.cross_entropy_backward(a.data(), count, count / 3, 0.125F, out.data());
  keep(out);
  NormRow row = {a.data(), b.data(), c.data(), count, 1e-5F, y.data()};
  for (const bool centered : {true, false}) {
    const RowStatistics statistics = centered ? kernels.layer_norm(row) : kernels.rms_norm(row);
    keep(y);
    keep({statistics.mean, statistics.inverse_deviation});
    (centered ? kernels.layer_norm_backward : kernels.rms_norm_backward)(row, c.data(), statistics);
    keep(y);
  }
  return all;
}

TEST(Kernels, RowsAreEqualAtEveryLevelAndWidth) {
  base::Rng rng(4);
  for (std::size_t count = 1; count <= 70; ++count) {
    for (const bool wild : {false, true}) {
      const auto draw = [&] { return wild ? WildValues(rng, count) : NormalValues(rng, count, 2); };
      const Values a = draw();
      const Values b = draw();
      const Values c = draw();
      const Values expected = RowResults(Scalar(), a, b, c);
      ForEachOtherLevel([&](const Kernels& kernels) {
        EXPECT_EQ(BitsOf(RowResults(kernels, a, b, c)), BitsOf(expected)) << count << " " << wild;
      });
    }
  }
}

TEST(Kernels, ColumnsAreEqualAtEveryLevelAndCut) {
  base::Rng rng(5);
  constexpr std::size_t kRows = 13;
  for (const std::size_t width : {1, 15, 16, 17, 64, 100, 131}) {
    const Values g = WildValues(rng, kRows * width);
    const Values x = NormalValues(rng, kRows * width);
    const Values statistics = NormalValues(rng, 2 * kRows);
    const auto run = [&](const Kernels& kernels, std::size_t cut) {
      Values out(3 * width);
      NormColumns columns = {g.data(), x.data(),   statistics.data(), kRows, width, 0,
                             cut,      out.data(), out.data() + width};
      kernels.norm_columns(columns);
      columns.begin = cut;
      columns.end = width;
      kernels.norm_columns(columns);
      kernels.sum_rows(g.data(), kRows, width, cut, out.data() + 2 * width);
      kernels.sum_rows(g.data() + cut, kRows, width, width - cut, out.data() + 2 * width + cut);
      return out;
    };
    const Values expected = run(Scalar(), width);
    for (const Level level : SupportedLevels()) {
      for (const std::size_t cut : {std::size_t{0}, width / 3, width / 2, width}) {
        EXPECT_EQ(BitsOf(run(KernelsFor(level), cut)), BitsOf(expected))
            << LevelName(level) << " " << width << " cut " << cut;
      }
    }
  }
}

}  // namespace
}  // namespace ostraka::exact::kernels_test
