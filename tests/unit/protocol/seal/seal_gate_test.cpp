#include "node/protocol/seal/seal_gate.h"

#include <gtest/gtest.h>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::seal_gate_test {
namespace {

using scene::PeerNumber;
using scene::PeersUpTo;

base::SharedBytes FrameOf(std::uint8_t number) {
  return std::make_shared<const base::Bytes>(base::Bytes{number});
}

TEST(SealGateTest, IsOpenWithClosesOfAQuorumOfUnmutedMembers) {
  SealGate gate(PeersUpTo(4), 3);
  EXPECT_TRUE(gate.empty());
  EXPECT_TRUE(gate.Add(PeerNumber(1), FrameOf(1)));
  EXPECT_FALSE(gate.Add(PeerNumber(1), FrameOf(9))) << "one CLOSE of each member";
  EXPECT_FALSE(gate.Add(PeerNumber(7), FrameOf(7))) << "muted, or a stranger";
  EXPECT_TRUE(gate.Add(PeerNumber(2), FrameOf(2)));
  EXPECT_FALSE(gate.open());
  EXPECT_EQ(gate.Lacking(), (std::vector<PeerId>{PeerNumber(0), PeerNumber(3)}));
  EXPECT_EQ(gate.FrameOf(PeerNumber(3)), nullptr);
  EXPECT_TRUE(gate.Add(PeerNumber(0), FrameOf(0)));
  EXPECT_EQ(**gate.FrameOf(PeerNumber(0)), base::Bytes{0});
  gate.CheckInvariants();
  EXPECT_TRUE(gate.open());
}

// A member that has decided does not pass, though the gate opens.
TEST(SealGateTest, AMemberPassesWhenItsOwnerSaysSoAndNotBeforeTheGateIsOpen) {
  SealGate gate(PeersUpTo(4), 2);
  gate.Add(PeerNumber(1), FrameOf(1));
  EXPECT_DEATH(gate.Pass(), "CHECK failed");
  gate.Add(PeerNumber(2), FrameOf(2));
  EXPECT_FALSE(gate.passed());
  gate.Pass();
  EXPECT_TRUE(gate.passed());
  gate.CheckInvariants();
}

TEST(SealGateTest, ForwardsAQuorumWithoutTheOwnFrame) {
  SealGate gate(PeersUpTo(5), 3);
  for (std::uint8_t i = 1; i < 5; ++i) gate.Add(PeerNumber(i), FrameOf(i));
  EXPECT_EQ(gate.FramesToForward(PeerNumber(0)).size(), 3u);
  EXPECT_EQ(gate.FramesToForward(PeerNumber(2)).size(), 2u);
}

}  // namespace
}  // namespace ostraka::protocol::seal_gate_test
