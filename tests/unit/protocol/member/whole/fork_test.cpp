// A run that splits: two colluders, one more than four members bear, lead two honest ones apart.
// One keeps both in step with them while the network is cut; then the honest ones meet.
#include <gtest/gtest.h>

#include <set>

#include "proofs/evidence/evidence.h"
#include "tests/unit/protocol/member/whole/cluster.h"
#include "tests/unit/protocol/member/whole/four_peers.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::fork_test {
namespace {

using scene::Cluster;
using scene::EnvelopeOf;
using scene::Steps;

constexpr std::size_t kLeft = 0;   // honest, alone with the colluders in the left history
constexpr std::size_t kRight = 1;  // honest, in the right one
constexpr std::size_t kColluders[] = {2, 3};

// The same run twice: in each copy the other honest member is gone, so what the colluders say in
// both is what two-faced members would say to the two sides of a cut.
class ForkTest : public ::testing::Test {
 protected:
  ForkTest() : left_(Steps(60)), right_(Steps(60)) {}

  void PartIn(std::size_t blocks, std::size_t blocks_apart) {
    for (Cluster* world : {&left_, &right_}) {
      const std::size_t honest = world == &left_ ? kLeft : kRight;
      world->Start();
      world->RunUntil([&] { return world->node(honest).blocks.size() >= blocks; });
      world->Kill(honest == kLeft ? kRight : kLeft);
      world->RunUntil([&] { return world->node(honest).blocks.size() >= blocks + blocks_apart; });
    }
  }

  void Meet() {
    left_.on_send = [this](std::size_t from, const Send& send) {
      if (left_.IndexOf(send.to) != kRight) return !TellsColludersOfThemselves(left_, send);
      if (from == kLeft) right_.Deliver(kRight, kLeft, send.frame, send.blob);
      return false;
    };
    right_.on_send = [this](std::size_t from, const Send& send) {
      if (right_.IndexOf(send.to) != kLeft) return !TellsColludersOfThemselves(right_, send);
      if (from == kRight) left_.Deliver(kLeft, kRight, send.frame, send.blob);
      return false;
    };
    left_.Feed(kLeft, LinkChanged{left_.node(kRight).id(), true});
    right_.Feed(kRight, LinkChanged{right_.node(kLeft).id(), true});
  }

  // They know what they said on the other side, and their machines of this one need not.
  static bool TellsColludersOfThemselves(Cluster& world, const Send& send) {
    const auto is_colluder = [&](const PeerId& peer) {
      return peer == world.node(kColluders[0]).id() || peer == world.node(kColluders[1]).id();
    };
    return is_colluder(send.to) && is_colluder(EnvelopeOf(send.frame).sender);
  }

  // Both worlds in turn, until both honest members have halted.
  void RunBoth() {
    const auto over = [this] { return left_.node(kLeft).halted && right_.node(kRight).halted; };
    for (int round = 0; round < 2000 && !over(); ++round) {
      for (Cluster* world : {&left_, &right_}) {
        int deliveries = 50;
        world->RunUntil([&] { return --deliveries < 0 || over(); });
      }
    }
  }

  static std::set<PeerId> AccusedIn(const Cluster::Node& node) {
    crypto::PlainVerifier verifier;
    std::set<PeerId> accused;
    for (const auto& [key, record] : node.durable) {
      if (key.first != RecordKind::kEvidence) continue;
      const evidence::Finding finding = evidence::Verify(record.value, verifier);
      EXPECT_EQ(finding.outcome, evidence::Outcome::kProven) << finding.reason;
      accused.insert(finding.accused);
    }
    return accused;
  }

  void ExpectFrozen(Cluster& world, std::size_t honest) {
    const Cluster::Node& node = world.node(honest);
    ASSERT_TRUE(node.halted) << "it never learnt of the other history";
    EXPECT_EQ(node.halted->why, Halted::Why::kForked) << node.halted->reason;
    const std::set<PeerId> culprits = {world.node(kColluders[0]).id(),
                                       world.node(kColluders[1]).id()};
    EXPECT_EQ(AccusedIn(node), culprits);
    for (const PeerId& culprit : culprits) {
      EXPECT_NE(node.halted->reason.find(culprit.Short()), std::string::npos)
          << node.halted->reason;
    }
  }

  Cluster left_, right_;
};

TEST_F(ForkTest, BothSidesFreezeAndNameWhoSignedTwice) {
  PartIn(3, 2);
  Meet();
  RunBoth();
  ExpectFrozen(left_, kLeft);
  ExpectFrozen(right_, kRight);
}

// What both sides decided alike is many steps back: the proofs lead there one by one.
TEST_F(ForkTest, ALongCutIsTracedBackToItsFirstStep) {
  PartIn(3, 20);
  Meet();
  RunBoth();
  ExpectFrozen(left_, kLeft);
  ExpectFrozen(right_, kRight);
  EXPECT_NE(left_.node(kLeft).halted->reason.find("seal a of step 3"), std::string::npos)
      << left_.node(kLeft).halted->reason;
}

TEST_F(ForkTest, AFrozenMemberStaysFrozenWhenItStartsAgain) {
  PartIn(3, 2);
  Meet();
  RunBoth();
  ASSERT_TRUE(left_.node(kLeft).halted);
  const std::string reason = left_.node(kLeft).halted->reason;
  left_.Kill(kLeft);
  std::size_t said = 0;
  left_.on_send = [&](std::size_t from, const Send&) {
    said += from == kLeft ? 1 : 0;
    return true;
  };
  left_.Restart(kLeft);
  ASSERT_TRUE(left_.node(kLeft).halted);
  EXPECT_EQ(left_.node(kLeft).halted->why, Halted::Why::kForked);
  EXPECT_EQ(left_.node(kLeft).halted->reason, reason);
  EXPECT_EQ(said, 0u);
}

}  // namespace
}  // namespace ostraka::protocol::fork_test
