// A member as a machine, among others of its kind: when all goes well, when somebody is silent, and
// when its own work fails.
#include "node/protocol/member/peer.h"

#include <gtest/gtest.h>

#include <bit>
#include <utility>

#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/member/whole/cluster.h"
#include "tests/unit/protocol/member/whole/four_peers.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::peer_test {
namespace {

using scene::Cluster;
using scene::ExpectAllApplied;
using scene::ExpectHonestFinished;
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
  Cluster cluster(Steps(9));
  cluster.Start();
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  cluster.ExpectAgreement();
  ExpectNoSuspicionOf(cluster, {0, 1, 2, 3});
  const Cluster::Node& node = cluster.node(0);
  EXPECT_EQ(node.encoded_blocks.size(), 11u) << "genesis, nine steps and the closing one";
  ASSERT_EQ(node.blocks.size(), 10u);
  EXPECT_TRUE(node.slow_seals.empty());
  ExpectAllApplied(node);
  for (const auto& block : node.blocks) {
    EXPECT_TRUE(block->removals.empty());
    const bool closes = block == node.blocks.back();
    EXPECT_EQ(wire::RunIsOver(*block), closes);
    EXPECT_EQ(block->columns.size(), closes            ? 0u
                                     : block->step < 2 ? 4u
                                                       : 3u)
        << "one validates from step 2";
    EXPECT_EQ(block->state_root.has_value(), block->step % 2 == 0 || closes);
  }
  for (std::size_t i = 0; i + 1 < node.blocks.size(); ++i) {
    EXPECT_EQ(node.blocks[i + 1]->previous, wire::BlockDigest(*node.blocks[i]));
  }
  // The minimum is at 1.
  for (const float x : *node.states.back().parameters) EXPECT_NEAR(x, 1.0, 0.75);
  EXPECT_EQ(*node.states[8].parameters, *node.states[4].parameters) << "settling moves nothing";
  EXPECT_EQ(*node.states[9].parameters, *node.states[8].parameters) << "nor does closing";
}

TEST(PeerTest, OrderAndRepetitionOfDeliveriesDoNotMatter) {
  const auto expected = HonestBlocks(7);
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    Cluster cluster(Steps(7));
    cluster.disorder.emplace(seed);
    cluster.Start();
    cluster.RunToEnd();
    EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "") << seed;
    cluster.ExpectAgreement();
    EXPECT_EQ(cluster.node(0).encoded_blocks, expected) << seed;
    ExpectNoSuspicionOf(cluster, {0, 1, 2, 3});
  }
}

// A process that was started again before genesis is sealed says BOOT anew: no offence.
TEST(PeerTest, TheNewestBootOfAProcessCountsAndIsNoEvidence) {
  Cluster cluster(Steps(6));
  cluster.on_send = [&](std::size_t from, const Send& send) {
    if (from == kCheat && SlotOf(send).type == MessageType::kBoot) {
      cluster.Deliver(cluster.IndexOf(send.to), from,
                      Resigned(send.frame, *cluster.node(from).key, [](wire::Envelope& e) {
                        e.body = wire::Encode(wire::Boot{.boot_id = scene::DigestOf(5)});
                      }));
    }
    return true;
  };
  // It is started, dies and is started again before the last of the others is.
  const std::size_t last = kHonest.back();
  for (const std::size_t i : {kHonest[0], kHonest[1], kCheat}) {
    cluster.Feed(i, Started{scene::DigestOf(i), 0});
  }
  cluster.Run();
  cluster.Feed(last, Started{scene::DigestOf(last), 0});
  for (const std::size_t i : {kCheat, kHonest[0], kHonest[1]}) {
    cluster.Feed(i, LinkChanged{cluster.node(last).id(), true});
  }
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  cluster.ExpectAgreement();
  ExpectNoSuspicionOf(cluster, {0, 1, 2, 3});
  for (std::size_t i = 0; i < cluster.size(); ++i) EXPECT_EQ(cluster.node(i).evidence_stored, 0u);
}

// --- the write-ahead rule ------------------------------------------------------------------------

