// One wrong byte at every place of every kind of message, given to the member that waits for it:
// nothing happens but a suspicion, and the true message still counts. (On the way between two nodes
// TLS finds it first: tests/unit/runtime/transport_flip_test.cpp.)
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "tests/unit/protocol/four_peers.h"

namespace ostraka::protocol {
namespace {

using scene::Cluster;
using scene::HonestBlocks;
using scene::kCheat;
using scene::SlotOf;
using scene::Steps;
using wire::MessageType;

constexpr std::size_t kKinds = 8;

// Gives node 0 each wrong version of the frame, and expects it to stay as it is.
void ExpectNothingHappens(Cluster& cluster, const Send& send) {
  Cluster::Node& node = cluster.node(0);
  const Digest before = node.machine->Fingerprint();
  for (std::size_t at = 0; at < send.frame->size(); ++at) {
    base::Bytes bad = *send.frame;
    bad[at] = static_cast<std::uint8_t>(bad[at] ^ (1 + at * 37 % 255));
    node.suspicions.clear();
    const auto actions = cluster.Feed(
        0, MessageReceived{cluster.node(kCheat).id(),
                           std::make_shared<const base::Bytes>(std::move(bad)), send.blob});
    ASSERT_EQ(actions.size(), node.suspicions.size()) << "byte " << at;
    for (const Suspicion& suspicion : node.suspicions) {
      ASSERT_EQ(suspicion.peer, cluster.node(kCheat).id()) << "byte " << at;
    }
    ASSERT_EQ(node.machine->Fingerprint(), before) << "byte " << at;
  }
}

TEST(OneWrongByte, OfAnyMessageChangesNothing) {
  Cluster cluster(Steps(6));
  std::vector<Send> held;
  cluster.on_send = [&](std::size_t from, const Send& send) {
    if (from != kCheat || cluster.IndexOf(send.to) != 0) return true;
    held.push_back(send);  // node 0 waits for these
    return false;
  };
  cluster.Start();
  cluster.Run();
  std::set<MessageType> kinds;
  while (kinds.size() < kKinds && !held.empty()) {
    const std::vector<Send> now = std::exchange(held, {});
    for (const Send& send : now) {
      kinds.insert(SlotOf(send).type);
      ExpectNothingHappens(cluster, send);
      if (testing::Test::HasFatalFailure()) return;
    }
    for (const Send& send : now) cluster.Deliver(0, kCheat, send.frame, send.blob);
    cluster.Run();
  }
  EXPECT_EQ(kinds.size(), kKinds);
  cluster.on_send = nullptr;
  for (const Send& send : held) cluster.Deliver(0, kCheat, send.frame, send.blob);
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  EXPECT_EQ(cluster.node(0).encoded_blocks, HonestBlocks(6));
}

}  // namespace
}  // namespace ostraka::protocol
