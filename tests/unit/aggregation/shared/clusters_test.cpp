#include "aggregation/shared/clusters.h"

#include <gtest/gtest.h>

#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::clusters_test {
namespace {

using Indices = std::vector<std::size_t>;

std::vector<double> OnALine(const std::vector<double>& points) {
  std::vector<double> distances;
  for (const double a : points) {
    for (const double b : points) distances.push_back(std::abs(a - b));
  }
  return distances;
}

TEST(Clusters, AverageLinkageKeepsTheLargerPart) {
  EXPECT_EQ(LargerByAverageLinkage(5, OnALine({0, 10, 1, 11, 2})), (Indices{0, 2, 4}));
  EXPECT_EQ(LargerByAverageLinkage(4, OnALine({0, 10, 1, 11})), (Indices{0, 2}));  // equal: first
  EXPECT_EQ(LargerByAverageLinkage(1, {0}), (Indices{0}));
}

// Three twins and two others, all equally far: the average over twins is what each of them has, so
// that the pair with the lowest indices is merged. (0.1 + 0.2) / 3 is more than 0.1.
TEST(Clusters, AverageLinkageKeepsTiesOfTwins) {
  std::vector<double> distances(25, 0.1);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 5; ++j) {
      if (i == j || (i < 3 && j < 3)) distances[i * 5 + j] = 0;
    }
  }
  EXPECT_EQ(LargerByAverageLinkage(5, distances), (Indices{0, 1, 2, 3}));
}

// On the way point 2 is as far from the mean of one cluster as from that of the other, which takes
// thirds to see: in doubles rounding decides, for the other cluster.
TEST(Clusters, TwoMeansKeepsTies) {
  EXPECT_EQ(
      LargerOfTwoMeans({{1, 0, 0}, {26, 0, 0}, {13, 0, 0}, {16, 0, 0}, {6, 0, 0}, {16, 0, 0}}),
      (Indices{0, 2, 4}));
}

TEST(Clusters, CosineDropsWhatRoundingLeft) {
  EXPECT_EQ(Cosine(1 - 0x1p-50, 1, 1), 1);
  EXPECT_EQ(Cosine(1 + 0x1p-50, 1, 1), 1);
  EXPECT_EQ(Cosine(-1 - 0x1p-50, 1, 1), -1);
  EXPECT_EQ(Cosine(0x1p-50, 1, 1), 0);
  EXPECT_EQ(Cosine(0x1p-30, 1, 1), 0x1p-30);
  EXPECT_EQ(Cosine(1 - 0x1p-30, 1, 1), 1 - 0x1p-30);
  EXPECT_EQ(Cosine(0, 0, 1), 0);
  EXPECT_EQ(Cosine(0x1p-1000, 0x1p-500, 0x1p-500), 0) << "too short for its square";
}

TEST(Clusters, DensestMajorityConnectsFirst) {
  EXPECT_EQ(DensestMajority(5, OnALine({0, 100, 1, 2, 50})), (Indices{0, 2, 3}));
  EXPECT_EQ(DensestMajority(4, OnALine({0, 1, 2, 3})), (Indices{0, 1, 2, 3}));  // all at once
  EXPECT_EQ(DensestMajority(1, std::vector<double>{0}), (Indices{0}));
}

TEST(Clusters, TwoMeansKeepsTheLargerCluster) {
  EXPECT_EQ(LargerOfTwoMeans({{0, 0, 10}, {10, 0, 0}, {1, 0, 9}, {0, 1, 9}}), (Indices{0, 2, 3}));
  EXPECT_EQ(LargerOfTwoMeans({{1, 0, 0}, {1, 0, 0}}), (Indices{0, 1}));
}

TEST(Clusters, CosinesOfZeroRowsAreZero) {
  const std::vector<double> packed = {4, 0, 0, 2, 0, 1};  // <0,0> <1,0> <1,1> <2,0> <2,1> <2,2>
  const auto distances = CosineDistances(SymmetricMatrix(3, packed));
  EXPECT_EQ(distances, (std::vector<double>{0, 1, 0, 1, 0, 1, 0, 1, 0}));
}

}  // namespace
}  // namespace ostraka::aggregation::clusters_test
