// A member as a machine, among others of its kind: what it does when all goes well, when bytes are
// hostile, and when a member cheats.
#include "node/protocol/peer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "node/wire/limits.h"
#include "tests/unit/protocol/cluster.h"
#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol {
namespace {

using scene::Cluster;
using scene::ClusterOptions;
using scene::EnvelopeOf;
using scene::Resigned;
using wire::MessageType;
using wire::Phase;

constexpr std::size_t kCheat = 2;  // the member that misbehaves, where one does
const std::vector<std::size_t> kHonest = {0, 1, 3};

ClusterOptions Steps(std::uint64_t steps) { return {.n = 4, .dimension = 64, .steps = steps}; }

wire::Slot SlotOf(const Send& send) { return EnvelopeOf(send.frame).slot; }

// The blocks of a run in which all goes well.
std::vector<base::Bytes> HonestBlocks(std::uint64_t steps) {
  Cluster cluster(Steps(steps));
  cluster.Start();
  cluster.RunToEnd();
  return cluster.node(0).encoded_blocks;
}

void ExpectNoSuspicionOf(Cluster& cluster, const std::vector<std::size_t>& nodes) {
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    for (const Suspicion& suspicion : cluster.node(i).suspicions) {
      const std::size_t suspect = cluster.IndexOf(suspicion.peer);
      EXPECT_EQ(std::count(nodes.begin(), nodes.end(), suspect), 0)
          << "node " << i << " suspects " << suspect << ": " << suspicion.reason;
    }
  }
}

void ExpectAllApplied(const Cluster::Node& node) {
  for (const auto& block : node.blocks) {
    for (const wire::ColumnFate fate : block->columns) {
      EXPECT_EQ(fate, wire::ColumnFate::kApplied) << "step " << block->step;
    }
  }
}

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

// --- hostile bytes -------------------------------------------------------------------------------

class HostileBytesTest : public testing::Test {
 protected:
  // Runs to the middle of a step and there gives node 0 `frame` from the cheat.
  struct Outcome {
    bool changed = false;
    std::size_t actions = 0;
    std::vector<Suspicion> suspicions;
  };
  HostileBytesTest() : cluster_(Steps(3)) {
    cluster_.on_send = [this](std::size_t from, const Send& send) {
      const wire::Slot slot = SlotOf(send);
      if (from == kCheat && slot.step == 1 && cluster_.IndexOf(send.to) == 0) {
        held_.push_back(send);  // node 0 waits for these
        return false;
      }
      return true;
    };
    cluster_.Start();
    cluster_.Run();
  }
  const Send& Held(MessageType type) const {
    return *std::find_if(held_.begin(), held_.end(),
                         [&](const Send& send) { return SlotOf(send).type == type; });
  }
  Outcome Give(base::SharedBytes frame, SharedBlob blob = nullptr) {
    Cluster::Node& node = cluster_.node(0);
    node.suspicions.clear();
    const Digest before = node.machine->Fingerprint();
    const auto actions = cluster_.Feed(
        0, MessageReceived{cluster_.node(kCheat).id(), std::move(frame), std::move(blob)});
    return {node.machine->Fingerprint() != before, actions.size(), node.suspicions};
  }
  // Nothing but a suspicion of the one who sent it, by `check`.
  void ExpectRefused(const Outcome& outcome, const std::string& check) {
    EXPECT_FALSE(outcome.changed);
    ASSERT_EQ(outcome.suspicions.size(), 1u);
    EXPECT_EQ(outcome.actions, 1u);
    EXPECT_EQ(outcome.suspicions[0].peer, cluster_.node(kCheat).id());
    EXPECT_EQ(outcome.suspicions[0].check, check) << outcome.suspicions[0].reason;
  }
  void ExpectIgnored(const Outcome& outcome) {
    EXPECT_FALSE(outcome.changed);
    EXPECT_EQ(outcome.actions, 0u);
  }
  base::SharedBytes Edited(MessageType type, const std::function<void(wire::Envelope&)>& edit) {
    return Resigned(Held(type).frame, *cluster_.node(kCheat).key, edit);
  }
  // What was held back still counts: nothing that was given has taken its place.
  void ExpectTheRunGoesOn() {
    cluster_.on_send = nullptr;
    for (const Send& send : held_) cluster_.Deliver(0, kCheat, send.frame, send.blob);
    cluster_.RunToEnd();
    EXPECT_EQ(cluster_.NotHaltedAs(Halted::Why::kFinished), "");
    EXPECT_EQ(cluster_.node(0).encoded_blocks, HonestBlocks(3));
  }

