// What a machine says when a person asks what it waits for.
#include <gtest/gtest.h>

#include "tests/unit/protocol/member/whole/four_peers.h"

namespace ostraka::protocol::scene::peer_progress_test {
namespace {

using wire::MessageType;

struct Silence {
  MessageType type;
  const char* phase;
};

TEST(PeerProgressTest, NamesWhomItWaitsForAndForWhat) {
  for (const Silence& silence :
       {Silence{MessageType::kBoot, "genesis"}, Silence{MessageType::kCommit, "collect"},
        Silence{MessageType::kPart, "collect"}, Silence{MessageType::kAggregate, "collect"},
        Silence{MessageType::kReveal, "reveal"}, Silence{MessageType::kProof, "prove"},
        Silence{MessageType::kResult, "prove"}}) {
    const std::string message = wire::MessageTypeName(silence.type);
    SCOPED_TRACE(message);
    Cluster cluster(Steps(6));
    cluster.on_send = [&](std::size_t from, const Send& send) {
      return from != kCheat || SlotOf(send).type != silence.type;
    };
    cluster.Start();
    cluster.Run();
    for (const std::size_t i : kHonest) {
      const Progress progress = cluster.node(i).machine->progress();
      EXPECT_EQ(progress.phase, silence.phase);
      EXPECT_EQ(progress.step, 0U);
      bool named = false;
      for (const Progress::Missing& missing : progress.missing) {
        EXPECT_NE(missing.peer, cluster.node(i).id()) << "waits for itself";
        named = named || (missing.peer == cluster.node(kCheat).id() && missing.message == message);
      }
      EXPECT_TRUE(named) << progress.missing.size();
    }
  }
}

TEST(PeerProgressTest, BeforeItsStartAndAfterItsEndItWaitsForNobody) {
  Cluster cluster(Steps(6));
  EXPECT_EQ(cluster.node(0).machine->progress().phase, "starting");
  EXPECT_TRUE(cluster.node(0).machine->progress().missing.empty());
  cluster.Start();
  cluster.RunToEnd();
  const Progress progress = cluster.node(0).machine->progress();
  EXPECT_EQ(progress.phase, "halted");
  EXPECT_EQ(progress.step, 7U);
  EXPECT_TRUE(progress.missing.empty());
}

TEST(PeerProgressTest, AnUnprotectedPeerSaysItToo) {
  Cluster cluster({.n = 4, .dimension = 64, .steps = 6, .plain = true});
  cluster.on_send = [&](std::size_t from, const Send& send) {
    return from != kCheat || wire::OpenUnsigned(*send.frame)->slot.type != MessageType::kResult;
  };
  cluster.Start();
  cluster.Run();
  const Progress progress = cluster.node(0).machine->progress();
  EXPECT_EQ(progress.phase, "collect");
  ASSERT_EQ(progress.missing.size(), 1U);
  EXPECT_EQ(progress.missing[0].peer, cluster.node(kCheat).id());
  EXPECT_EQ(progress.missing[0].message, "result");
}

}  // namespace
}  // namespace ostraka::protocol::scene::peer_progress_test
