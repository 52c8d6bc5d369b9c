// A member as a machine, among others of its kind: when all goes well, when somebody is silent, and
// when its own work fails.
#include "node/protocol/peer.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/protocol/cluster.h"
#include "tests/unit/protocol/four_peers.h"
#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol {
namespace {

using scene::Cluster;
using scene::ExpectAllApplied;
using scene::ExpectNoSuspicionOf;
using scene::HonestBlocks;
using scene::kCheat;
using scene::kHonest;
using scene::RemovalsOf;
using scene::Resigned;
using scene::SlotOf;
using scene::Steps;
using wire::MessageType;

// --- when all goes well --------------------------------------------------------------------------

TEST(PeerTest, HonestPeersTrainAndAgreeToTheBit) {
  Cluster cluster(Steps(6));
  cluster.Start();
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  cluster.ExpectAgreement();
  ExpectNoSuspicionOf(cluster, {0, 1, 2, 3});
  const Cluster::Node& node = cluster.node(0);
  EXPECT_EQ(node.encoded_blocks.size(), 7u) << "genesis and six steps";
  ASSERT_EQ(node.blocks.size(), 6u);
  ExpectAllApplied(node);
  for (const auto& block : node.blocks) {
    EXPECT_TRUE(block->removals.empty());
    EXPECT_EQ(block->columns.size(), block->step < 2 ? 4u : 3u) << "one validates from step 2";
    EXPECT_EQ(block->state_root.has_value(), block->step % 2 == 0);
  }
  for (std::size_t i = 0; i + 1 < node.blocks.size(); ++i) {
    EXPECT_EQ(node.blocks[i + 1]->previous, node.blocks[i]->decision);
  }
  // The minimum is at 1.
  for (const float x : *node.states.back().parameters) EXPECT_NEAR(x, 1.0, 0.75);
  EXPECT_EQ(*node.states[5].parameters, *node.states[4].parameters)
      << "the last step moves nothing";
}

TEST(PeerTest, OrderAndRepetitionOfDeliveriesDoNotMatter) {
  const std::vector<base::Bytes> expected = HonestBlocks(5);
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    Cluster cluster(Steps(5));
    cluster.disorder.emplace(seed);
    cluster.Start();
    cluster.RunToEnd();
    EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "") << seed;
    cluster.ExpectAgreement();
    EXPECT_EQ(cluster.node(0).encoded_blocks, expected) << seed;
    ExpectNoSuspicionOf(cluster, {0, 1, 2, 3});
  }
}

TEST(PeerTest, TooFewInRoleTrainNothingAndStillAgree) {
  Cluster cluster({.n = 2, .dimension = 64, .steps = 3});
  cluster.Start();
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  cluster.ExpectAgreement();
  for (const float x : *cluster.node(0).states.back().parameters) EXPECT_EQ(x, 0.0F);
}

// A process that was started again before genesis is sealed says BOOT anew: no offence.
TEST(PeerTest, TheNewestBootOfAProcessCountsAndIsNoEvidence) {
  Cluster cluster(Steps(2));
  cluster.on_send = [&](std::size_t from, const Send& send) {
    if (from == kCheat && SlotOf(send).type == MessageType::kBoot) {
      cluster.Deliver(cluster.IndexOf(send.to), from,
                      Resigned(send.frame, *cluster.node(from).key, [](wire::Envelope& e) {
                        e.body = wire::Encode(wire::Boot{.boot_id = scene::DigestOf(5)});
                      }));
    }
    return true;
  };
  // It is started, dies and is started again before the others are.
  cluster.Feed(kCheat, Started{scene::DigestOf(77)});
  cluster.Run();
  for (const std::size_t i : kHonest) cluster.Feed(i, Started{scene::DigestOf(i)});
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  cluster.ExpectAgreement();
  ExpectNoSuspicionOf(cluster, {0, 1, 2, 3});
  for (std::size_t i = 0; i < cluster.size(); ++i) EXPECT_EQ(cluster.node(i).evidence_stored, 0u);
}

// --- the write-ahead rule ------------------------------------------------------------------------

// (Cluster checks every frame of every test against the stored records; this shows the wait.)
TEST(PeerTest, SignsNothingWhileTheDiskHangs) {
  Cluster cluster(Steps(2));
  cluster.disk_hangs = [](std::size_t node) { return node == 1; };
  std::size_t sent = 0;
  cluster.on_send = [&](std::size_t from, const Send&) {
    sent += from == 1 ? 1 : 0;
    return true;
  };
  cluster.Start();
  cluster.Run();
  EXPECT_EQ(sent, 0u);
  EXPECT_EQ(cluster.node(1).storing.size(), 1u) << "the record of its BOOT";
  cluster.disk_hangs = nullptr;
  cluster.ReleaseStores(1);
  cluster.RunToEnd();
  EXPECT_GT(sent, 0u);
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
}

// --- links ---------------------------------------------------------------------------------------

TEST(PeerTest, SendsAgainWhatMayBeMissingWhenALinkComesUp) {
  const std::vector<base::Bytes> expected = HonestBlocks(4);
  for (std::size_t cut_after = 0; cut_after < 40; cut_after += 3) {
    Cluster cluster(Steps(4));
    bool up = true;
    std::size_t passed = 0;
    cluster.on_send = [&](std::size_t from, const Send& send) {
      const bool between = (from == 0 && cluster.IndexOf(send.to) == 1) ||
                           (from == 1 && cluster.IndexOf(send.to) == 0);
      if (!between) return true;
      if (passed++ == cut_after) up = false;
      return up;
    };
    cluster.Start();
    cluster.Run();
    ASSERT_FALSE(up);
    up = true;
    passed = cut_after + 1;
    for (const std::size_t i : {0u, 1u}) {
      cluster.Feed(i, LinkChanged{cluster.node(1 - i).id(), false});
      cluster.Feed(i, LinkChanged{cluster.node(1 - i).id(), true});
    }
    cluster.Run();
    EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "") << cut_after;
    EXPECT_EQ(cluster.node(1).encoded_blocks, expected) << cut_after;
  }
}