  std::vector<Send> held_;
  Cluster cluster_;
};

TEST_F(HostileBytesTest, FramesThatAreNone) {
  const base::Bytes good = *Held(MessageType::kCommit).frame;
  ExpectRefused(Give(std::make_shared<const base::Bytes>()), "frame");
  ExpectRefused(Give(std::make_shared<const base::Bytes>(500, 0xab)), "frame");
  for (const std::size_t length :
       {std::size_t{1}, std::size_t{63}, std::size_t{64}, good.size() - 1}) {
    ExpectRefused(Give(std::make_shared<const base::Bytes>(
                      good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length))),
                  "frame");
  }
  ExpectRefused(Give(std::make_shared<const base::Bytes>(wire::kMaxFrameBytes + 1)), "frame");
  ExpectTheRunGoesOn();
}

// Whichever bit is wrong, the message does not count, and the true one still does.
TEST_F(HostileBytesTest, EveryFlippedBit) {
  const base::Bytes good = *Held(MessageType::kCommit).frame;
  for (std::size_t bit = 0; bit < good.size() * 8; bit += 5) {
    base::Bytes bad = good;
    bad[bit / 8] = static_cast<std::uint8_t>(bad[bit / 8] ^ 1U << (bit % 8));
    const Outcome outcome = Give(std::make_shared<const base::Bytes>(std::move(bad)));
    EXPECT_FALSE(outcome.changed) << bit;
    EXPECT_EQ(outcome.actions, outcome.suspicions.size()) << bit;
  }
  ExpectTheRunGoesOn();
}

TEST_F(HostileBytesTest, ASignatureThatIsNotTheSenders) {
  const wire::Envelope envelope = EnvelopeOf(Held(MessageType::kCommit).frame);
  base::Bytes forged = *wire::Seal(envelope, *cluster_.node(kCheat).key).frame;
  forged[10] ^= 1;
  ExpectRefused(Give(std::make_shared<const base::Bytes>(forged)), "signature");
  base::Bytes unsigned_frame = forged;
  std::fill(unsigned_frame.begin(), unsigned_frame.begin() + 64, std::uint8_t{0});
  ExpectRefused(Give(std::make_shared<const base::Bytes>(unsigned_frame)), "signature");
  // In another member's name, signed by the cheat.
  wire::Envelope other = envelope;
  other.slot.step = 2;
  base::Bytes frame = *Resigned(Held(MessageType::kCommit).frame, *cluster_.node(3).key,
                                [&](wire::Envelope& e) { e.slot.step = 2; });
  const auto signature =
      wire::Open(wire::Seal(envelope, *cluster_.node(kCheat).key).frame)->signature;
  std::copy(signature.bytes.begin(), signature.bytes.end(), frame.begin());
  ExpectRefused(Give(std::make_shared<const base::Bytes>(frame)), "signature");
  ExpectTheRunGoesOn();
}

TEST_F(HostileBytesTest, ASlotThatNoHonestPeerUses) {
  ExpectRefused(Give(Edited(MessageType::kCommit,
                            [](wire::Envelope& e) { e.slot.run_id = scene::DigestOf(1); })),
                "slot");
  ExpectRefused(
      Give(Edited(MessageType::kCommit, [](wire::Envelope& e) { e.slot.incarnation = 1; })),
      "slot");
  // The wire refuses what no peer can mean: another phase, a draw or an iteration out of place.
  ExpectRefused(
      Give(Edited(MessageType::kCommit, [](wire::Envelope& e) { e.slot.phase = Phase::kC; })),
      "frame");
  ExpectRefused(Give(Edited(MessageType::kCommit, [](wire::Envelope& e) { e.slot.draw = 1; })),
                "frame");
  ExpectRefused(Give(Edited(MessageType::kCommit, [](wire::Envelope& e) { e.slot.iteration = 1; })),
                "frame");
  ExpectTheRunGoesOn();
}

