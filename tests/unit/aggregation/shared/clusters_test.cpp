#include "aggregation/shared/clusters.h"

#include <gtest/gtest.h>

#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation {
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

TEST(Clusters, DensestMajorityConnectsFirst) {
  EXPECT_EQ(DensestMajority(5, OnALine({0, 100, 1, 2, 50})), (Indices{0, 2, 3}));
  EXPECT_EQ(DensestMajority(4, OnALine({0, 1, 2, 3})), (Indices{0, 1, 2, 3}));  // all at once
  EXPECT_EQ(DensestMajority(1, std::vector<double>{0}), (Indices{0}));
}

TEST(Clusters, TwoMeansKeepsTheLargerCluster) {
  EXPECT_EQ(LargerOfTwoMeans({{0, 0, 1}, {1, 0, 0}, {0.1, 0, 0.9}, {0, 0.1, 0.9}}),
            (Indices{0, 2, 3}));
  EXPECT_EQ(LargerOfTwoMeans({{1, 0, 0}, {1, 0, 0}}), (Indices{0, 1}));
}

TEST(Clusters, CosinesOfZeroRowsAreZero) {
  const std::vector<double> packed = {4, 0, 0, 2, 0, 1};  // <0,0> <1,0> <1,1> <2,0> <2,1> <2,2>
  const auto distances = CosineDistances(SymmetricMatrix(3, packed));
  EXPECT_EQ(distances, (std::vector<double>{0, 1, 0, 1, 0, 1, 0, 1, 0}));
}

}  // namespace
}  // namespace ostraka::aggregation
