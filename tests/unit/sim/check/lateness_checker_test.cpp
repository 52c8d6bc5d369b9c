#include "sim/check/lateness_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sim/checked_peers.h"

namespace ostraka::sim::lateness_checker_test {
namespace {

wire::Block Charging(std::uint32_t peer, std::uint64_t ms) {
  wire::Block block = ABlock(4);
  block.lateness = {{.peer = Key(peer)->id(), .ms = ms}};
  return block;
}

TEST(HonestNeverLate, AllowsChargesToByzantineMembers) {
  HonestNeverLate checker(ThreePeers());
  EXPECT_TRUE(checker.OnAction(0, Done(ABlock(3))).ok());
  EXPECT_TRUE(checker.OnAction(0, Done(Charging(2, 40'000))).ok());
}

TEST(HonestNeverLate, FiresOnOneMillisecondOfAnHonestMember) {
  HonestNeverLate checker(ThreePeers());
  EXPECT_THAT(Fault(checker.OnAction(0, Done(Charging(1, 1)))),
              testing::HasSubstr("charged honest peer 1"));
}

}  // namespace
}  // namespace ostraka::sim::lateness_checker_test