TEST_F(HostileBytesTest, OutsideTheWindow) {
  for (const std::uint64_t step : {std::uint64_t{0}, std::uint64_t{3}, ~std::uint64_t{0}}) {
    ExpectIgnored(
        Give(Edited(MessageType::kCommit, [&](wire::Envelope& e) { e.slot.step = step; })));
  }
  // Of the next step only what can be there before it begins here.
  for (const auto& [type, phase] : {std::pair{MessageType::kReveal, Phase::kB},
                                    {MessageType::kProof, Phase::kC},
                                    {MessageType::kEcho, Phase::kA},
                                    {MessageType::kEcho, Phase::kC}}) {
    ExpectIgnored(Give(Edited(MessageType::kCommit, [&](wire::Envelope& e) {
      e.slot.step = 2;
      e.slot.type = type;
      e.slot.phase = phase;
    })));
  }
  // A coin that no COMMIT of this step can hold.
  ExpectIgnored(Give(Edited(MessageType::kCommit, [](wire::Envelope& e) {
    e.slot.type = MessageType::kReveal;
    e.slot.phase = Phase::kB;
    e.slot.draw = 2;
  })));
  ExpectTheRunGoesOn();
}

TEST_F(HostileBytesTest, OfAStranger) {
  const auto stranger = scene::KeyNumber(1000);
  ExpectIgnored(
      Give(Resigned(Held(MessageType::kCommit).frame, *stranger, [](wire::Envelope&) {})));
  ExpectTheRunGoesOn();
}

TEST_F(HostileBytesTest, BulkDataWhereItDoesNotBelong) {
  const Send& commit = Held(MessageType::kCommit);
  ExpectRefused(Give(commit.frame, crypto::MakeBlob({1, 2, 3})), "blob");
  ExpectRefused(Give(Held(MessageType::kPart).frame, nullptr), "blob");
  ExpectTheRunGoesOn();
}

// A message for another seal than ours is as good as none, and the wait says whose is missing.
TEST_F(HostileBytesTest, AnotherEntryDecisionIsAbsent) {
  Give(Edited(MessageType::kCommit, [](wire::Envelope& e) { e.entry = scene::DigestOf(1); }));
  cluster_.RunToEnd();
  ASSERT_TRUE(cluster_.node(0).halted);
  EXPECT_EQ(cluster_.node(0).halted->why, Halted::Why::kStalled);
  const std::string& reason = cluster_.node(0).halted->reason;
  EXPECT_NE(reason.find("step 1: SEAL A waited 60000 ms for"), std::string::npos) << reason;
  EXPECT_NE(reason.find("commit of " + cluster_.node(kCheat).id().Short()), std::string::npos)
      << reason;
}

// --- relays that would frame the honest ----------------------------------------------------------

// A RESULT goes to all, so anyone can show it before its author's bulk data arrives. With other
// bytes beside it that must not make the author look like a cheat, nor take the true one's place.
TEST(RelayTest, AResultWithOtherBytesDoesNotTakeTheTrueOnesPlace) {
  Cluster cluster(Steps(4));
  cluster.on_send = [&](std::size_t from, const Send& send) {
    if (from != kCheat && SlotOf(send).type == MessageType::kResult &&
        cluster.IndexOf(send.to) != kCheat) {
      cluster.Deliver(cluster.IndexOf(send.to), kCheat, send.frame, crypto::MakeBlob({0, 0, 0, 0}));
    }
    return true;
  };
  cluster.Start();
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  ExpectAllApplied(cluster.node(0));
  ExpectNoSuspicionOf(cluster, kHonest);
}

