// What a member signs and all hold counts against it, even if it says nothing that can be read; and
// what it sends to one aggregator must not stop that aggregator.
#include <gtest/gtest.h>

#include <algorithm>

#include "node/protocol/rules/voids.h"
#include "tests/unit/protocol/member/whole/cluster.h"

namespace ostraka::protocol::signed_nonsense_test {
namespace {

using scene::Cluster;

constexpr std::size_t kCheat = 2;

const wire::Removal* RemovalOf(const Cluster::Node& node, const PeerId& peer) {
  for (const auto& block : node.blocks) {
    for (const wire::Removal& removal : block->removals) {
      if (removal.peer == peer) return &removal;
    }
  }
  return nullptr;
}

// Without numbers a worker is no validator's target, and every column that has its part is void: a
// PROOF of the wrong length would stop all training for ever, and nobody could be named.
TEST(SignedNonsenseTest, AProofOfTheWrongLengthBansItsAuthor) {
  Cluster cluster({.n = 4, .dimension = 64, .steps = 8});
  cluster.on_job = [](std::size_t node, const JobSpec&, JobResult& result) {
    auto* proof = std::get_if<ProveResult>(&result);
    if (node == kCheat && proof != nullptr) proof->columns.pop_back();
  };
  cluster.Start();
  cluster.RunToEnd();
  for (const std::size_t honest : {0U, 1U, 3U}) {
    const wire::Removal* removal = RemovalOf(cluster.node(honest), cluster.node(kCheat).id());
    ASSERT_NE(removal, nullptr) << honest;
    EXPECT_EQ(removal->kind, wire::RemovalKind::kEvidence);
    EXPECT_EQ(wire::TextOf(removal->reason), "its PROOF is malformed");
    ASSERT_TRUE(cluster.node(honest).halted);
    EXPECT_EQ(cluster.node(honest).halted->why, Halted::Why::kFinished);
  }
  ASSERT_TRUE(cluster.node(kCheat).halted);
  EXPECT_EQ(cluster.node(kCheat).halted->why, Halted::Why::kBanned);
}

// If no aggregate can be formed of what came, the AGG says so, the column is void, and all go on.
// Twice that costs nothing (voids.h).
TEST(SignedNonsenseTest, AnAggregationThatFailsVoidsItsColumn) {
  Cluster cluster({.n = 4, .dimension = 64, .steps = 7});
  std::uint32_t failures = 0;
  cluster.on_job = [&](std::size_t node, const JobSpec& spec, JobResult& result) {
    if (node == 1 && std::holds_alternative<AggregateSpec>(spec) && failures < kVoidsBorne) {
      ++failures;
      result = JobFailed{"no fixed point"};
    }
  };
  cluster.Start();
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  cluster.ExpectAgreement();
  std::ptrdiff_t voids = 0;
  for (const auto& block : cluster.node(0).blocks) {
    voids +=
        std::count(block->columns.begin(), block->columns.end(), wire::ColumnFate::kNoAggregate);
    EXPECT_TRUE(block->removals.empty()) << "step " << block->step;
  }
  EXPECT_EQ(voids, std::ptrdiff_t{kVoidsBorne});
}

TEST(SignedNonsenseTest, AnAggregationThatAlwaysFailsCostsThePlace) {
  Cluster cluster({.n = 4, .dimension = 64, .steps = 7});
  cluster.on_job = [](std::size_t node, const JobSpec& spec, JobResult& result) {
    if (node == kCheat && std::holds_alternative<AggregateSpec>(spec))
      result = JobFailed{"no fixed point"};
  };
  cluster.Start();
  cluster.RunToEnd();
  const wire::Removal* removal = RemovalOf(cluster.node(0), cluster.node(kCheat).id());
  ASSERT_NE(removal, nullptr);
  EXPECT_EQ(removal->kind, wire::RemovalKind::kDrop);
  EXPECT_EQ(wire::TextOf(removal->reason), "voided 3 columns by its own word");
}

}  // namespace
}  // namespace ostraka::protocol::signed_nonsense_test
