#include "sim/adversary/coven.h"

#include <gtest/gtest.h>

#include "tests/unit/sim/adversary/wrapped.h"

namespace ostraka::sim::coven_test {
namespace {

TEST(Coven, KnowsItsMembers) {
  const Coven coven({PeerNumber(5), PeerNumber(2)}, 9);
  EXPECT_TRUE(coven.Contains(PeerNumber(2)));
  EXPECT_TRUE(coven.Contains(PeerNumber(5)));
  EXPECT_FALSE(coven.Contains(PeerNumber(3)));
  EXPECT_EQ(coven.members().front(), PeerNumber(2));
}

TEST(Coven, ComputesAVectorOncePerStepAndParameters) {
  Coven coven({}, 9);
  int made = 0;
  const auto make = [&] { return std::vector<float>{static_cast<float>(++made)}; };
  const auto first = coven.Agree(1, Floats({1, 2}), make);
  EXPECT_EQ(coven.Agree(1, Floats({1, 2}), make), first);
  EXPECT_NE(coven.Agree(2, Floats({1, 2}), make), first);
  EXPECT_NE(coven.Agree(1, Floats({1, 3}), make), first);
  EXPECT_EQ(made, 3);
  for (std::uint64_t step = 10; step < 20; ++step) coven.Agree(step, Floats({0}), make);
  EXPECT_NE(coven.Agree(1, Floats({1, 2}), make), first) << "forgotten";
}

TEST(Coven, CountsDeeds) {
  Coven coven({PeerNumber(1)}, 9);
  coven.Confess(PeerNumber(1), 4);
  coven.Confess(PeerNumber(1), 4);
  coven.Confess(PeerNumber(1), 8);
  const Deeds& deeds = coven.deeds().at(PeerNumber(1));
  EXPECT_EQ(deeds.first_step, 4U);
  EXPECT_EQ(deeds.last_step, 8U);
  EXPECT_EQ(deeds.count, 3U);
}

}  // namespace
}  // namespace ostraka::sim::coven_test
