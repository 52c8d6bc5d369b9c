// Four members, one of whom may cheat: what the tests of whole peers share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/member/whole/cluster.h"

namespace ostraka::protocol::scene {

inline constexpr std::size_t kCheat = 2;  // the member that misbehaves, where one does
inline const std::vector<std::size_t> kHonest = {0, 1, 3};

inline ClusterOptions Steps(std::uint64_t steps) {
  return {.n = 4, .dimension = 64, .steps = steps};
}

// The signature comes first.
inline base::SharedBytes BadlySigned(const base::SharedBytes& frame) {
  base::Bytes bytes = *frame;
  bytes.at(10) ^= 1;
  return std::make_shared<const base::Bytes>(std::move(bytes));
}

inline wire::Slot SlotOf(const Send& send) { return EnvelopeOf(send.frame).slot; }

// The blocks of a run in which all goes well.
inline std::map<base::Bytes, base::Bytes> HonestBlocks(std::uint64_t steps) {
  Cluster cluster(Steps(steps));
  cluster.Start();
  cluster.RunToEnd();
  return cluster.node(0).encoded_blocks;
}

inline void ExpectNoSuspicionOf(Cluster& cluster, const std::vector<std::size_t>& nodes) {
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    for (const Suspicion& suspicion : cluster.node(i).suspicions) {
      const std::size_t suspect = cluster.IndexOf(suspicion.peer);
      EXPECT_EQ(std::count(nodes.begin(), nodes.end(), suspect), 0)
          << "node " << i << " suspects " << suspect << ": " << suspicion.reason;
    }
  }
}

inline void ExpectAllApplied(const Cluster::Node& node) {
  for (const auto& block : node.blocks) {
    for (const wire::ColumnFate fate : block->columns) {
      EXPECT_EQ(fate, wire::ColumnFate::kApplied) << "step " << block->step;
    }
  }
}

// All but the cheat came to the end of the run, with the same blocks and states.
inline void ExpectHonestFinished(Cluster& cluster) {
  for (const std::size_t i : kHonest) {
    ASSERT_TRUE(cluster.node(i).halted);
    EXPECT_EQ(cluster.node(i).halted->why, Halted::Why::kFinished)
        << cluster.node(i).halted->reason;
  }
  cluster.ExpectAgreement(kHonest);
}

// The removals of a run, as node 0 saw them.
inline std::vector<wire::Removal> RemovalsOf(Cluster& cluster) {
  std::vector<wire::Removal> removals;
  for (const auto& block : cluster.node(0).blocks) {
    removals.insert(removals.end(), block->removals.begin(), block->removals.end());
  }
  return removals;
}

}  // namespace ostraka::protocol::scene
