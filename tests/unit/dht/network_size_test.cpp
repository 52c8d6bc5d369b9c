#include "dht/table/network_size.h"

#include <gtest/gtest.h>

#include "tests/unit/dht/samples.h"

namespace ostraka::dht::network_size_test {
namespace {

std::vector<Digest> Nearest(const std::vector<Digest>& ids, const Digest& target) {
  std::vector<Digest> sorted = ids;
  std::sort(sorted.begin(), sorted.end(),
            [&target](const Digest& a, const Digest& b) { return IsNearer(target, a, b); });
  if (sorted.size() > NetworkSize::kNearest) sorted.resize(NetworkSize::kNearest);
  return sorted;
}

std::vector<Digest> RandomIds(base::Rng& rng, std::size_t count) {
  std::vector<Digest> ids(count);
  for (Digest& id : ids) id = RandomDigest(rng);
  return ids;
}

TEST(NetworkSizeTest, EstimatesWithinAFactorOfTwo) {
  base::Rng rng(3);
  for (const std::size_t count : {50U, 1000U, 20'000U}) {
    const std::vector<Digest> ids = RandomIds(rng, count);
    NetworkSize size;
    for (std::size_t i = 0; i < NetworkSize::kSamples; ++i) {
      const Digest point = RandomDigest(rng);
      size.Add(point, Nearest(ids, point));
    }
    EXPECT_GT(size.nodes(), 0.5 * static_cast<double>(count));
    EXPECT_LT(size.nodes(), 2.0 * static_cast<double>(count));
  }
}

TEST(NetworkSizeTest, FewNodesAreCountedAndTheFloorHolds) {
  base::Rng rng(3);
  const std::vector<Digest> ids = RandomIds(rng, 5);
  NetworkSize size;
  EXPECT_EQ(size.nodes(), 0);
  const Digest point = RandomDigest(rng);
  size.Add(point, Nearest(ids, point));
  EXPECT_EQ(size.nodes(), 5);
  size.SetFloor(9);
  EXPECT_EQ(size.nodes(), 9);
}

TEST(NetworkSizeTest, AnHonestNeighbourhoodIsNotTooDenseAndAGroundOneIs) {
  base::Rng rng(4);
  std::vector<Digest> ids = RandomIds(rng, 1000);
  NetworkSize size;
  for (int i = 0; i < 3; ++i) {
    const Digest point = RandomDigest(rng);
    size.Add(point, Nearest(ids, point));
  }
  int alarms = 0;
  for (int i = 0; i < 2000; ++i) {
    const Digest key = RandomDigest(rng);
    alarms += size.IsTooDense(key, Nearest(ids, key)) ? 1 : 0;
  }
  EXPECT_LE(alarms, 2);
  const Digest key = RandomDigest(rng);
  for (int i = 0; i < 16; ++i) ids.push_back(Sharing(key, 12, RandomDigest(rng)));
  EXPECT_TRUE(size.IsTooDense(key, Nearest(ids, key)));
}

TEST(NetworkSizeTest, TheRadiusHoldsSixteen) {
  base::Rng rng(6);
  const std::vector<Digest> ids = RandomIds(rng, 2000);
  NetworkSize size;
  for (int i = 0; i < 3; ++i) {
    const Digest point = RandomDigest(rng);
    size.Add(point, Nearest(ids, point));
  }
  std::size_t within = 0;
  for (int i = 0; i < 100; ++i) {
    const Digest key = RandomDigest(rng);
    for (const Digest& id : ids) within += TopDistance(key, id) <= size.Radius() ? 1 : 0;
  }
  EXPECT_GT(within, 800U);
  EXPECT_LT(within, 3200U);
}

}  // namespace
}  // namespace ostraka::dht::network_size_test