// An aggregator holds a signed PART of every worker: its own. Shown to the other aggregators first,
// it must not keep out the part that they are owed.
TEST(RelayTest, APartOfAnotherIndexDoesNotTakeTheTrueOnesPlace) {
  Cluster cluster(Steps(4));
  std::vector<Send> direct;
  cluster.on_send = [&](std::size_t from, const Send& send) {
    if (from == kCheat || SlotOf(send).type != MessageType::kPart) return true;
    if (cluster.IndexOf(send.to) != kCheat) {
      direct.push_back(send);  // slower than the relay
      return false;
    }
    for (const std::size_t victim : kHonest) {
      if (victim != from) cluster.Deliver(victim, kCheat, send.frame, send.blob);
    }
    return true;
  };
  cluster.Start();
  for (int round = 0; round < 4; ++round) {
    cluster.Run();
    for (const Send& send : std::exchange(direct, {})) {
      cluster.Deliver(cluster.IndexOf(send.to), cluster.IndexOf(EnvelopeOf(send.frame).sender),
                      send.frame, send.blob);
    }
  }
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  ExpectAllApplied(cluster.node(0));
  ExpectNoSuspicionOf(cluster, kHonest);
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

// --- cheats --------------------------------------------------------------------------------------

// The removals of a run, as node 0 saw them.
std::vector<wire::Removal> RemovalsOf(Cluster& cluster) {
  std::vector<wire::Removal> removals;
  for (const auto& block : cluster.node(0).blocks) {
    removals.insert(removals.end(), block->removals.begin(), block->removals.end());
  }
  return removals;
}

// The cheat and nobody else was banned, by `kind`; the others agree to the end.
void ExpectBanned(Cluster& cluster, wire::RemovalKind kind) {
  const auto removals = RemovalsOf(cluster);
  ASSERT_EQ(removals.size(), 1u);
  EXPECT_EQ(removals[0].peer, cluster.node(kCheat).id());
  EXPECT_EQ(removals[0].kind, kind) << removals[0].reason;
  for (const std::size_t i : kHonest) {
    ASSERT_TRUE(cluster.node(i).halted);
    EXPECT_EQ(cluster.node(i).halted->why, Halted::Why::kFinished)
        << cluster.node(i).halted->reason;
  }
  cluster.ExpectAgreement(kHonest);
}

TEST(CheatTest, AFlippedGradientIsFoundByAValidatorAndBannedByVerdict) {
  Cluster cluster(Steps(30));
  cluster.on_job = [](std::size_t node, const JobSpec& spec, JobResult& result) {
    if (node != kCheat || !std::holds_alternative<GradientSpec>(spec)) return;
    auto flipped = *std::get<GradientResult>(result).gradient;
    for (float& value : flipped) value *= -3;
    result = GradientResult{std::make_shared<const std::vector<float>>(std::move(flipped))};
  };
  cluster.Start();
  cluster.RunToEnd();
  ExpectBanned(cluster, wire::RemovalKind::kVerdict);
  ASSERT_TRUE(cluster.node(kCheat).halted);
  EXPECT_EQ(cluster.node(kCheat).halted->why, Halted::Why::kBanned);
  for (const float x : *cluster.node(0).states.back().parameters) EXPECT_NEAR(x, 1.0, 0.5);
}

TEST(CheatTest, AFalseAccuserIsBannedAndTheAccusedIsNot) {
  Cluster cluster(Steps(30));
  cluster.on_job = [](std::size_t node, const JobSpec& spec, JobResult& result) {
    if (node != kCheat || !std::holds_alternative<RecomputeSpec>(spec)) return;
    result = RecomputeResult{.accuse = true, .convict = true, .worst_ratio = 9};
  };
  cluster.Start();
  cluster.RunToEnd();
  ExpectBanned(cluster, wire::RemovalKind::kVerdict);
}

// Lies of step 1 in the numbers of column 0.
void LieInNumbers(Cluster& cluster, std::function<void(wire::ColumnNumbers&)> lie) {
  auto proofs = std::make_shared<int>(0);
  cluster.on_job = [proofs, lie = std::move(lie)](std::size_t node, const JobSpec& spec,
                                                  JobResult& result) {
    if (node != kCheat || !std::holds_alternative<ProveSpec>(spec) || ++*proofs != 2) return;
    lie(std::get<ProveResult>(result).columns[0]);
  };
}

TEST(CheatTest, AFalseSumVoidsItsColumnAndTheAggregatorKnowsTheLiar) {
  Cluster cluster(Steps(4));
  LieInNumbers(cluster, [](wire::ColumnNumbers& numbers) { numbers.s[0] += 1e-4; });
  cluster.Start();
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  cluster.ExpectAgreement();
  const Cluster::Node& node = cluster.node(0);
  for (std::size_t step = 0; step < node.blocks.size(); ++step) {
    for (std::size_t j = 0; j < node.blocks[step]->columns.size(); ++j) {
      EXPECT_EQ(node.blocks[step]->columns[j],
                step == 1 && j == 0 ? wire::ColumnFate::kSumCheck : wire::ColumnFate::kApplied);
    }
  }
  // Its coordinates stayed as they were, on all peers alike.
  const PartRange part = node.started[1].roles.parts[0];
  for (std::uint64_t c = part.begin; c < part.end; ++c) {
    EXPECT_EQ((*node.states[1].parameters)[c], (*node.states[0].parameters)[c]);
    EXPECT_EQ((*node.states[1].velocity)[c], (*node.states[0].velocity)[c]);
  }
  EXPECT_NE((*node.states[1].parameters)[part.end], (*node.states[0].parameters)[part.end]);
  const std::size_t owner = cluster.IndexOf(node.started[1].roles.owners[0]);
  const auto& suspicions = cluster.node(owner).suspicions;
  ASSERT_EQ(suspicions.size(), 1u);
  EXPECT_EQ(suspicions[0].check, "V1");
  EXPECT_EQ(suspicions[0].peer, cluster.node(kCheat).id());
  ExpectNoSuspicionOf(cluster, kHonest);
}

TEST(CheatTest, NumbersThatNoHonestPeerStatesAreBanned) {
  for (const double norm :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1.0}) {
    Cluster cluster(Steps(6));
    LieInNumbers(cluster, [norm](wire::ColumnNumbers& numbers) { numbers.norm = norm; });
    cluster.Start();
    cluster.RunToEnd();
    ExpectBanned(cluster, wire::RemovalKind::kEvidence);
    for (const auto& block : cluster.node(0).blocks) EXPECT_TRUE(std::isfinite(block->tau)) << norm;
  }
}

