#include "node/protocol/rules/docket.h"

#include <gtest/gtest.h>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::docket_test {
namespace {

using scene::PeerNumber;
using scene::PeersUpTo;
using wire::RemovalKind;

std::vector<std::string> Reasons(const Docket& docket) {
  std::vector<std::string> reasons;
  for (const wire::Removal& removal : docket.Removals(9))
    reasons.push_back(wire::TextOf(removal.reason));
  return reasons;
}

TEST(NoteFaultTest, TheGravestStaysAndTheFirstOfEqualOnes) {
  SealedFaults faults;
  NoteFault(faults, PeerNumber(1), FaultKind::kDrop, {.old_text = "a"});
  NoteFault(faults, PeerNumber(1), FaultKind::kDrop, {.old_text = "b"});
  EXPECT_EQ(faults.at(PeerNumber(1)), (Fault{FaultKind::kDrop, {.old_text = "a"}}));
  NoteFault(faults, PeerNumber(1), FaultKind::kBan, {.old_text = "c"});
  NoteFault(faults, PeerNumber(1), FaultKind::kDropAtReveal, {.old_text = "d"});
  NoteFault(faults, PeerNumber(1), FaultKind::kBan, {.old_text = "e"});
  EXPECT_EQ(faults.at(PeerNumber(1)), (Fault{FaultKind::kBan, {.old_text = "c"}}));
}

TEST(DocketTest, APeerLosesOnceByTheGravest) {
  Docket docket(PeersUpTo(4), PeersUpTo(4));
  docket.Drop(PeerNumber(2), {.old_text = "absent"});
  docket.Drop(PeerNumber(2), {.old_text = "silent"});
  EXPECT_EQ(Reasons(docket), std::vector<std::string>{"absent"});
  docket.Drop(PeerNumber(2), {.old_text = "after the coin"}, FaultKind::kDropAtReveal);
  EXPECT_EQ(docket.Losers().at(PeerNumber(2)), FaultKind::kDropAtReveal);
  docket.EndPass();
  docket.Ban(PeerNumber(2), RemovalKind::kVerdict, {.old_text = "guilty"});
  docket.Drop(PeerNumber(2), {.old_text = "again"});
  EXPECT_EQ(Reasons(docket), std::vector<std::string>{"guilty"});
}

TEST(DocketTest, APassSeesOnlyEarlierPasses) {
  Docket docket(PeersUpTo(4), PeersUpTo(4));
  docket.Drop(PeerNumber(2), {.old_text = "absent"});
  EXPECT_TRUE(docket.Stays(PeerNumber(2)));
  docket.EndPass();
  EXPECT_FALSE(docket.Stays(PeerNumber(2)));
  EXPECT_TRUE(docket.Stays(PeerNumber(3)));
  EXPECT_FALSE(docket.Stays(PeerNumber(9))) << "no member";
}

TEST(DocketTest, BansFirstEachByKeyWithTheStep) {
  Docket docket(PeersUpTo(6), PeersUpTo(6));
  docket.Drop(PeerNumber(0), {.old_text = "d0"});
  docket.Ban(PeerNumber(5), RemovalKind::kEvidence, {.old_text = "b5"});
  docket.Drop(PeerNumber(3), {.old_text = "d3"});
  docket.Ban(PeerNumber(1), RemovalKind::kVerdict, {.old_text = "b1"});
  EXPECT_EQ(Reasons(docket), (std::vector<std::string>{"b1", "b5", "d0", "d3"}));
  EXPECT_EQ(docket.Removals(9)[0].kind, RemovalKind::kVerdict);
  EXPECT_EQ(docket.Removals(9)[3].kind, RemovalKind::kDrop);
  EXPECT_EQ(docket.Removals(9)[3].step, 9u);
}

TEST(DocketTest, StrangersAreNotDroppedAndOnlyGenesisKeysAreBanned) {
  Docket docket(PeersUpTo(3), PeersUpTo(4));  // member 3 has left, 4 never was
  docket.Drop(PeerNumber(3), {.old_text = "absent"});
  docket.Ban(PeerNumber(4), RemovalKind::kEvidence, {.old_text = "equivocated"});
  EXPECT_TRUE(docket.Losers().empty());
  docket.Ban(PeerNumber(3), RemovalKind::kEvidence, {.old_text = "equivocated"});
  EXPECT_EQ(docket.Losers().size(), 1u);
}

}  // namespace
}  // namespace ostraka::protocol::docket_test
