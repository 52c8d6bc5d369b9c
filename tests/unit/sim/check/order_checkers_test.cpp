// Each checker fires on the wrong order that it is for, and on no other.
#include "sim/check/order_checkers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proofs/evidence/evidence.h"
#include "tests/unit/sim/checked_peers.h"

namespace ostraka::sim::order_checkers_test {
namespace {

using testing::HasSubstr;
using wire::MessageType;
using wire::Phase;

wire::SignedEnvelope Said(std::uint32_t author, Phase phase, MessageType type, std::uint64_t step,
                          base::Bytes body) {
  wire::Slot slot;
  slot.step = step;
  slot.phase = phase;
  slot.type = type;
  return wire::Seal({slot, {}, Key(author)->id(), std::move(body)}, *Key(author));
}
protocol::Action Commit(std::uint32_t author, std::uint64_t step) {
  return SendOf(Said(author, Phase::kA, MessageType::kCommit, step, wire::Encode(wire::Commit{})));
}
protocol::Action Proof(std::uint32_t author, std::uint64_t step) {
  return SendOf(Said(author, Phase::kC, MessageType::kProof, step, wire::Encode(wire::Proof{})));
}

// --- phase_order --------------------------------------------------------------------------------

TEST(PhaseOrder, FiresOnACoinBeforeSealA) {
  PhaseOrder checker(ThreePeers());
  EXPECT_TRUE(checker.OnAction(0, SealedAs(3, 1, 7)).ok());
  EXPECT_TRUE(checker.OnAction(0, SendOf(Reveal(0, 3, 5))).ok());
  EXPECT_TRUE(checker.OnAction(0, SendOf(Reveal(2, 4, 5))).ok()) << "another's, passed on";
  EXPECT_THAT(Fault(checker.OnAction(0, SendOf(Reveal(0, 4, 5)))),
              HasSubstr("reveal of step 4 before its seal A"));
  EXPECT_THAT(Fault(checker.OnAction(1, SendOf(Reveal(1, 3, 5)))), HasSubstr("seal A"))
      << "what another has decided does not count";
}

TEST(PhaseOrder, FiresOnACommitBeforeItsBlockAndAProofBeforeItsCoin) {
  PhaseOrder checker(ThreePeers());
  EXPECT_TRUE(checker.OnAction(0, Commit(0, 0)).ok()) << "genesis is no step";
  EXPECT_THAT(Fault(checker.OnAction(0, Commit(0, 1))), HasSubstr("block before"));
  EXPECT_TRUE(checker.OnAction(0, Done(ABlock(0))).ok());
  EXPECT_TRUE(checker.OnAction(0, Commit(0, 1)).ok());
  EXPECT_TRUE(checker.OnAction(0, SealedAs(1, 1, 7)).ok());
  EXPECT_THAT(Fault(checker.OnAction(0, Proof(0, 1))), HasSubstr("seal B"));
  EXPECT_TRUE(checker.OnAction(0, SealedAs(1, 2, 7)).ok());
  EXPECT_TRUE(checker.OnAction(0, Proof(0, 1)).ok());
}

// --- draw_order ---------------------------------------------------------------------------------

wire::Block Drawing(std::uint64_t step, std::uint64_t judged) {
  wire::Block block = ABlock(step);
  block.proven = ThreePeers().ids;
  std::sort(block.proven.begin(), block.proven.end());
  block.drawn = {{Key(0)->id(), Key(1)->id(), judged, {}}};
  return block;
}

TEST(DrawOrder, FiresOnADrawAboutAStepNotYetSealed) {
  DrawOrder checker(ThreePeers());
  wire::Block first = Drawing(4, 3);
  first.drawn.clear();
  EXPECT_TRUE(checker.OnAction(0, Done(first)).ok());
  EXPECT_TRUE(checker.OnAction(0, Done(Drawing(5, 4))).ok());
  EXPECT_THAT(Fault(checker.OnAction(0, Done(Drawing(6, 6)))), HasSubstr("judged for step 6"));
}

TEST(DrawOrder, FiresOnATargetWithoutASealedProof) {
  DrawOrder checker(ThreePeers());
  wire::Block silent = ABlock(4);
  silent.proven = {Key(2)->id()};
  EXPECT_TRUE(checker.OnAction(0, Done(silent)).ok());
  EXPECT_THAT(Fault(checker.OnAction(0, Done(Drawing(5, 4)))), HasSubstr(Key(1)->id().Short()));
}

TEST(DrawOrder, JudgesEachBlockOnce) {
  DrawOrder checker(ThreePeers());
  wire::Block first = Drawing(4, 3);
  first.drawn.clear();
  EXPECT_TRUE(checker.OnAction(0, Done(first)).ok());
  for (std::uint64_t step = 5; step < 40; ++step) {
    EXPECT_TRUE(checker.OnAction(0, Done(Drawing(step, step - 1))).ok());
  }
  for (std::uint64_t step = 5; step < 40; ++step) {
    EXPECT_TRUE(checker.OnAction(1, Done(Drawing(step, step - 1))).ok()) << step;
  }
}

// --- guilt_spreads ------------------------------------------------------------------------------

protocol::Action Started(std::uint64_t step) {
  protocol::StepStarted started;
  started.step = step;
  return protocol::Observe{started};
}

class GuiltSpreadsTest : public testing::Test {
 protected:
  // Peer 2 signs two COMMITs of step 3.
  protocol::Action Evidence() const {
    wire::Commit other;
    other.coin_count = 2;
    const auto a = Said(2, Phase::kA, MessageType::kCommit, 3, wire::Encode(wire::Commit{}));
    const auto b = Said(2, Phase::kA, MessageType::kCommit, 3, wire::Encode(other));
    const auto file = evidence::MakeEquivocation(*a.frame, *b.frame);
    EXPECT_TRUE(file.ok());
    return protocol::Store{9, {{protocol::RecordKind::kEvidence, {1}, *file}}};
  }
  static wire::Block Banning(std::uint64_t step) {
    wire::Block block = ABlock(step);
    block.standings = {{.peer = Key(2)->id(), .banned = true}};
    return block;
  }
};

TEST_F(GuiltSpreadsTest, FiresIfTheSecondBlockLacksTheBan) {
  GuiltSpreads checker(ThreePeers());
  EXPECT_TRUE(checker.OnAction(0, Started(3)).ok());
  EXPECT_TRUE(checker.OnAction(0, Evidence()).ok());
  EXPECT_TRUE(checker.OnAction(1, Done(ABlock(3))).ok());
  EXPECT_TRUE(checker.OnAction(1, Done(ABlock(4))).ok()) << "in time for the next PROOF at least";
  EXPECT_THAT(Fault(checker.OnAction(1, Done(ABlock(5)))), HasSubstr("does not know of it"));
}

TEST_F(GuiltSpreadsTest, PassesABan) {
  GuiltSpreads checker(ThreePeers());
  EXPECT_TRUE(checker.OnAction(0, Started(3)).ok());
  EXPECT_TRUE(checker.OnAction(0, Evidence()).ok());
  EXPECT_TRUE(checker.OnAction(1, Done(Banning(5))).ok());
}

TEST_F(GuiltSpreadsTest, ExcusesPeersThatAreAwayOrHitByAFault) {
  GuiltSpreads away(ThreePeers());
  EXPECT_TRUE(away.OnAction(0, Evidence()).ok());
  EXPECT_TRUE(away.OnAction(1, Done(ABlock(9))).ok());
  Roster roster = ThreePeers();
  roster.unlucky = {true, false, false};
  GuiltSpreads unlucky(roster);
  EXPECT_TRUE(unlucky.OnAction(0, Started(3)).ok());
  EXPECT_TRUE(unlucky.OnAction(0, Evidence()).ok());
  EXPECT_TRUE(unlucky.OnAction(1, Done(ABlock(9))).ok());
}

}  // namespace
}  // namespace ostraka::sim::order_checkers_test