// --- stalls --------------------------------------------------------------------------------------

TEST(StallTest, ASilentPeerStopsTheRunWithOneLineThatNamesIt) {
  for (const MessageType silent : {MessageType::kBoot, MessageType::kCommit, MessageType::kReveal,
                                   MessageType::kProof, MessageType::kEcho}) {
    Cluster cluster(Steps(3));
    cluster.on_send = [&](std::size_t from, const Send& send) {
      return from != kCheat || SlotOf(send).type != silent;
    };
    cluster.Start();
    cluster.RunToEnd();
    for (const std::size_t i : kHonest) {
      ASSERT_TRUE(cluster.node(i).halted);
      EXPECT_EQ(cluster.node(i).halted->why, Halted::Why::kStalled);
      const std::string& reason = cluster.node(i).halted->reason;
      EXPECT_NE(reason.find(std::string(wire::MessageTypeName(silent)) + " of " +
                            cluster.node(kCheat).id().Short()),
                std::string::npos)
          << reason;
      EXPECT_NE(reason.find("waited 60000 ms for"), std::string::npos) << reason;
    }
    cluster.ExpectAgreement(kHonest);
  }
}

TEST(StallTest, DifferentEchoesStopTheRunAndSayWhy) {
  Cluster cluster(Steps(3));
  cluster.on_send = [&](std::size_t from, const Send& send) {
    if (from != kCheat || SlotOf(send).type != MessageType::kCommit || SlotOf(send).step != 1 ||
        cluster.IndexOf(send.to) != 3) {
      return true;
    }
    cluster.Deliver(
        3, kCheat,
        Resigned(send.frame, *cluster.node(kCheat).key, [](wire::Envelope& e) { e.body.clear(); }));
    return false;
  };
  cluster.Start();
  cluster.RunToEnd();
  for (const std::size_t i : kHonest) {
    ASSERT_TRUE(cluster.node(i).halted);
    EXPECT_EQ(cluster.node(i).halted->why, Halted::Why::kStalled);
    EXPECT_NE(cluster.node(i).halted->reason.find("step 1: SEAL A cannot take its fast path"),
              std::string::npos)
        << cluster.node(i).halted->reason;
    EXPECT_EQ(cluster.node(i).blocks.size(), 1u);
  }
  cluster.ExpectAgreement(kHonest);
}

// A part that does not come must not stop anybody: after part_timeout the aggregator goes on.
TEST(StallTest, AWithheldPartVoidsItsColumnOnly) {
  Cluster cluster({.n = 5, .dimension = 64, .steps = 3});
  cluster.on_send = [&](std::size_t from, const Send& send) {
    return from != kCheat || SlotOf(send).type != MessageType::kPart ||
           cluster.IndexOf(send.to) != 0;
  };
  cluster.Start();
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  cluster.ExpectAgreement();
  // Four of five senders are 2b + 1 = 3 and more.
  ExpectAllApplied(cluster.node(0));
  EXPECT_GE(cluster.now().ns, cluster.manifest().part_timeout.ns);
}

// --- failures of our own -------------------------------------------------------------------------

TEST(PeerTest, AFailedJobHaltsWithItsReason) {
  Cluster cluster(Steps(3));
  cluster.on_job = [](std::size_t node, const JobSpec& spec, JobResult& result) {
    if (node == 1 && std::holds_alternative<GradientSpec>(spec)) result = JobFailed{"no memory"};
  };
  cluster.Start();
  cluster.Run();
  ASSERT_TRUE(cluster.node(1).halted);
  EXPECT_EQ(cluster.node(1).halted->why, Halted::Why::kFailed);
  EXPECT_EQ(cluster.node(1).halted->reason, "step 0: no memory");
}

TEST(PeerTest, AnotherStateThanTheSealedOneHaltsAndIsNeverBanned) {
  Cluster cluster(Steps(6));
  cluster.on_job = [](std::size_t node, const JobSpec& spec, JobResult& result) {
    const bool update = std::holds_alternative<UpdateSpec>(spec);
    if (node != kCheat || !update) return;
    auto& state = std::get<UpdateResult>(result).state;  // a bit of its memory flipped
    auto parameters = *state.parameters;
    parameters[5] = std::nextafter(parameters[5], 2.0F);
    state.parameters = std::make_shared<const std::vector<float>>(std::move(parameters));
  };
  cluster.Start();
  cluster.RunToEnd();
  ASSERT_TRUE(cluster.node(kCheat).halted);
  EXPECT_EQ(cluster.node(kCheat).halted->why, Halted::Why::kDiverged);
  EXPECT_EQ(cluster.node(kCheat).halted->step, 2u);
  EXPECT_TRUE(RemovalsOf(cluster).empty());
}

TEST(PeerTest, AfterTheEndNothingIsSent) {
  Cluster cluster(Steps(2));
  cluster.Start();
  cluster.RunToEnd();
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    EXPECT_TRUE(cluster.node(i).timers.empty());
    EXPECT_TRUE(cluster.Feed(i, TimerFired{1}).empty());
    EXPECT_TRUE(cluster.Feed(i, MessageReceived{cluster.node(0).id(), nullptr, nullptr}).empty());
  }
}

}  // namespace
}  // namespace ostraka::protocol
