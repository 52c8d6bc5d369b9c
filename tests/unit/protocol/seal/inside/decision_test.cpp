#include "node/protocol/seal/inside/decision.h"

#include <gtest/gtest.h>

#include "tests/unit/protocol/seal/inside/parts_fixture.h"

namespace ostraka::protocol::decision_test {
namespace {

using parts::AllFive;
using parts::FrameOf;
using parts::HeldMessages;
using parts::ValueOf;
using scene::PeerNumber;

Signers ThreeSigners() {
  return {{PeerNumber(0), FrameOf(0)}, {PeerNumber(1), FrameOf(1)}, {PeerNumber(3), FrameOf(3)}};
}

TEST(SealDecisionTest, NamesTheFramesThatProveItAndTheOtherSigners) {
  SealDecision decision;
  EXPECT_FALSE(decision.made());
  EXPECT_TRUE(decision.certificate().empty());
  decision.Make(ValueOf(AllFive()), ThreeSigners(), PeerNumber(0));
  EXPECT_TRUE(decision.made());
  EXPECT_EQ(decision.certificate().size(), 3u);
  EXPECT_EQ(decision.witnesses(), (std::vector<PeerId>{PeerNumber(1), PeerNumber(3)}));
  EXPECT_DEATH(decision.Make(scene::DigestOf(2), ThreeSigners(), PeerNumber(0)), "CHECK failed");
}

TEST(SealDecisionTest, ItsVectorIsThereOnceAllThatItNamesIsHeld) {
  HeldMessages messages(5);
  messages.Drop(3);
  SealValues values(5, &messages);
  SealDecision decision;
  decision.Make(ValueOf(AllFive()), ThreeSigners(), PeerNumber(0));
  decision.Resolve(values);
  EXPECT_EQ(decision.vector(), std::nullopt) << "the vector is unknown";
  values.Add(ValueOf(AllFive()), AllFive());
  decision.Resolve(values);
  EXPECT_EQ(decision.vector(), std::nullopt) << "a message is not held";
  messages.Hold(3, scene::DigestOf(103));
  decision.Resolve(values);
  EXPECT_EQ(decision.vector(), AllFive());
  decision.CheckInvariants();
}

TEST(SealDecisionTest, AMemberThatHasToAskAgainIsAlone) {
  SealDecision decision;
  decision.Make(ValueOf(AllFive()), ThreeSigners(), PeerNumber(0));
  EXPECT_FALSE(decision.NoteAsked());
  EXPECT_FALSE(decision.alone());
  EXPECT_TRUE(decision.NoteAsked());
  EXPECT_TRUE(decision.alone());
}

}  // namespace
}  // namespace ostraka::protocol::decision_test
