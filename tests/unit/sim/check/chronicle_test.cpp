// The history of a run from its blocks, whatever peer finishes them first.
#include "sim/check/chronicle.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/sim/checked_peers.h"

namespace ostraka::sim::chronicle_test {
namespace {

class ChronicleTest : public ::testing::Test {
 protected:
  void Tell(std::uint32_t peer, protocol::Action action) {
    const std::vector<protocol::Action> actions = {std::move(action)};
    const protocol::Input input = protocol::TimerFired{};
    chronicle_.OnStep({{}, 0, peer, input, actions});
  }
  static wire::Block Block(std::uint64_t step) {
    wire::Block block = ABlock(step);
    block.columns = {wire::ColumnFate::kApplied, wire::ColumnFate::kSumCheck};
    return block;
  }

  std::vector<std::uint64_t> sunk_;
  Chronicle chronicle_{
      ThreePeers(), 2,
      [this](const wire::Block& block, const std::vector<float>&) { sunk_.push_back(block.step); }};
};

TEST_F(ChronicleTest, CountsABlockOnceAndStepsOfTheSlowest) {
  wire::Block with_removal = Block(1);
  with_removal.removals.push_back({});
  Tell(0, Done(Block(0)));
  Tell(0, Done(with_removal, AState({7})));
  EXPECT_EQ(chronicle_.steps(), 0U) << "peer 1 has none yet";
  Tell(1, Done(Block(0)));
  Tell(1, Done(with_removal));
  EXPECT_EQ(chronicle_.steps(), 2U);
  EXPECT_EQ(sunk_, (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(chronicle_.removals().size(), 1U);
  EXPECT_EQ(chronicle_.columns().at("applied"), 2U);
  EXPECT_EQ(*chronicle_.parameters(), std::vector<float>{7});
}

TEST_F(ChronicleTest, IgnoresAdversaries) {
  Tell(2, Done(Block(0)));
  Tell(2, protocol::Observe{protocol::Suspicion{0, Key(0)->id(), "V1", "because"}});
  EXPECT_TRUE(sunk_.empty());
  EXPECT_TRUE(chronicle_.suspicions().empty());
  Tell(1, protocol::Observe{protocol::Suspicion{0, Key(2)->id(), "V1", "because"}});
  EXPECT_EQ(chronicle_.suspicions().at("V1"), 1U);
}

TEST_F(ChronicleTest, CountsSlowStepsOnceAndEachIteration) {
  Tell(0, protocol::Observe{protocol::SlowSeal{3, 1, 1, ""}});
  Tell(0, protocol::Observe{protocol::SlowSeal{3, 1, 2, ""}});
  Tell(1, protocol::Observe{protocol::SlowSeal{3, 2, 1, ""}});
  EXPECT_EQ(chronicle_.slow_steps(), 1U);
  EXPECT_EQ(chronicle_.slow_iterations(), 3U);
}

TEST_F(ChronicleTest, CountsBatchesOfWorkersAndWhatHonestPeersAreCharged) {
  wire::Block first = Block(0);
  first.proven = {Key(0)->id(), Key(1)->id()};
  std::sort(first.proven.begin(), first.proven.end());
  first.batch_counts = {{Key(1)->id(), 4}};
  first.lateness = {{Key(2)->id(), 90}};
  Tell(0, Done(first));
  EXPECT_EQ(chronicle_.batches(), 4U) << "the block's counts are of the next step";
  EXPECT_EQ(chronicle_.honest_late_ms(), 0U) << "peer 2 is no honest one";
  wire::Block second = Block(1);
  second.proven = first.proven;
  second.lateness = {{Key(1)->id(), 70}};
  Tell(0, Done(second));
  EXPECT_EQ(chronicle_.batches(), 4U + 2U + 4U);
  EXPECT_EQ(chronicle_.honest_late_ms(), 70U);
}

TEST_F(ChronicleTest, GenesisIsNoStep) {
  wire::Block genesis = Block(0);
  genesis.genesis = true;
  Tell(0, Done(genesis));
  EXPECT_EQ(chronicle_.parameters(), nullptr);
  EXPECT_TRUE(sunk_.empty());
}

}  // namespace
}  // namespace ostraka::sim::chronicle_test
