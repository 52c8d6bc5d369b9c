// Who is charged for letting the others wait, whom that drops, and that liars move neither.
#include "node/protocol/rules/lateness.h"

#include <gtest/gtest.h>

#include "node/protocol/rules/judgement.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::lateness_test {
namespace {

using scene::HonestStep;
using scene::MakeHonestStep;
using scene::PeerNumber;
using scene::Removed;

constexpr std::uint64_t kStep = 50;
// Of the scene's manifest and head: 2 x (2 x 20 s + 2 Delta), and 20 s + 2 Delta.
constexpr std::uint64_t kAllowance = 84'000;
constexpr std::uint64_t kOnce = 22'000;

class LatenessTest : public testing::Test {
 protected:
  LatenessTest() : step_(MakeHonestStep({.step = kStep})) { step_.head.delta_us = 1'000'000; }

  // Members `from` to `to` - 1 say that `member` was so late with its own words, or that its AGG
  // was. The bound is 3 of 8.
  void State(std::uint32_t from, std::uint32_t to, std::uint32_t member, std::uint64_t ms,
             bool aggregate = false) {
    for (std::uint32_t i = from; i < to; ++i) {
      std::vector<std::uint64_t>& late = step_.ProofOf(PeerNumber(i)).late_ms;
      late.resize(16);
      late[member + (aggregate ? 8 : 0)] = ms;
    }
  }
  void StateAggregate(std::uint32_t from, std::uint32_t to, std::uint32_t owner, std::uint64_t ms) {
    State(from, to, owner, ms, true);
  }
  void Name(std::uint32_t owner, std::uint32_t worker) {
    const auto column = step_.sealed.roles.PartOwnedBy(PeerNumber(owner));
    step_.AggregateOf(*column).slowest = PeerNumber(worker);
  }
  void Dispute(std::uint32_t worker, std::uint32_t owner) {
    step_.head.disputes.push_back({PeerNumber(worker), PeerNumber(owner), kStep - 1});
  }
  LatenessRuling Rule() const { return RuleOnLateness(step_.sealed, step_.head, step_.manifest); }
  std::uint64_t Charged(std::uint32_t member) const {
    const LatenessRuling ruling = Rule();
    const auto ms = ruling.charged_ms.find(PeerNumber(member));
    return ms == ruling.charged_ms.end() ? 0 : ms->second;
  }

