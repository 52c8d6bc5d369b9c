// A member against hostile bytes: nothing that a peer sends crashes it, changes its mind, or makes
// an honest peer look guilty.
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "node/wire/limits.h"
#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/member/whole/cluster.h"
#include "tests/unit/protocol/member/whole/fingerprint_probe.h"
#include "tests/unit/protocol/member/whole/four_peers.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::hostile_bytes_test {
namespace {

using scene::Cluster;
using scene::EnvelopeOf;
using scene::ExpectAllApplied;
using scene::ExpectNoSuspicionOf;
using scene::HonestBlocks;
using scene::kCheat;
using scene::kHonest;
using scene::Resigned;
using scene::SlotOf;
using scene::Steps;
using wire::MessageType;
using wire::Phase;

class HostileBytesTest : public testing::Test {
 protected:
  // Runs to the middle of a step and there gives node 0 `frame` from the cheat.
  struct Outcome {
    bool changed = false;
    std::size_t actions = 0;
    std::vector<Suspicion> suspicions;
  };
  HostileBytesTest() : cluster_(Steps(6)) {
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
    const Digest before = FingerprintProbe::WithoutNotes(*node.machine);
    const auto actions = cluster_.Feed(
        0, MessageReceived{cluster_.node(kCheat).id(), std::move(frame), std::move(blob)});
    return {FingerprintProbe::WithoutNotes(*node.machine) != before, actions.size(),
            node.suspicions};
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
    EXPECT_EQ(cluster_.node(0).encoded_blocks, HonestBlocks(6));
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
  ExpectRefused(Give(std::make_shared<const base::Bytes>(unsigned_frame)), "frame");
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
  for (const auto& kind : {std::pair{MessageType::kReveal, Phase::kB},
                           {MessageType::kProof, Phase::kC},
                           {MessageType::kEcho, Phase::kA},
                           {MessageType::kEcho, Phase::kC}}) {
    ExpectIgnored(Give(Edited(MessageType::kCommit, [&](wire::Envelope& e) {
      e.slot.step = 2;
      e.slot.type = kind.first;
      e.slot.phase = kind.second;
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

// Nobody knows yet how the next step is cut, but no part of it can be larger than a third of the
// model, and part j is one of j + 1 at least. What a cheat may leave here is bounded by that.
TEST_F(HostileBytesTest, MoreOfTheNextStepThanItsPartsCanHave) {
  const std::uint64_t dimension = Steps(6).dimension;
  const auto give = [&](MessageType type, std::uint32_t column, std::uint64_t floats) {
    const auto blob = crypto::MakeBlob(base::Bytes(floats * sizeof(float)));
    return Give(Edited(MessageType::kPart,
                       [&](wire::Envelope& e) {
                         wire::Part part = *wire::Decode<wire::Part>(e.body);
                         part.root = blob->root;
                         part.header.shape = {floats};
                         e.body = type == MessageType::kPart
                                      ? wire::Encode(part)
                                      : wire::Encode(wire::Result{part.header, part.root});
                         e.slot.step = 2;
                         e.slot.type = type;
                         e.slot.iteration = column;
                       }),
                blob);
  };
  for (const MessageType type : {MessageType::kPart, MessageType::kResult}) {
    for (const std::uint32_t column : {0U, 5U}) {
      const std::uint64_t largest = LargestPart(dimension, column);
      ExpectIgnored(give(type, column, largest + 1));
      ExpectIgnored(give(type, column, dimension));
    }
    EXPECT_TRUE(give(type, 0, LargestPart(dimension)).changed) << "an honest part may be as large";
  }
}

// A message for another seal than ours is as good as none. The others hold the true one: two
// signatures for one slot.
TEST_F(HostileBytesTest, AnotherEntryBesideTheTrueOneIsAnEquivocation) {
  Give(Edited(MessageType::kCommit, [](wire::Envelope& e) { e.entry = scene::DigestOf(1); }));
  cluster_.on_send = nullptr;
  cluster_.RunToEnd();
  const auto removals = scene::RemovalsOf(cluster_);
  ASSERT_EQ(removals.size(), 1u);
  EXPECT_EQ(removals[0].peer, cluster_.node(kCheat).id());
  EXPECT_EQ(removals[0].kind, wire::RemovalKind::kEvidence) << wire::TextOf(removals[0].reason);
  cluster_.ExpectAgreement(kHonest);
}

TEST(EntryTest, AMessageThatNamesAnotherDecisionIsAbsent) {
  Cluster cluster(Steps(8));
  cluster.on_send = [&](std::size_t from, const Send& send) {
    const wire::Slot slot = SlotOf(send);
    if (from != kCheat || slot.step != 1 || slot.type != MessageType::kCommit) return true;
    cluster.Deliver(cluster.IndexOf(send.to), kCheat,
                    Resigned(send.frame, *cluster.node(kCheat).key,
                             [](wire::Envelope& e) { e.entry = scene::DigestOf(1); }));
    return false;
  };
  cluster.Start();
  cluster.RunToEnd();
  const auto removals = scene::RemovalsOf(cluster);
  ASSERT_FALSE(removals.empty());
  EXPECT_EQ(removals[0].peer, cluster.node(kCheat).id());
  EXPECT_EQ(removals[0].kind, wire::RemovalKind::kDrop) << wire::TextOf(removals[0].reason);
  EXPECT_EQ(removals[0].step, 1u);
  cluster.ExpectAgreement(kHonest);
}

// --- relays that would frame the honest ----------------------------------------------------------

// A RESULT goes to all, so anyone can show it before its author's bulk data arrives. With other
// bytes beside it that must not make the author look like a cheat, nor take the true one's place.
TEST(RelayTest, AResultWithOtherBytesDoesNotTakeTheTrueOnesPlace) {
  Cluster cluster(Steps(6));
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
  Cluster cluster(Steps(6));
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
  for (int round = 0; round < 8; ++round) {
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

}  // namespace
}  // namespace ostraka::protocol::hostile_bytes_test