TEST(CheatTest, ASecondCommitShownToOnePeerIsBannedByItsEvidence) {
  Cluster cluster(Steps(6));
  base::SharedBytes commit;
  cluster.on_send = [&](std::size_t from, const Send& send) {
    const wire::Slot slot = SlotOf(send);
    if (from != kCheat || slot.step != 1 || cluster.IndexOf(send.to) != 0) return true;
    if (slot.type == MessageType::kCommit) commit = send.frame;
    if (slot.type == MessageType::kReveal) {  // seal A is decided
      cluster.Deliver(0, kCheat, Resigned(commit, *cluster.node(kCheat).key, [](wire::Envelope& e) {
                        e.body.push_back(0);
                      }));
    }
    return true;
  };
  cluster.Start();
  cluster.RunToEnd();
  ExpectBanned(cluster, wire::RemovalKind::kEvidence);
  EXPECT_EQ(RemovalsOf(cluster)[0].step, 1u);
  EXPECT_EQ(cluster.node(0).evidence_stored, 1u);
  EXPECT_EQ(cluster.node(1).evidence_stored, 0u);
}

// What peer 0 echoes and proves the cheat signs too, so that the seals are decided: it has no
// machine of its own from here on.
void ShadowPeerZero(Cluster& cluster, const Send& send) {
  const wire::Slot slot = SlotOf(send);
  if (slot.type != MessageType::kEcho && slot.type != MessageType::kProof) return;
  const auto frame = Resigned(send.frame, *cluster.node(kCheat).key, [&](wire::Envelope& envelope) {
    if (slot.type == MessageType::kProof) envelope.body = wire::Encode(wire::Proof{});
  });
  for (const std::size_t i : kHonest) cluster.Deliver(i, kCheat, frame);
}

TEST(CheatTest, AFalseRevealCostsAnIdentityAndBuysOneRedraw) {
  Cluster cluster(Steps(4));
  std::set<std::uint32_t> draws;
  cluster.on_send = [&](std::size_t from, const Send& send) {
    const wire::Slot slot = SlotOf(send);
    if (slot.step != 1 || slot.phase == Phase::kA) return true;
    if (from == 0) ShadowPeerZero(cluster, send);
    if (from != kCheat) {
      if (slot.type == MessageType::kReveal) draws.insert(slot.draw);
      return true;
    }
    if (slot.type == MessageType::kReveal && cluster.IndexOf(send.to) != kCheat) {
      cluster.Deliver(cluster.IndexOf(send.to), kCheat,
                      Resigned(send.frame, *cluster.node(kCheat).key, [](wire::Envelope& e) {
                        auto reveal = *wire::DecodeReveal(e.body);
                        reveal.opening.coin.value.bytes[0] ^= 1;
                        e.body = wire::Encode(reveal);
                      }));
    }
    return false;
  };
  cluster.Start();
  cluster.RunToEnd();
  ExpectBanned(cluster, wire::RemovalKind::kEvidence);
  EXPECT_EQ(RemovalsOf(cluster)[0].step, 1u);
  EXPECT_EQ(RemovalsOf(cluster)[0].reason, "its REVEAL does not open its COMMIT");
  EXPECT_EQ(draws, (std::set<std::uint32_t>{0, 1}));
}

