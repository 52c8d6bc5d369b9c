#include "node/protocol/rules/tau.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::tau_test {
namespace {

using scene::HonestStep;
using scene::MakeHonestStep;
using scene::PeerNumber;

class NextTauTest : public testing::Test {
 protected:
  NextTauTest() : step_(MakeHonestStep({.n = 3, .dimension = 6})) {}
  // norms[i][j] of worker i in column j.
  double TauOf(const std::vector<std::vector<double>>& norms) {
    for (std::size_t i = 0; i < norms.size(); ++i) {
      for (std::size_t j = 0; j < norms[i].size(); ++j) {
        step_.ProofOf(PeerNumber(static_cast<std::uint32_t>(i))).columns[j].norm = norms[i][j];
      }
    }
    return NextTau(step_.sealed, step_.head, step_.manifest, fates_);
  }
  HonestStep step_;
  std::vector<ColumnFate> fates_ = std::vector<ColumnFate>(3, ColumnFate::kApplied);
};

TEST_F(NextTauTest, IsTheMedianOfTheColumnsMedianNorms) {
  EXPECT_EQ(TauOf({{9, 1, 5}, {2, 8, 7}, {3, 4, 6}}), 4) << "of 3, 4 and 6";
  step_.manifest.tau_multiple = 0.5;
  EXPECT_EQ(TauOf({{9, 1, 5}, {2, 8, 7}, {3, 4, 6}}), 2);
}

// Of 3 columns and 3 rows one owner and one worker lie: 5 of 9 norms are theirs.
TEST_F(NextTauTest, IsNotTheLiarsWhereMostNormsAre) {
  EXPECT_EQ(TauOf({{1e9, 1e9, 1e9}, {1e9, 2, 1}, {1e9, 1, 2}}), 2);
  EXPECT_EQ(TauOf({{0, 0, 0}, {0, 2, 1}, {0, 1, 2}}), 1);
}

TEST_F(NextTauTest, CountsBlindColumns) {
  fates_ = {ColumnFate::kBlind, ColumnFate::kSumCheck, ColumnFate::kSizeCheck};
  EXPECT_EQ(TauOf({{9, 1000, 1000}, {2, 1000, 1000}, {3, 1000, 1000}}), 3);
}

TEST_F(NextTauTest, IsNoLessThanAShareOfTheSizes) {
  for (std::uint32_t i = 0; i < 3; ++i) {
    for (auto& column : step_.ProofOf(PeerNumber(i)).columns) column.size = 4096.0 * (i + 1);
  }
  EXPECT_EQ(TauOf({{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}), 2);
}

TEST_F(NextTauTest, CountsAppliedColumnsAndTheirSendersOnly) {
  fates_ = {ColumnFate::kApplied, ColumnFate::kSumCheck, ColumnFate::kNoAggregate};
  EXPECT_EQ(TauOf({{9, 1000, 1000}, {2, 1000, 1000}, {3, 1000, 1000}}), 3);
  step_.SetSenders(0, {PeerNumber(0), PeerNumber(2)});
  EXPECT_EQ(TauOf({{9, 0, 0}, {1, 0, 0}, {3, 0, 0}}), 3) << "of an even number the lower";
}

TEST_F(NextTauTest, StaysWhereNothingWasApplied) {
  fates_.assign(3, ColumnFate::kSumCheck);
  step_.sealed.tau = 0.75;
  EXPECT_EQ(TauOf({{9, 1, 5}, {2, 8, 7}, {3, 4, 6}}), 0.75);
}

TEST_F(NextTauTest, IsTheManifestsWhereItNamesOne) {
  step_.manifest.tau = 12;
  EXPECT_EQ(TauOf({{9, 1, 5}, {2, 8, 7}, {3, 4, 6}}), 12);
}

TEST_F(NextTauTest, EqualRowsLeaveAPositiveRadius) {
  for (std::uint32_t i = 0; i < 3; ++i) {
    for (auto& column : step_.ProofOf(PeerNumber(i)).columns) column.size = 0;
  }
  EXPECT_EQ(TauOf({{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}), 64 * step_.manifest.eps);
}

}  // namespace
}  // namespace ostraka::protocol::tau_test