  HonestStep step_;
};

// --- one figure a member -------------------------------------------------------------------------

TEST_F(LatenessTest, NobodyIsLateInAnHonestStep) {
  EXPECT_TRUE(Rule().charged_ms.empty());
  EXPECT_TRUE(step_.Judge().lateness.empty());
}

TEST_F(LatenessTest, AsManyAsMayLieChargeNobody) {
  State(0, 3, 7, 60'000);
  EXPECT_EQ(Charged(7), 0u);
}

TEST_F(LatenessTest, LiarsDoNotLiftItAboveAnHonestFigure) {
  State(0, 3, 7, 60'000);
  State(3, 4, 7, 400);
  EXPECT_EQ(Charged(7), 400u);
}

TEST_F(LatenessTest, WhoIsLateToMoreThanTheBoundIsChargedThoughLiarsAreSilent) {
  State(0, 4, 7, 5'000);
  EXPECT_EQ(Charged(7), 5'000u);
}

TEST_F(LatenessTest, WhatOneSaysOfItselfAndInAnotherSizeDoesNotCount) {
  State(0, 4, 3, 5'000);
  EXPECT_EQ(Charged(3), 0u) << "member 3 is one of the four";
  State(4, 5, 3, 5'000);
  EXPECT_EQ(Charged(3), 5'000u);
  step_.ProofOf(PeerNumber(4)).late_ms.push_back(0);
  EXPECT_EQ(Charged(3), 0u);
}

TEST_F(LatenessTest, NoFigureExceedsWhatTwoSealsLast) {
  State(0, 7, 7, UINT64_MAX);
  EXPECT_EQ(Charged(7), kAllowance);
}

// --- what is nobody's fault ----------------------------------------------------------------------

TEST_F(LatenessTest, ANetworkThatIsSlowForAllCostsNobody) {
  for (std::uint32_t member = 0; member < 8; ++member) State(0, 8, member, 7'000);
  EXPECT_TRUE(Rule().charged_ms.empty());
}

TEST_F(LatenessTest, OneSlowHonestMemberDoesNotHideThoseWhoAreMuchSlower) {
  for (std::uint32_t member = 0; member < 3; ++member) State(0, 8, member, 30'000);
  State(0, 8, 4, 2'000);
  for (std::uint32_t member = 0; member < 3; ++member) EXPECT_EQ(Charged(member), 28'000u);
  EXPECT_EQ(Charged(4), 0u);
}

// --- parts that come late ------------------------------------------------------------------------

TEST_F(LatenessTest, AnOwnerIsNotChargedForAPartThatCameLateAndThePairComesIntoDispute) {
  StateAggregate(0, 7, 7, 18'000);
  Name(7, 2);
  EXPECT_EQ(Charged(7), 0u);
  const Block block = step_.Judge();
  EXPECT_TRUE(block.lateness.empty());
  ASSERT_EQ(block.disputes.size(), 1u);
  EXPECT_EQ(block.disputes[0].worker, PeerNumber(2));
  EXPECT_EQ(block.disputes[0].aggregator, PeerNumber(7));
  // It goes on for a thousand steps.
  EXPECT_EQ(block.disputes[0].since + kDisputeSteps, kStep + kLateDisputeSteps);
}

TEST_F(LatenessTest, ButNotForMoreThanItsPartTimerIsWorth) {
  StateAggregate(0, 7, 7, 40'000);
  Name(7, 2);
  EXPECT_EQ(Charged(7), 40'000 - kOnce);
}

TEST_F(LatenessTest, InDisputeThePartIsSeenByAll) {
  StateAggregate(0, 7, 7, 18'000);
  Name(7, 2);
  Dispute(2, 7);
  EXPECT_EQ(Charged(7), 18'000u) << "the part was in time";
  EXPECT_TRUE(Rule().new_pairs.empty());
  State(0, 7, 2, 17'000);
  EXPECT_EQ(Charged(7), 1'000u);
  EXPECT_EQ(Charged(2), 17'000u);
}

TEST_F(LatenessTest, AWorkerWhosePartsComeLateToAllPaysAndNobodyComesIntoDispute) {
  State(0, 7, 7, 19'000);
  for (std::uint32_t owner = 0; owner < 7; ++owner) {
    StateAggregate(0, 8, owner, 18'000);
    Name(owner, 7);
  }
  EXPECT_EQ(Charged(7), 19'000u);
  EXPECT_EQ(Rule().charged_ms.size(), 1u);
  EXPECT_TRUE(Rule().new_pairs.empty());
}

// Colluding owners that name their friend too and are a little late do not make the excuse of the
// honest one that it wrongs any smaller.
TEST_F(LatenessTest, FriendsOfTheWorkerDoNotSpoilTheOwnersExcuse) {
  StateAggregate(0, 7, 7, 18'000);
  Name(7, 2);
  for (std::uint32_t owner : {0U, 1U, 3U}) {
    StateAggregate(0, 8, owner, 1);
    Name(owner, 2);
  }
  EXPECT_EQ(Charged(7), 0u);
}

TEST_F(LatenessTest, NobodyNamesItselfOrOneWhoIsNoWorker) {
  StateAggregate(0, 7, 7, 18'000);
  Name(7, 7);
  EXPECT_EQ(Charged(7), 18'000u);
  Name(7, 99);
  EXPECT_EQ(Charged(7), 18'000u);
  EXPECT_TRUE(Rule().new_pairs.empty());
}

TEST_F(LatenessTest, WhoIsInTimeComesIntoNoDispute) {
  Name(7, 2);
  EXPECT_TRUE(step_.Judge().disputes.empty());
}

// They owe the part itself, and no friend's name excuses that.
TEST_F(LatenessTest, WorkersThatAreLateToAllDoNotExcuseEachOther) {
  for (std::uint32_t worker : {0U, 1U, 2U}) {
    State(3, 8, worker, 17'000);
    StateAggregate(3, 8, worker, 500);
    Name(worker, (worker + 1) % 3);
  }
  for (std::uint32_t owner = 3; owner < 8; ++owner) {
    StateAggregate(0, 8, owner, 17'000);
    Name(owner, 0);
  }
  for (std::uint32_t worker : {0U, 1U, 2U}) EXPECT_EQ(Charged(worker), 17'000u) << worker;
  EXPECT_EQ(Rule().charged_ms.size(), 3u);
  EXPECT_TRUE(Rule().new_pairs.empty());
}

// --- the credit ----------------------------------------------------------------------------------

TEST_F(LatenessTest, AddsUpAndIsForgivenSlowly) {
  State(0, 7, 7, 3'000);
  step_.head.lateness = {{PeerNumber(7), 10'000}, {PeerNumber(5), 40}};
  const Block block = step_.Judge();
  ASSERT_EQ(block.lateness.size(), 1u) << "40 ms are forgiven";
  EXPECT_EQ(block.lateness[0].peer, PeerNumber(7));
  EXPECT_EQ(block.lateness[0].ms, 10'000u - 50 + 3'000);
  EXPECT_TRUE(block.removals.empty());
}

TEST_F(LatenessTest, BeyondTheAllowanceDrops) {
  step_.head.lateness = {{PeerNumber(7), kAllowance}};
  State(0, 7, 7, 50);
  EXPECT_TRUE(step_.Judge().removals.empty()) << "just what it may";
  State(0, 7, 7, 57);
  const Block block = step_.Judge();
  ASSERT_EQ(Removed(block), std::vector<int>{7});
  EXPECT_EQ(block.removals[0].kind, wire::RemovalKind::kDrop);
  EXPECT_EQ(wire::TextOf(block.removals[0].reason),
            "let the others wait: 7 ms beyond what it was allowed");
  EXPECT_TRUE(block.lateness.empty());
}

TEST_F(LatenessTest, AForgivenDropLeavesTheAllowanceUsedUp) {
  for (std::uint32_t member = 0; member < 4; ++member) {
    step_.head.lateness.push_back({PeerNumber(member), kAllowance + 5'000});
  }
  const Block block = step_.Judge();
  EXPECT_TRUE(block.removals.empty()) << "four of eight are more than can be at fault";
  ASSERT_EQ(block.lateness.size(), 4u);
  EXPECT_EQ(block.lateness[0].ms, kAllowance);
}

TEST_F(LatenessTest, WhoReturnsBeginsWithHalfOfItUsed) {
  const auto kept = KeptLateness({{PeerNumber(1), 70}}, step_.head, step_.manifest,
                                 scene::PeersUpTo(8), {PeerNumber(4)});
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].ms, 70u);
  EXPECT_EQ(kept[1].peer, PeerNumber(4));
  EXPECT_EQ(kept[1].ms, kAllowance / 2);
}

}  // namespace
}  // namespace ostraka::protocol::lateness_test