// Bytes that are not under the root that their author signed are no part of anybody's column.
TEST(CheatTest, BytesOtherThanThePartsAreLeftOut) {
  Cluster cluster({.n = 5, .dimension = 64, .steps = 3});
  cluster.on_send = [&](std::size_t from, const Send& send) {
    if (from != kCheat || SlotOf(send).type != MessageType::kPart ||
        cluster.IndexOf(send.to) != 0) {
      return true;
    }
    base::Bytes other = send.blob->data;
    other[0] ^= 1;
    cluster.Deliver(0, kCheat, send.frame, crypto::MakeBlob(std::move(other)));
    return false;
  };
  cluster.Start();
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  cluster.ExpectAgreement();
  ExpectAllApplied(cluster.node(0));  // four of five are enough
  ASSERT_FALSE(cluster.node(0).suspicions.empty());
  for (const Suspicion& suspicion : cluster.node(0).suspicions) {
    EXPECT_EQ(suspicion.peer, cluster.node(kCheat).id());
    EXPECT_EQ(suspicion.check, "part");
  }
}

// Whoever equivocates chooses how long its messages are. Evidence too long to travel inline must
// not spoil the PROOF of the peer that found it. (Cluster reads every PROOF that is sent.)
TEST(CheatTest, AHugeEquivocationDoesNotSpoilTheFindersProof) {
  for (const std::size_t length : {20'000u, 120'000u}) {
    Cluster cluster(Steps(5));
    cluster.on_send = [&](std::size_t from, const Send& send) {
      const wire::Slot slot = SlotOf(send);
      const bool echo_c = slot.type == MessageType::kEcho && slot.phase == Phase::kC;
      if (from != kCheat || slot.step != 1 || !echo_c || cluster.IndexOf(send.to) == kCheat) {
        return true;
      }
      // Two PROOFs of the next step would be early; a second one of this step is not.
      cluster.Deliver(cluster.IndexOf(send.to), kCheat,
                      Resigned(send.frame, *cluster.node(kCheat).key, [&](wire::Envelope& e) {
                        e.slot.type = MessageType::kProof;
                        e.body.assign(length, 0xcc);
                      }));
      return true;
    };
    cluster.Start();
    cluster.RunToEnd();
    for (const std::size_t i : kHonest) {
      ASSERT_TRUE(cluster.node(i).halted);
      EXPECT_EQ(cluster.node(i).halted->why, Halted::Why::kFinished)
          << cluster.node(i).halted->reason;
      EXPECT_GT(cluster.node(i).evidence_stored, 0u);
    }
    cluster.ExpectAgreement(kHonest);
    ExpectAllApplied(cluster.node(0));
  }
}

// The proof of a large equivocation cannot travel; it must not stand in the way of one that can.
TEST(CheatTest, AHugeEquivocationDoesNotShieldFromASmallOne) {
  Cluster cluster(Steps(6));
  base::SharedBytes commit;
  cluster.on_send = [&](std::size_t from, const Send& send) {
    const wire::Slot slot = SlotOf(send);
    if (from != kCheat || cluster.IndexOf(send.to) != 0) return true;
    const auto again = [&](const base::SharedBytes& frame, base::Bytes body, MessageType type) {
      cluster.Deliver(0, kCheat, Resigned(frame, *cluster.node(kCheat).key, [&](wire::Envelope& e) {
                        e.slot.type = type;
                        e.body = std::move(body);
                      }));
    };
    const bool echo_c = slot.type == MessageType::kEcho && slot.phase == Phase::kC;
    if (slot.step == 1 && echo_c) {
      again(send.frame, base::Bytes(20'000, 0xcc), MessageType::kProof);
    }
    if (slot.step == 2 && slot.type == MessageType::kCommit) commit = send.frame;
    if (slot.step == 2 && slot.type == MessageType::kReveal) {
      again(commit, {1}, MessageType::kCommit);
    }
    return true;
  };
  cluster.Start();
  cluster.RunToEnd();
  ExpectBanned(cluster, wire::RemovalKind::kEvidence);
  EXPECT_EQ(RemovalsOf(cluster)[0].step, 2u);
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