// (Cluster checks every frame of every test against the stored records; this shows the wait.)
TEST(PeerTest, SignsNothingWhileTheDiskHangs) {
  Cluster cluster(Steps(6));
  cluster.disk_hangs = [](std::size_t node) { return node == 1; };
  std::size_t sent = 0;
  cluster.on_send = [&](std::size_t from, const Send& send) {
    sent += from == 1 && !wire::IsService(SlotOf(send).type) ? 1 : 0;
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
  const auto expected = HonestBlocks(6);
  for (std::size_t cut_after = 0; cut_after < 40; cut_after += 3) {
    Cluster cluster(Steps(6));
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

// --- silence and two faces -----------------------------------------------------------------------

// Only the cheat was ever removed, and the first time in `step` by `kind`; the others agree to the
// end.
void ExpectRemovedFirst(Cluster& cluster, std::uint64_t step, wire::RemovalKind kind) {
  const auto removals = RemovalsOf(cluster);
  ASSERT_FALSE(removals.empty());
  for (const wire::Removal& removal : removals) {
    EXPECT_EQ(removal.peer, cluster.node(kCheat).id()) << wire::TextOf(removal.reason);
  }
  EXPECT_EQ(removals[0].step, step) << wire::TextOf(removals[0].reason);
  EXPECT_EQ(removals[0].kind, kind) << wire::TextOf(removals[0].reason);
  ExpectHonestFinished(cluster);
}

// Nothing begins without all members: nobody may be removed before the first block.
TEST(SilenceTest, GenesisWaitsForEverybody) {
  Cluster cluster(Steps(6));
  cluster.on_send = [&](std::size_t from, const Send& send) {
    return from != kCheat || SlotOf(send).type != MessageType::kBoot;
  };
  cluster.Start();
  cluster.RunToEnd();
  for (const std::size_t i : kHonest) {
    EXPECT_FALSE(cluster.node(i).halted);
    EXPECT_TRUE(cluster.node(i).encoded_blocks.empty());
    EXPECT_EQ(cluster.node(i).machine->progress().phase, "genesis");
  }
}

TEST(SilenceTest, WhoIsSilentIsDroppedAndTheRunGoesOn) {
  for (const MessageType silent :
       {MessageType::kCommit, MessageType::kAggregate, MessageType::kReveal, MessageType::kProof}) {
    SCOPED_TRACE(wire::MessageTypeName(silent));
    Cluster cluster(Steps(10));
    cluster.on_send = [&](std::size_t from, const Send& send) {
      return from != kCheat || SlotOf(send).type != silent || SlotOf(send).step != 1;
    };
    cluster.Start();
    cluster.RunToEnd();
    ExpectRemovedFirst(cluster, 1, wire::RemovalKind::kDrop);
    ASSERT_FALSE(cluster.node(kCheat).away.empty()) << "it knows";
    EXPECT_EQ(cluster.node(kCheat).away[0].step, 1u);
  }
}

// The fast path needs every echo: one that is withheld costs all the others time.
TEST(SilenceTest, WhoWithholdsAnEchoIsDropped) {
  Cluster cluster(Steps(10));
  cluster.on_send = [&](std::size_t from, const Send& send) {
    return from != kCheat || SlotOf(send).type != MessageType::kEcho || SlotOf(send).step != 1 ||
           SlotOf(send).phase != wire::Phase::kB;
  };
  cluster.Start();
  cluster.RunToEnd();
  ExpectRemovedFirst(cluster, 1, wire::RemovalKind::kDrop);
  EXPECT_NE(wire::TextOf(RemovalsOf(cluster)[0].reason).find("withheld its echo"),
            std::string::npos);
  for (const std::size_t i : kHonest) {
    ASSERT_FALSE(cluster.node(i).slow_seals.empty());
    EXPECT_EQ(cluster.node(i).slow_seals[0].step, 1u);
  }
}

// A member that is cut off in a slow seal names nobody for it when it is back: figures of a cut,
// stated in a timely network by all that return, would drop honest members.
TEST(SilenceTest, AnAbsenceEndsWhatWasMeasuredBefore) {
  Cluster cluster(Steps(10));
  bool cut = false;
  std::vector<wire::Proof> said;  // by member 0, after step 2
  cluster.on_send = [&](std::size_t from, const Send& send) {
    const wire::Slot slot = SlotOf(send);
    const bool seal_a = slot.step == 2 && slot.phase == wire::Phase::kA;
    const bool to_0 = cluster.IndexOf(send.to) == 0;
    if (from == 0 && slot.type == MessageType::kProof && slot.step > 2) {
      said.push_back(wire::Decode<wire::Proof>(scene::EnvelopeOf(send.frame).body).value());
    }
    // Seal A begins without ECHOs, so it is slow; then member 0 hears of it no more.
    cut = cut || (from == 0 && seal_a && slot.type == MessageType::kStatus);
    if (cut && to_0 && slot.step <= 2 && !wire::IsService(slot.type)) return false;
    return cut || !seal_a || slot.type != MessageType::kEcho;
  };
  cluster.Start();
  cluster.RunToEnd();
  ASSERT_TRUE(cut);
  ASSERT_FALSE(cluster.node(0).away.empty());
  ASSERT_FALSE(said.empty());
  for (const wire::Proof& proof : said) {
    EXPECT_EQ(std::count_if(proof.silent.begin(), proof.silent.end(),
                            [](std::uint8_t byte) { return byte != 0; }),
              0);
    EXPECT_TRUE(proof.late_ms.empty());
  }
}

TEST(SilenceTest, ADeadMemberIsDroppedAndTheOthersGoOn) {
  Cluster cluster(Steps(8));
  bool silent = false;
  cluster.on_send = [&](std::size_t from, const Send& send) {
    silent = silent || (from == kCheat && SlotOf(send).step == 2);
    return from != kCheat || !silent;
  };
  cluster.Start();
  cluster.RunToEnd();
  ExpectRemovedFirst(cluster, 2, wire::RemovalKind::kDrop);
}

// Two COMMITs, each shown to some: whatever the slow path decides is one thing for all, and the two
// signatures are the proof.
TEST(TwoFacesTest, TwoCommitsEndInOneBlockAndABan) {
  for (const std::size_t shown_to : {std::size_t{0}, std::size_t{1}, std::size_t{3}}) {
    SCOPED_TRACE(shown_to);
    Cluster cluster(Steps(8));
    cluster.on_send = [&](std::size_t from, const Send& send) {
      if (from != kCheat || SlotOf(send).type != MessageType::kCommit || SlotOf(send).step != 1 ||
          cluster.IndexOf(send.to) != shown_to) {
        return true;
      }
      cluster.Deliver(shown_to, kCheat,
                      Resigned(send.frame, *cluster.node(kCheat).key,
                               [](wire::Envelope& e) { e.body.clear(); }));
      return false;
    };
    cluster.Start();
    cluster.RunToEnd();
    ExpectRemovedFirst(cluster, 1, wire::RemovalKind::kEvidence);
    EXPECT_EQ(RemovalsOf(cluster).size(), 1u) << "a ban is for ever";
  }
}

// A part that does not come must not stop anybody: after its time the aggregator goes on; from the
// next step on all members see what the two owe each other, and pass it on.
TEST(SilenceTest, AWithheldPartIsLeftOutOnceAndForwardedFromThenOn) {
  Cluster cluster({.n = 5, .dimension = 64, .steps = 8});
  cluster.on_send = [&](std::size_t from, const Send& send) {
    return from != kCheat || SlotOf(send).type != MessageType::kPart ||
           cluster.IndexOf(send.to) != 0;
  };
  cluster.Start();
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  cluster.ExpectAgreement();
  EXPECT_TRUE(RemovalsOf(cluster).empty());
  // Four of five senders are 2b + 1 = 3 and more.
  ExpectAllApplied(cluster.node(0));
  EXPECT_GE(cluster.now().ns, cluster.manifest().part_timeout.ns);
  std::size_t left_out = 0;
  for (const auto& block : cluster.node(0).blocks) {
    for (const auto& column : block->aggregated) {
      const bool both = column.owner == cluster.node(0).id() &&
                        IsMember(block->proven, cluster.node(kCheat).id());
      if (both && !IsMember(column.senders, cluster.node(kCheat).id())) ++left_out;
    }
  }
  EXPECT_EQ(left_out, 1u);
  EXPECT_EQ(cluster.node(0).blocks.back()->disputes.size(), 1u);
}

// --- failures of our own -------------------------------------------------------------------------

TEST(PeerTest, AFailedJobHaltsWithItsReason) {
  Cluster cluster(Steps(6));
  cluster.on_job = [](std::size_t node, const JobSpec& spec, JobResult& result) {
    if (node == 1 && std::holds_alternative<GradientSpec>(spec)) result = JobFailed{"no memory"};
  };
  cluster.Start();
  cluster.Run();
  ASSERT_TRUE(cluster.node(1).halted);
  EXPECT_EQ(cluster.node(1).halted->why, Halted::Why::kFailed);
  EXPECT_EQ(cluster.node(1).halted->reason, "step 0: no memory");
}

// A bit of its memory flips once. It notices at the next sealed root, signs nothing more, fetches
// the true state and comes back.
TEST(PeerTest, AnotherStateThanTheSealedOneIsReplacedAndNobodyBanned) {
  Cluster cluster(Steps(20));
  bool flipped = false;
  cluster.on_job = [&flipped](std::size_t node, const JobSpec& spec, JobResult& result) {
    if (node != kCheat || flipped || !std::holds_alternative<UpdateSpec>(spec)) return;
    flipped = true;
    auto& state = std::get<UpdateResult>(result).state;
    auto parameters = *state.parameters;
    // Not the last bit: the next update's rounding may lose it. Not a high one: its gradients must
    // stay those of an honest member.
    parameters[5] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(parameters[5]) ^ (1U << 7));
    state.parameters = std::make_shared<const std::vector<float>>(std::move(parameters));
  };
  cluster.Start();
  cluster.RunToEnd();
  const Cluster::Node& node = cluster.node(kCheat);
  ASSERT_FALSE(node.away.empty());
  EXPECT_EQ(node.away[0].step, 2u);
  EXPECT_NE(node.away[0].reason.find("DIVERGED"), std::string::npos) << node.away[0].reason;
  for (const wire::Removal& removal : RemovalsOf(cluster)) {
    EXPECT_EQ(removal.peer, node.id());
    EXPECT_FALSE(wire::IsBan(removal.kind)) << wire::TextOf(removal.reason);
  }
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  EXPECT_EQ(*node.states.back().parameters, *cluster.node(0).states.back().parameters);
  EXPECT_EQ(node.encoded_blocks.rbegin()->second, cluster.node(0).encoded_blocks.rbegin()->second);
  EXPECT_FALSE(node.back.empty());
}

// The wrong state of block 16 was stored before step 16 found it out. What it begins with when it
// is started again is the true one, of the same block.
TEST(PeerTest, AWrongStateThatWasStoredIsReplacedInTheStore) {
  Cluster cluster(Steps(40));
  std::uint64_t updates = 0;
  cluster.on_job = [&updates](std::size_t node, const JobSpec& spec, JobResult& result) {
    if (node != kCheat || !std::holds_alternative<UpdateSpec>(spec) || ++updates != 16) return;
    auto& state = std::get<UpdateResult>(result).state;
    auto parameters = *state.parameters;
    parameters[5] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(parameters[5]) ^ (1U << 7));
    state.parameters = std::make_shared<const std::vector<float>>(std::move(parameters));
  };
  cluster.Start();
  const Cluster::Node& node = cluster.node(kCheat);
  cluster.RunUntil([&node] { return !node.back.empty(); });
  ASSERT_EQ(node.away.size(), 1u);
  EXPECT_EQ(node.away[0].step, 16u);
  EXPECT_NE(node.away[0].reason.find("DIVERGED"), std::string::npos) << node.away[0].reason;
  cluster.Kill(kCheat);
  cluster.Restart(kCheat);
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  for (std::size_t i = 1; i < node.away.size(); ++i) {
    EXPECT_EQ(node.away[i].reason.find("DIVERGED"), std::string::npos) << node.away[i].reason;
  }
  EXPECT_EQ(*node.states.back().parameters, *cluster.node(0).states.back().parameters);
}

// The closing step alone compares the state after the last update.
TEST(PeerTest, AnotherStateAfterTheLastUpdateIsReplacedBeforeTheEnd) {
  constexpr std::uint64_t kSteps = 7;
  Cluster cluster(Steps(kSteps));
  std::uint64_t updates = 0;
  cluster.on_job = [&updates](std::size_t node, const JobSpec& spec, JobResult& result) {
    if (node != kCheat || !std::holds_alternative<UpdateSpec>(spec) || ++updates != kSteps) return;
    auto& state = std::get<UpdateResult>(result).state;
    auto parameters = *state.parameters;
    parameters[5] += 1;
    state.parameters = std::make_shared<const std::vector<float>>(std::move(parameters));
  };
  cluster.Start();
  cluster.RunToEnd();
  const Cluster::Node& node = cluster.node(kCheat);
  ASSERT_FALSE(node.away.empty());
  EXPECT_EQ(node.away[0].step, kSteps) << "the closing step";
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  EXPECT_EQ(*node.states.back().parameters, *cluster.node(0).states.back().parameters);
  EXPECT_EQ(node.encoded_blocks.rbegin()->second, cluster.node(0).encoded_blocks.rbegin()->second);
  EXPECT_TRUE(RemovalsOf(cluster).empty());
}

TEST(PeerTest, AfterTheEndNothingIsSent) {
  Cluster cluster(Steps(6));
  cluster.Start();
  cluster.RunToEnd();
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    EXPECT_TRUE(cluster.node(i).timers.empty());
    EXPECT_TRUE(cluster.Feed(i, TimerFired{1}).empty());
    const auto stray = wire::Seal({.slot = {.run_id = cluster.manifest().run_id,
                                            .incarnation = 0,
                                            .step = 6,
                                            .phase = wire::Phase::kA,
                                            .type = MessageType::kCommit,
                                            .draw = 0,
                                            .iteration = 0},
                                   .entry = {},
                                   .sender = cluster.node(kCheat).id(),
                                   .body = {1}},
                                  *cluster.node(kCheat).key);
    EXPECT_TRUE(
        cluster.Feed(i, MessageReceived{cluster.node(kCheat).id(), stray.frame, nullptr}).empty());
  }
}

}  // namespace
}  // namespace ostraka::protocol::peer_test
