// How a run begins: whose words of genesis count, and what a lost store or ECHO does to it.
#include <gtest/gtest.h>

#include "tests/unit/protocol/member/whole/cluster.h"
#include "tests/unit/protocol/member/whole/four_peers.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::genesis_test {
namespace {

using scene::Cluster;
using scene::HonestBlocks;
using scene::RemovalsOf;
using scene::Steps;
using wire::MessageType;

constexpr std::size_t kVictim = 2;

TEST(GenesisTest, AStoreLostBeforeAnyEchoCostsNothing) {
  constexpr std::size_t kLast = 3;
  Cluster cluster(Steps(6));
  bool here = false;  // the last one
  cluster.on_send = [&](std::size_t from, const Send& send) {
    return here || (from != kLast && cluster.IndexOf(send.to) != kLast);
  };
  cluster.Start();
  cluster.Run();
  cluster.Kill(kVictim);
  cluster.node(kVictim).durable.clear();
  cluster.Restart(kVictim);
  cluster.Run();
  here = true;
  for (const std::size_t i : {0u, 1u, 2u}) {
    cluster.Feed(i, LinkChanged{cluster.node(kLast).id(), true});
    cluster.Feed(kLast, LinkChanged{cluster.node(i).id(), true});
  }
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  EXPECT_TRUE(cluster.node(kVictim).away.empty());
  cluster.ExpectAgreement();
}

// Nobody echoes the BOOT of one who is away: it may come back without its store.
TEST(GenesisTest, NobodyEchoesWhileOneIsAway) {
  constexpr std::size_t kLast = 3;
  Cluster cluster(Steps(6));
  bool here = false;  // the last one
  std::size_t echoes = 0;
  cluster.on_send = [&](std::size_t from, const Send& send) {
    if (scene::SlotOf(send).type == MessageType::kEcho) ++echoes;
    return here || (from != kLast && cluster.IndexOf(send.to) != kLast);
  };
  cluster.Start();
  cluster.Run();
  cluster.Kill(kVictim);
  cluster.node(kVictim).durable.clear();
  here = true;
  for (const std::size_t i : {0u, 1u}) {
    cluster.Feed(i, LinkChanged{cluster.node(kLast).id(), true});
    cluster.Feed(kLast, LinkChanged{cluster.node(i).id(), true});
  }
  cluster.Run();
  EXPECT_EQ(echoes, 0u);
  cluster.Restart(kVictim);
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  EXPECT_TRUE(cluster.node(kVictim).away.empty());
  cluster.ExpectAgreement();
}

// A liar shows its ECHO to one member only, which begins. The others begin with it, at once: left
// to wait, they would lose their place for COMMITs that nobody got.
TEST(GenesisTest, WhoBeginsTakesTheOthersAlong) {
  constexpr std::size_t kLiar = 3;
  Cluster cluster(Steps(6));
  cluster.on_send = [&](std::size_t from, const Send& send) {
    const wire::Envelope envelope = scene::EnvelopeOf(send.frame);
    const bool echo =
        envelope.slot.phase == wire::Phase::kGenesis && envelope.slot.type == MessageType::kEcho;
    const bool shows = from == kLiar && echo && cluster.IndexOf(send.to) != 0;
    // Nor does its COMMIT prove that it has begun.
    const bool commit = from == kLiar && envelope.slot.type == MessageType::kCommit &&
                        envelope.slot.step == 0 && cluster.IndexOf(send.to) != 0;
    return !shows && !commit;
  };
  cluster.Start();
  cluster.RunUntil([&] { return !cluster.node(0).started.empty(); });
  const base::Time begun = cluster.now();
  cluster.RunUntil(
      [&] { return !cluster.node(1).started.empty() && !cluster.node(2).started.empty(); });
  EXPECT_LE(cluster.now() - begun, base::Milliseconds(100)) << "a message, not a deadline";
  cluster.RunToEnd();
  for (const wire::Removal& removal : RemovalsOf(cluster)) {
    EXPECT_EQ(cluster.IndexOf(removal.peer), kLiar) << wire::TextOf(removal.reason);
  }
  cluster.ExpectAgreement({0, 1, 2});
}

// Its ECHO says all that was agreed on: who starts again from it needs no BOOT.
TEST(GenesisTest, BeginsWhenAllHaveEchoedAndAllStartAgain) {
  Cluster cluster(Steps(6));
  MessageType lost = MessageType::kEcho;
  std::size_t lost_count = 0;
  cluster.on_send = [&](std::size_t, const Send& send) {
    if (scene::SlotOf(send).type != lost) return true;
    ++lost_count;
    return false;
  };
  cluster.Start();
  cluster.Run();
  ASSERT_EQ(lost_count, 12u);
  lost = MessageType::kBoot;
  for (std::size_t i = 0; i < cluster.size(); ++i) cluster.Kill(i);
  for (std::size_t i = 0; i < cluster.size(); ++i) cluster.Restart(i);
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    EXPECT_TRUE(cluster.node(i).away.empty());
    EXPECT_TRUE(RemovalsOf(cluster).empty());
  }
  cluster.ExpectAgreement();
}

// The COMMITs of the others name the block that it would have sealed with that ECHO.
TEST(GenesisTest, WhoLacksAnEchoBeginsByTheCommitsOfTheOthers) {
  Cluster cluster(Steps(6));
  cluster.on_send = [&](std::size_t from, const Send& send) {
    const wire::Slot slot = scene::SlotOf(send);
    const bool echo = slot.phase == wire::Phase::kGenesis && slot.type == MessageType::kEcho;
    return !echo || from != kVictim || cluster.IndexOf(send.to) != 0;
  };
  cluster.Start();
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  EXPECT_TRUE(cluster.node(0).away.empty());
  EXPECT_EQ(cluster.node(0).encoded_blocks, HonestBlocks(6));
}

// A block shows a newcomer that the run has begun. One member's word must not: it could keep
// anybody from the beginning.
TEST(GenesisTest, OneLiarsBlockKeepsNobodyFromTheBeginning) {
  Cluster cluster(Steps(6));
  Block forged = scene::ViewBefore(cluster.manifest(), 5);
  const wire::Slot slot{.run_id = cluster.manifest().run_id,
                        .incarnation = 0,
                        .step = 4,
                        .phase = wire::Phase::kC,
                        .type = MessageType::kBlock,
                        .draw = 0,
                        .iteration = 0};
  const auto frame =
      wire::EncodeService({slot,
                           {},
                           cluster.node(kVictim).id(),
                           wire::Encode(wire::BlockMessage{wire::BlockDigest(forged), true})});
  cluster.Feed(0, Started{scene::DigestOf(0), 0});
  for (int again = 0; again < 3; ++again) {
    cluster.Feed(0, MessageReceived{cluster.node(kVictim).id(), frame,
                                    crypto::MakeBlob(wire::EncodeBlock(forged))});
  }
  for (const std::size_t i : {1u, 2u, 3u}) {
    cluster.Feed(i, Started{scene::DigestOf(i), 0});
  }
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  EXPECT_TRUE(cluster.node(0).away.empty());
}

}  // namespace
}  // namespace ostraka::protocol::genesis_test
