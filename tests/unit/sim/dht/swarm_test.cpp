#include "sim/dht/swarm.h"

#include <gtest/gtest.h>

#include "sim/dht/adversary.h"

namespace ostraka::sim::dhtsim::swarm_test {
namespace {

base::Time At(std::int64_t seconds) { return base::Time{} + base::Seconds(seconds); }
Endpoint Host(std::uint32_t number) { return Endpoint::V4(0x14000000 + 256 * number + 1, 7000); }

class Listener final : public SwarmObserver {
 public:
  void OnAction(base::Time, std::uint32_t peer, const Cause&,
                const machine::ActionOf<dht::DhtKind>& action) override {
    if (const auto* one = std::get_if<dht::Answered>(&action)) answered[peer].push_back(*one);
  }
  std::map<std::uint32_t, std::vector<dht::Answered>> answered;
};

class SwarmTest : public testing::Test {
 protected:
  void Add(std::uint32_t count, dht::Role role = dht::Role::kServer) {
    for (std::uint32_t i = 0; i < count; ++i) {
      Swarm::PeerOptions peer;
      peer.endpoint = Host(swarm_.size());
      peer.role = role;
      swarm_.Add(At(1), std::move(peer), {Host(0)});
    }
  }
  Swarm swarm_{7, UdpOptions{.loss_permille = 0}};
};

TEST_F(SwarmTest, NodesJoinAndFindEachOthersRecords) {
  Add(20);
  Listener listener;
  swarm_.Observe(&listener);
  swarm_.RunUntil(At(30));
  for (std::uint32_t i = 0; i < 20; ++i) EXPECT_GE(swarm_.node(i).table().size(), 15U) << i;
  dht::Publish publish;
  publish.content.addresses = {swarm_.endpoint(3)};
  swarm_.Ask(3, {1, publish});
  swarm_.RunUntil(At(40));
  ASSERT_EQ(listener.answered[3].size(), 1U);
  EXPECT_GE(std::get<dht::Published>(listener.answered[3][0].result).stored, 15U);
  swarm_.Ask(9, {2, dht::GetPeer{swarm_.id(3)}});
  swarm_.RunUntil(At(50));
  ASSERT_EQ(listener.answered[9].size(), 1U);
  const auto& records = std::get<dht::GotRecords>(listener.answered[9][0].result).records;
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].addresses, std::vector<Endpoint>{swarm_.endpoint(3)});
  swarm_.CheckAll();
}

TEST_F(SwarmTest, NodesTestEachOtherAndBecomeServersButNotBehindANat) {
  Add(12);
  Add(4, dht::Role::kAuto);
  Swarm::PeerOptions hidden;
  hidden.endpoint = Host(swarm_.size());
  hidden.behind_nat = true;
  const std::uint32_t behind = swarm_.Add(At(1), std::move(hidden), {Host(0)});
  swarm_.RunUntil(At(1800));
  for (std::uint32_t i = 12; i < 16; ++i) EXPECT_TRUE(swarm_.node(i).progress().server) << i;
  EXPECT_FALSE(swarm_.node(behind).progress().server);
  for (std::uint32_t i = 0; i < 16; ++i) {
    for (const dht::KnownNode& node : swarm_.node(i).table().All()) {
      EXPECT_NE(node.contact.endpoint, swarm_.endpoint(behind));
    }
  }
  EXPECT_GE(swarm_.node(behind).table().size(), 10U) << "it finds others all the same";
}

TEST_F(SwarmTest, ASeedRepeatsExactly) {
  const auto play = [] {
    Swarm swarm(11, UdpOptions{.loss_permille = 50});
    for (std::uint32_t i = 0; i < 15; ++i) {
      Swarm::PeerOptions peer;
      peer.endpoint = Host(i);
      swarm.Add(At(i), std::move(peer), {Host(0), Host(1)});
    }
    swarm.RunUntil(At(300));
    crypto::Hasher hasher(crypto::kDomainTrace);
    for (std::uint32_t i = 0; i < 15; ++i) hasher.Update(swarm.node(i).Fingerprint());
    return std::pair(hasher.Finish(), swarm.totals().events);
  };
  EXPECT_EQ(play(), play());
}

TEST_F(SwarmTest, ADeadNodeIsForgotten) {
  Add(10);
  swarm_.RunUntil(At(30));
  swarm_.Kill(4);
  EXPECT_FALSE(swarm_.IsUp(4));
  swarm_.RunUntil(At(2 * 3600));
  for (std::uint32_t i = 0; i < 10; ++i) {
    if (i == 4) continue;
    for (const dht::KnownNode& node : swarm_.node(i).table().All()) {
      EXPECT_NE(node.contact.endpoint, swarm_.endpoint(4));
    }
  }
}

}  // namespace
}  // namespace ostraka::sim::dhtsim::swarm_test
