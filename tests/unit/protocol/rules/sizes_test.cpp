#include "node/protocol/rules/sizes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "node/protocol/ground/numbers.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::sizes_test {
namespace {

using scene::HonestStep;
using scene::MakeHonestStep;
using wire::ColumnFate;

constexpr std::size_t kColumn = 2;

std::vector<double> Rows(std::size_t honest, double size, std::size_t lying, double claimed) {
  std::vector<double> sizes(honest, size);
  sizes.insert(sizes.end(), lying, claimed);
  return sizes;
}

TEST(InwardPullTest, IsTheFormulaOfTheProtocol) {
  const SizeRule rule{.tau = 0.5, .eps = 1e-6, .result_norm = 5};
  EXPECT_DOUBLE_EQ(InwardPull(std::vector{4.99}, rule), 5 - 4.99) << "unclipped";
  EXPECT_DOUBLE_EQ(InwardPull(std::vector{3.0}, rule), 0.5 * 0.8) << "clipped: 3, 4, 5";
  EXPECT_DOUBLE_EQ(InwardPull(std::vector{5.25}, rule), -0.25);
  EXPECT_DOUBLE_EQ(InwardPull(std::vector{1e30}, rule), -0.5);
  EXPECT_DOUBLE_EQ(InwardPull(std::vector{3.0, 1e30, 5.0}, rule), 0.4 - 0.5);
}

TEST(JudgeSizesTest, TakesWhatItsRowsCanHaveMade) {
  const SizeRule rule{.tau = 1, .eps = 1e-6, .result_norm = 5};
  EXPECT_EQ(JudgeSizes(Rows(7, 5, 0, 0), rule), ColumnFate::kApplied);
  EXPECT_EQ(JudgeSizes(Rows(7, 4.9, 0, 0), rule), ColumnFate::kSizeCheck) << "a mean of smaller";
  EXPECT_EQ(JudgeSizes(Rows(7, 6, 0, 0), rule), ColumnFate::kApplied) << "they may be opposite";
  EXPECT_EQ(JudgeSizes(Rows(7, 5, 0, 0), {1, 1e-6, 0}), ColumnFate::kApplied);
}

// b rows that claim any size let the owner pass with as much as LargestAggregate, and no more.
TEST(JudgeSizesTest, BoundsWhatLiarsAndTheirOwnerCanDo) {
  for (const std::size_t lying : {0u, 1u, 3u, 7u, 127u}) {
    const std::size_t honest = lying + 1;
    for (const double tau : {1e-3, 1.0, 100.0}) {
      const double most = LargestAggregate(honest, lying, 1.0, tau);
      for (const double claimed : {1e3, 1e30}) {
        const auto sizes = Rows(honest, 1.0, lying, claimed);
        for (double g = most * (1 + 1e-9); g < 1e38; g *= 1.7) {
          const ColumnFate fate = JudgeSizes(sizes, {tau, 1e-9, g});
          // Blind are rows of many members beside a small tau, and nobody's fault to 16 R.
          EXPECT_TRUE(fate == ColumnFate::kSizeCheck || (fate == ColumnFate::kBlind && g <= 16))
              << g << " " << tau;
        }
      }
    }
  }
  EXPECT_NEAR(LargestAggregate(4, 3, 1.0, 1e-9), 1.715, 1e-3);
  EXPECT_NEAR(LargestAggregate(8, 7, 1.0, 1e-9), 2.366, 1e-3);
}

// The bound is not far from what passes: with the residual of rounding alone 1.51 R of 7 rows.
TEST(JudgeSizesTest, LetsLiarsMakeItHalfAsLargeAgain) {
  const auto sizes = Rows(4, 1.0, 3, 1e30);
  EXPECT_EQ(JudgeSizes(sizes, {1e-2, 1e-9, 1.511}), ColumnFate::kApplied);
  EXPECT_EQ(JudgeSizes(sizes, {1e-2, 1e-9, 1.513}), ColumnFate::kSizeCheck);
}

// --- blind ---------------------------------------------------------------------------------------

TEST(JudgeSizesTest, IsBlindWhereRoundingMayFillAQuarterOfTheRadius) {
  EXPECT_FALSE(IsBlind(7, {28e-6, 1e-6, 0}));
  EXPECT_TRUE(IsBlind(7, {27.9e-6, 1e-6, 0}));
  EXPECT_EQ(JudgeSizes(Rows(7, 1e9, 0, 0), {1, 1e-6, 1e9}), ColumnFate::kBlind);
  EXPECT_EQ(JudgeSizes(Rows(7, 1e5, 0, 0), {1, 1e-6, 1e5}), ColumnFate::kApplied);
}

TEST(JudgeSizesTest, BlamesABlindColumnOnWhoHasNoLargeMajority) {
  for (const std::size_t lying : {1u, 3u, 7u, 127u}) {
    const SizeRule rule{1e-3, 1e-6, 1e30};
    EXPECT_EQ(JudgeSizes(Rows(lying + 1, 1, lying, 1e30), rule), ColumnFate::kSizeCheck);
    EXPECT_EQ(JudgeSizes(Rows(lying, 1, lying, 1e30), rule), ColumnFate::kBlind)
        << "halves may have their minimum anywhere between them";
  }
}

// More than half of the rows below g/16 pull in by more than all others push out: no honest owner
// has such a column, however many its rows. With g/8 one of 255 rows might.
TEST(JudgeSizesTest, NoHonestResultHasAMajorityOfSmallRows) {
  const auto most_rows = [](std::size_t rows, double share) {
    const auto small = static_cast<double>(rows / 2 + 1);
    return small * std::sqrt(1 - share * share) - (static_cast<double>(rows) - small);
  };
  for (std::size_t rows = 1; rows <= 256; ++rows) EXPECT_GT(most_rows(rows, 1.0 / 16), 0.7) << rows;
  EXPECT_LT(most_rows(255, 1.0 / 8), 0.005);
}

// --- in a step -----------------------------------------------------------------------------------

ColumnFate FateOf(const HonestStep& step) { return step.Fates()[kColumn]; }

TEST(SizeCheckTest, VoidsWhatIsLargerThanItsRows) {
  HonestStep step = MakeHonestStep();
  step.results[kColumn].norm *= 1e8;
  EXPECT_EQ(FateOf(step), ColumnFate::kSizeCheck);
  const Block block = step.Judge();
  EXPECT_EQ(block.owing, std::vector<PeerId>{step.sealed.roles.owners[kColumn]});
  step.manifest.clip = false;
  EXPECT_EQ(FateOf(step), ColumnFate::kApplied) << "the mean may be of any size";
}

TEST(SizeCheckTest, ComesBeforeTheFarNorms) {
  HonestStep step = MakeHonestStep();
  step.results[kColumn].norm *= 1e8;
  step.manifest.delta_max = 1e-9;
  EXPECT_EQ(FateOf(step), ColumnFate::kSizeCheck);
}

TEST(SizeCheckTest, ABlindColumnOwesNothing) {
  HonestStep step = MakeHonestStep();
  step.results[kColumn].norm = 1e12;
  for (const PeerId& worker : step.sealed.roles.workers) {
    step.ProofOf(worker).columns[kColumn].size = 2e12;
  }
  EXPECT_EQ(FateOf(step), ColumnFate::kBlind);
  EXPECT_TRUE(step.Judge().owing.empty());
}

// Beside it every column is blind; the norms are sealed all the same, and the next is right.
TEST(SizeCheckTest, ATauThatIsTooSmallIsFollowedInOneStep) {
  const HonestStep step = MakeHonestStep({.tau = 1e-9});
  const Block block = step.Judge();
  for (const ColumnFate fate : block.columns) EXPECT_EQ(fate, ColumnFate::kBlind);
  EXPECT_TRUE(block.removals.empty());
  EXPECT_GT(block.tau, 1);
  const HonestStep next = MakeHonestStep({.tau = block.tau});
  for (const ColumnFate fate : next.Fates()) EXPECT_EQ(fate, ColumnFate::kApplied);
}

}  // namespace
}  // namespace ostraka::protocol::sizes_test
