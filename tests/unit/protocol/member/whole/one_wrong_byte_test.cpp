// One wrong byte at every place of every kind of signed message, given to the member that waits for
// it: nothing happens but a suspicion, and the true message still counts. (On the way between two
// nodes TLS finds it first, in services too: tests/unit/net/transport_flip_test.cpp.)
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "node/protocol/mail/ration.h"
#include "tests/unit/protocol/member/whole/fingerprint_probe.h"
#include "tests/unit/protocol/member/whole/four_peers.h"

namespace ostraka::protocol::one_wrong_byte_test {
namespace {

using scene::Cluster;
using scene::HonestBlocks;
using scene::kCheat;
using scene::SlotOf;
using scene::Steps;
using wire::MessageType;

// Gives node 0 each wrong version of the frame, and expects it to stay as it is.
void ExpectNothingHappens(Cluster& cluster, std::size_t from, const Send& send) {
  Cluster::Node& node = cluster.node(0);
  const Digest before = FingerprintProbe::WithoutNotes(*node.machine);
  ASSERT_LE(send.frame->size(), Ration::kForgeriesASecond) << "the rest would not be looked at";
  for (std::size_t at = 0; at < send.frame->size(); ++at) {
    base::Bytes bad = *send.frame;
    bad[at] = static_cast<std::uint8_t>(bad[at] ^ (1 + at * 37 % 255));
    node.suspicions.clear();
    const auto actions = cluster.Feed(
        0, MessageReceived{cluster.node(from).id(),
                           std::make_shared<const base::Bytes>(std::move(bad)), send.blob});
    ASSERT_EQ(actions.size(), node.suspicions.size()) << "byte " << at;
    for (const Suspicion& suspicion : node.suspicions) {
      ASSERT_EQ(suspicion.peer, cluster.node(from).id()) << "byte " << at;
    }
    ASSERT_EQ(FingerprintProbe::WithoutNotes(*node.machine), before) << "byte " << at;
  }
}

// Each kind in a run of its own: who sends so many bad signatures in a second is not heard.
void TryKind(MessageType kind) {
  SCOPED_TRACE(wire::MessageTypeName(kind));
  Cluster cluster(Steps(6));
  std::vector<Send> held;
  bool tried = false;
  cluster.on_send = [&](std::size_t from, const Send& send) {
    const bool wanted = from == kCheat && cluster.IndexOf(send.to) == 0;
    // Who lacks an ECHO of genesis begins by the COMMITs of the others.
    const bool needed = kind != MessageType::kEcho || SlotOf(send).phase != wire::Phase::kGenesis;
    if (!wanted || tried || !needed || SlotOf(send).type != kind) return true;
    held.push_back(send);  // node 0 waits for it
    tried = true;
    return false;
  };
  cluster.Start();
  cluster.Run();
  ASSERT_TRUE(tried);
  ExpectNothingHappens(cluster, kCheat, held[0]);
  cluster.Deliver(0, kCheat, held[0].frame, held[0].blob);
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  EXPECT_EQ(cluster.node(0).encoded_blocks, HonestBlocks(6));
}

TEST(OneWrongByte, OfAnyMessageChangesNothing) {
  for (const MessageType kind :
       {MessageType::kBoot, MessageType::kCommit, MessageType::kPart, MessageType::kAggregate,
        MessageType::kResult, MessageType::kReveal, MessageType::kProof, MessageType::kEcho}) {
    TryKind(kind);
  }
}

// What is said only when something went wrong: a member is silent for one step, its seals take the
// slow path, it is dropped and asks to come back.
TEST(OneWrongByte, OfTheSlowPathOrARejoinChangesNothing) {
  constexpr std::size_t kSilent = 3;
  const std::set<MessageType> wanted = {MessageType::kStatus, MessageType::kPropose,
                                        MessageType::kVote, MessageType::kLock,
                                        MessageType::kRejoin};
  Cluster cluster(Steps(24));
  std::set<MessageType> kinds;
  std::vector<std::pair<std::size_t, Send>> held;
  cluster.on_send = [&](std::size_t from, const Send& send) {
    const wire::Envelope envelope = scene::EnvelopeOf(send.frame);
    const MessageType type = envelope.slot.type;
    if (from == kSilent && envelope.slot.step == 1 && !wire::IsService(type)) return false;
    const bool own = envelope.sender == cluster.node(from).id();
    if (cluster.IndexOf(send.to) != 0 || !own || !wanted.contains(type)) return true;
    if (!kinds.insert(type).second) return true;
    held.emplace_back(from, send);
    return false;
  };
  cluster.Start();
  while (kinds != wanted) {
    cluster.RunUntil([&] { return !held.empty(); });
    ASSERT_FALSE(held.empty()) << "only " << kinds.size() << " kinds were said";
    for (const auto& [from, send] : std::exchange(held, {})) {
      ExpectNothingHappens(cluster, from, send);
      if (testing::Test::HasFatalFailure()) return;
      cluster.Deliver(0, from, send.frame, send.blob);
    }
  }
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  cluster.ExpectAgreement();
}

}  // namespace
}  // namespace ostraka::protocol::one_wrong_byte_test
