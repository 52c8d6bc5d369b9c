#include "node/protocol/rules/recomputing.h"

#include <gtest/gtest.h>

#include "node/protocol/ground/deadlines.h"
#include "tests/unit/protocol/rules/cases_fixture.h"

namespace ostraka::protocol::recomputing_test {
namespace {

using scene::HonestStep;
using scene::PeerNumber;

// Eight members in step 20, whose wait for parts is 20 s and whose Delta is 1 s. Member 2
// validates.
class RecomputingTest : public testing::Test {
 protected:
  RecomputingTest() : step_(StepWith({}, {{PeerNumber(2), PeerNumber(5), kStep - 2, kCovering}})) {
    step_.head.delta_us = 1'000'000;
  }
  void Open(std::uint32_t accuser, std::uint32_t target, std::uint64_t begins) {
    step_.head.cases.push_back(CaseOf(accuser, target));
    step_.head.cases.back().opened_step = begins;
  }
  std::int64_t ExtraMs(std::uint32_t member) const {
    const auto extra =
        ProofExtraFor(PeerNumber(member), step_.head, step_.sealed.roles, step_.manifest);
    return extra.ns / 1'000'000;
  }
  std::int64_t DeadlineMs() const {
    return ProofDeadlineAfter(step_.head, step_.manifest).ns / 1'000'000;
  }
  HonestStep step_;
};

TEST_F(RecomputingTest, AGradientMayTakeHalfOfTheWaitForParts) {
  EXPECT_EQ(RecomputeTimeAfter(step_.head, step_.manifest), base::Seconds(10));
  step_.manifest.compute_profile = kExact;
  EXPECT_EQ(RecomputeTimeAfter(step_.head, step_.manifest), base::Seconds(25))
      << "two passes, the second by other instructions";
  step_.manifest.adaptive = true;
  step_.head.part_us = 4'000'000;
  EXPECT_EQ(RecomputeTimeAfter(step_.head, step_.manifest), base::Seconds(5));
}

// Attack on the design: a slow validator of a fast worker was late in every such step, at its own
// cost.
TEST_F(RecomputingTest, WhereCountsVaryItMayTakeAsManyTimesLonger) {
  step_.manifest.compute_profile = kExact;
  step_.manifest.training.batches = 2;
  step_.manifest.training.most_batches = 3;
  EXPECT_EQ(RecomputeTimeAfter(step_.head, step_.manifest), base::Milliseconds(37'500));
  EXPECT_EQ(CaseTimeAfter(step_.head, step_.manifest), base::Seconds(75));
  EXPECT_EQ(DeadlineMs(), 42'000 + 12'500) << "and seal C does not end before";
}

TEST_F(RecomputingTest, ValidatorsAndVotersOfCasesThatBeginGetTheirTime) {
  EXPECT_EQ(ExtraMs(0), 0);
  EXPECT_EQ(ExtraMs(2), 10'000);
  EXPECT_EQ(DeadlineMs(), 42'000);
  Open(3, 4, kStep - 1);  // the head's step
  EXPECT_EQ(ExtraMs(0), 20'000) << "as long as an owner waits for a gradient";
  EXPECT_EQ(ExtraMs(2), 30'000);
  EXPECT_EQ(ExtraMs(3), 0) << "a party has no vote";
  EXPECT_EQ(ExtraMs(4), 0);
  EXPECT_EQ(DeadlineMs(), 62'000);
  EXPECT_EQ(LongestProofDeadlineAfter(step_.head, step_.manifest), base::Seconds(82));
}

// Attack: a vote kept back gave its voter the time of a recomputation in each step of the case.
TEST_F(RecomputingTest, OlderCasesAndThoseThatWaitGiveNoTime) {
  Open(3, 4, kStep - 2);
  Open(6, 7, kStep);
  EXPECT_EQ(ExtraMs(0), 0);
  EXPECT_EQ(DeadlineMs(), 42'000);
}

TEST_F(RecomputingTest, InProfileExactVotersHaveTimeForLooksUntilTheyVote) {
  step_.manifest.compute_profile = kExact;
  Open(3, 4, kStep - kLookBlocks);  // kStep - 1 is the head's
  EXPECT_EQ(ExtraMs(0), 50'000) << "a vote and a look";
  step_.head.cases[0].opened_step = kStep - kLookBlocks - 1;
  EXPECT_EQ(ExtraMs(0), 0) << "by then it is voted on as it is";
  step_.head.cases[0].opened_step = kStep - 2;
  step_.head.cases[0].ballots.push_back({PeerNumber(0), wire::Verdict::kGuilty});
  EXPECT_EQ(ExtraMs(0), 0);
  EXPECT_EQ(ExtraMs(1), 50'000);
}

// Attack: with less than the wait for a vote, whoever needs more of it for a gradient never voted,
// as what gives way to the next gradient begins anew. Cases ended undecided, and honest accusers
// were dropped. With the time of one recomputation for a vote and a look, no look ended.
TEST_F(RecomputingTest, WhoIsInTimeForOwnersIsInTimeToVoteAndLook) {
  Open(3, 4, kStep - 1);
  const auto wait = PartWaitAfter(step_.head, step_.manifest);
  EXPECT_GE(ExtraMs(0), wait.ns / 1'000'000);
  step_.manifest.compute_profile = kExact;
  EXPECT_GE(ExtraMs(0), 2 * RecomputeTimeAfter(step_.head, step_.manifest).ns / 1'000'000)
      << "a step has room for two recomputations (DutyJobs)";
}

// docs/protocol/waits.md: two graces in each of seals A and C, REVEAL and three ECHOs.
TEST_F(RecomputingTest, WhatIsBelowTheBarsIsFreeForEver) {
  const Manifest manifest;
  EXPECT_EQ(FreeDelayIn(manifest).each_step, base::Seconds(4 * (1 + 3) + 4 * 3 / 2));
  EXPECT_EQ(FreeDelayIn(manifest).as_validator, base::Seconds(22 + 10));
  Manifest exact = manifest;
  exact.compute_profile = kExact;
  exact.adaptive = true;
  EXPECT_EQ(FreeDelayIn(exact).as_validator, base::Seconds(22 + 5)) << "the floor is 4 s";
}

TEST_F(RecomputingTest, TheTimeOfTwoCasesIsTheMost) {
  step_.manifest.compute_profile = kExact;
  for (const std::uint32_t target : {1u, 3u, 5u}) Open(target + 1, target, kStep - target);
  EXPECT_EQ(ExtraMs(0), 100'000);
  EXPECT_EQ(DeadlineMs(), 142'000);
}

}  // namespace
}  // namespace ostraka::protocol::recomputing_test
