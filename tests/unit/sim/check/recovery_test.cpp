#include "sim/check/recovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "node/protocol/seal/seal_bounds.h"

namespace ostraka::sim::recovery_test {
namespace {

using testing::HasSubstr;

constexpr base::Duration kPartTimeout = base::Seconds(20);
constexpr base::Duration kDelta = base::Seconds(1);
constexpr base::Time kOver{10'000'000'000};

protocol::Manifest AManifest() {
  protocol::Manifest manifest;
  manifest.part_timeout = kPartTimeout;
  manifest.delta = kDelta;
  return manifest;
}

// Peers 0 and 1 are honest, 2 is Byzantine; the test makes the simulator's steps.
class RecoveryTest : public testing::Test {
 protected:
  static base::PeerId IdOf(std::uint8_t number) {
    base::PeerId id;
    id.bytes[0] = number;
    return id;
  }
  static Roster ThreePeers() { return {{IdOf(0), IdOf(1), IdOf(2)}, {false, false, true}}; }

  // `peer` observes `what`, `seconds` after the last fault.
  base::Status At(double seconds, std::uint32_t peer, protocol::Observation what) {
    const protocol::Input input = protocol::TimerFired{1};
    const std::vector<protocol::Action> actions = {protocol::Observe{std::move(what)}};
    const base::Time now{kOver.ns + static_cast<std::int64_t>(seconds * 1e9)};
    checker_.OnStep({now, 0, peer, input, actions});
    return checker_.OnAction(peer, actions.front());
  }
  static protocol::Observation BlockOf(std::uint64_t step, base::Duration delta = kDelta,
                                       std::vector<base::PeerId> members = {}) {
    wire::Block block;
    block.members = std::move(members);
    block.step = step;
    block.delta_us = static_cast<std::uint64_t>(delta.ns / 1000);
    return protocol::StepDone{std::make_shared<const wire::Block>(block), {}};
  }

  Recovery checker_{ThreePeers(), kOver, AManifest()};
};

TEST_F(RecoveryTest, MeasuresUntilEveryHonestPeerHasANewBlock) {
  EXPECT_TRUE(At(-1, 0, BlockOf(7)).ok());
  EXPECT_TRUE(At(-1, 1, BlockOf(6)).ok());
  EXPECT_TRUE(At(2, 0, BlockOf(8)).ok());
  EXPECT_TRUE(At(3, 1, BlockOf(7)).ok());
  EXPECT_FALSE(checker_.took()) << "what somebody had before is not new";
  EXPECT_TRUE(At(5, 1, BlockOf(8)).ok());
  EXPECT_EQ(checker_.took(), base::Seconds(5));
}

TEST_F(RecoveryTest, FiresAfterTheBound) {
  EXPECT_TRUE(At(-1, 0, BlockOf(7)).ok());
  EXPECT_TRUE(At(-1, 1, BlockOf(7)).ok());
  const double bound =
      RecoveryBound({.manifest = AManifest(), .delta = kDelta, .faulty = 1}).seconds();
  EXPECT_TRUE(At(bound - 1, 0, BlockOf(8)).ok());
  const base::Status late = At(bound + 1, 0, BlockOf(9));
  EXPECT_THAT(std::string(base::MessageOf(late)), HasSubstr("peer 1"));
  EXPECT_THAT(std::string(base::MessageOf(late)), HasSubstr("8 blocks"));
  EXPECT_THAT(std::string(base::MessageOf(At(bound + 2, 1, BlockOf(8)))), HasSubstr("only"));
}

// A colluder that sends no BOOT keeps the run from its beginning (swarm seed 70883).
TEST_F(RecoveryTest, RunThatNeverBeginsHasNothingToRecover) {
  EXPECT_TRUE(At(1'000'000, 0, protocol::Away{0, ""}).ok());
  EXPECT_FALSE(At(1'000'001, 1, protocol::StepStarted{}).ok()) << "one had begun all the same";
}

TEST_F(RecoveryTest, BoundUsesTheRunsOwnTerms) {
  EXPECT_TRUE(At(-9, 0, BlockOf(9, base::Seconds(4))).ok());
  EXPECT_TRUE(At(-9, 0, BlockOf(10, base::Seconds(2))).ok()) << "the newest block's Delta counts";
  EXPECT_TRUE(At(-9, 1, BlockOf(7)).ok());
  EXPECT_TRUE(At(-8, 1, protocol::SlowSeal{8, 1, 9, ""}).ok());
  EXPECT_TRUE(At(-7, 1, protocol::Sealed{8, 1, {}, 0, 9}).ok());
  EXPECT_TRUE(At(-6, 1, protocol::SlowSeal{8, 2, 3, ""}).ok());
  EXPECT_TRUE(At(1, 1, protocol::Away{8, ""}).ok());
  EXPECT_TRUE(At(2, 1, protocol::SlowSeal{8, 2, 6, ""}).ok());
  EXPECT_EQ(checker_.bound(), RecoveryBound({.manifest = AManifest(),
                                             .delta = base::Seconds(2),
                                             .iteration = 3,
                                             .faulty = 2,
                                             .behind = 3}));
}

TEST_F(RecoveryTest, FinishedPeersNeedNoNewBlock) {
  EXPECT_TRUE(At(-1, 0, BlockOf(7)).ok());
  EXPECT_TRUE(At(-1, 0, protocol::Halted{}).ok());
  EXPECT_TRUE(At(1, 1, BlockOf(7)).ok());
  EXPECT_FALSE(checker_.took());
  EXPECT_TRUE(At(2, 1, protocol::Halted{}).ok());
  EXPECT_EQ(checker_.took(), base::Seconds(2));
}

// Peer 1 was cut off, and dropped; peer 0 needed it no more, finished the run and left.
TEST_F(RecoveryTest, RunThatEndsDuringTheFaultLeavesNobodyToHelp) {
  EXPECT_TRUE(At(-9, 0, BlockOf(7)).ok());
  EXPECT_TRUE(At(-9, 1, BlockOf(5)).ok());
  EXPECT_TRUE(At(-8, 0, protocol::Halted{}).ok());
  EXPECT_FALSE(checker_.NobodyIsLeft()) << "the fault is not over";
  EXPECT_TRUE(At(1'000'000, 1, protocol::SlowSeal{6, 1, 9, ""}).ok());
  EXPECT_TRUE(checker_.NobodyIsLeft());
}

TEST_F(RecoveryTest, MemberOfTheNewestBlockIsAwaitedThroughTheFault) {
  EXPECT_TRUE(At(-9, 0, BlockOf(7, kDelta, {IdOf(0), IdOf(1)})).ok());
  EXPECT_TRUE(At(-9, 1, BlockOf(5)).ok());
  EXPECT_TRUE(At(-8, 0, protocol::Halted{}).ok());
  EXPECT_FALSE(At(1'000'000, 1, protocol::SlowSeal{6, 1, 9, ""}).ok());
  EXPECT_FALSE(checker_.NobodyIsLeft());
}

TEST_F(RecoveryTest, WhoeverEndsAfterTheFaultIsLeftToHelp) {
  EXPECT_TRUE(At(-9, 0, BlockOf(7)).ok());
  EXPECT_TRUE(At(-9, 1, BlockOf(5)).ok());
  EXPECT_TRUE(At(1, 0, protocol::Halted{}).ok());
  EXPECT_FALSE(At(1'000'000, 1, protocol::SlowSeal{6, 1, 9, ""}).ok());
  EXPECT_FALSE(checker_.NobodyIsLeft());
}

// The formula of docs/simulation.md, by hand: Delta 1, part_timeout 20, no faulty member, iteration
// 3.
TEST(RecoveryBound, IsWhatTheDocumentationSays) {
  const base::Duration healing = protocol::HealingBound(kDelta, 3, 0);
  EXPECT_EQ(healing, base::Seconds(5 + 4 + 4 * 4 + 4 * 8));
  const auto after = [&](base::Duration cases) {
    return (healing + base::Seconds(42) + cases) * 2 + cases +
           base::Milliseconds((3'000 + 12'750) + (42'000 + 12'750) + 4'000);
  };
  RecoveryTerms terms{.manifest = AManifest(), .delta = kDelta, .iteration = 3};
  EXPECT_EQ(RecoveryBound(terms), after(base::Seconds(40)));
  terms.manifest.compute_profile = protocol::kExact;
  EXPECT_EQ(RecoveryBound(terms), after(base::Seconds(100)));
}

}  // namespace
}  // namespace ostraka::sim::recovery_test
