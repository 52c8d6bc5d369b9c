// The iterations of one Seal, message by message: docs/seal.md, the slow path.
#include <gtest/gtest.h>

#include <set>

#include "node/wire/bitmap.h"
#include "tests/unit/protocol/seal/seal_fixture.h"

namespace ostraka::protocol::seal_slow_test {
namespace {

using scene::DigestOf;
using scene::PeerNumber;
using wire::MessageType;
using wire::PullKind;

TEST_F(SealTest, CloseIsSentTwoDeltaAfterTheOwnEchoAndStatusThreeHalvesAfterTheGate) {
  Until(500);
  Echo();
  HearEcho(1, All());
  HearEcho(2, Without(3));
  Until(2499);
  EXPECT_EQ(Said(MessageType::kClose), nullptr);
  Until(2500);
  EXPECT_NE(Said(MessageType::kClose), nullptr);
  HearClose(1);
  Until(3000);
  EXPECT_FALSE(seal_->gate_passed());
  EXPECT_NE(seal_->Describe(now_).find("closed 0.5 s ago; 2 of 3 have; waits for"),
            std::string::npos);
  forwards_.clear();
  HearClose(2);
  EXPECT_TRUE(seal_->gate_passed());
  EXPECT_EQ(forwards_.size(), 2u);  // those of the others: mine went to all
  Until(4499);
  EXPECT_FALSE(seal_->slow());
  Until(4500);
  EXPECT_TRUE(seal_->slow());
  EXPECT_EQ(seal_->silent(), (std::set<PeerId>{PeerNumber(3), PeerNumber(4)}));
  const auto status = wire::Decode<wire::SealStatus>(Said(MessageType::kStatus, 1)->body).value();
  EXPECT_EQ(status.rank, 0u);
  EXPECT_EQ(status.value, EchoOf(All()).vector);
}

TEST_F(SealTest, EqualEchoesOfAQuorumLock) {
  Echo();
  HearEcho(1, All());
  HearEcho(2, All());
  HearEcho(3, Without(3));
  Until(2000);
  HearCloses();
  Until(3500);
  const auto status = wire::Decode<wire::SealStatus>(Said(MessageType::kStatus, 1)->body).value();
  EXPECT_EQ(status.rank, 1u);
  EXPECT_EQ(status.value, EchoOf(All()).vector);
}

TEST_F(SealTest, StatusIsSentAgainUntilAQuorumIsThere) {
  Echo();
  HearEcho(1, All());
  Until(2'000);
  HearCloses();
  forwards_.clear();
  Until(5'499);
  EXPECT_EQ(seal_->iteration(), 1u);
  EXPECT_FALSE(seal_->alone());
  Until(20'000);
  EXPECT_EQ(seal_->iteration(), 1u);
  EXPECT_TRUE(seal_->alone());
  EXPECT_EQ(Said(MessageType::kVote, 1), nullptr);
  EXPECT_EQ(forwards_.size(), 8u);  // at 5.5, 7.5, ... 19.5 seconds
  EXPECT_NE(seal_->Describe(now_).find("no quorum of 3: waits for"), std::string::npos);
  EXPECT_NE(seal_->Describe(now_).find("own echo 20.0 s ago"), std::string::npos);
}

// It joins members ahead while it waits for CLOSEs, and then waits for STATUSes.
TEST_F(SealTest, AWaitThatEndsByJoiningOthersLeavesNothingToTheNextOne) {
  Start({}, 1);  // Q = 4
  Echo();
  Until(4'500);
  EXPECT_TRUE(seal_->alone()) << "it sent its CLOSE again at 4 seconds";
  for (std::uint32_t i = 1; i <= 2; ++i) HearStatus(i, 3, 0, DigestOf(1));
  ASSERT_EQ(seal_->iteration(), 3u);
  EXPECT_FALSE(seal_->alone());
  forwards_.clear();
  Until(8'499);
  EXPECT_TRUE(forwards_.empty()) << "a step of iteration 3 lasts 4 seconds";
  EXPECT_FALSE(seal_->alone());
  Until(8'500);
  EXPECT_EQ(forwards_.size(), 1u);
  EXPECT_TRUE(seal_->alone());
}

TEST_F(SealTest, CloseIsSentAgainAndAskedForUntilTheGateIsPassed) {
  Echo();
  Until(3'999);
  EXPECT_FALSE(seal_->alone());
  asks_.clear();
  Until(10'000);
  EXPECT_TRUE(seal_->alone());
  EXPECT_EQ(forwards_.size(), 4u);  // at 4, 6, 8 and 10 seconds
  const auto asked = std::count_if(asks_.begin(), asks_.end(), [](const SealAsk& ask) {
    return ask.pull.type == MessageType::kClose;
  });
  EXPECT_GE(asked, 4 * (kMembers - 1));
  EXPECT_EQ(seal_->Frames(MessageType::kClose).size(), 1u);
  HearCloses();
  EXPECT_FALSE(seal_->alone());
  EXPECT_EQ(seal_->Frames(MessageType::kClose).size(), 3u);
}

// The gate ends every wait: a member that passes it echoes what it holds.
TEST_F(SealTest, AMemberThatPassesTheGateWhileItWaitsEchoesWhatItHolds) {
  held_.erase(4);
  Open();
  for (std::uint32_t i = 1; i <= 3; ++i) HearClose(i);
  ASSERT_NE(Said(MessageType::kEcho), nullptr);
  EXPECT_TRUE(seal_->wait_ended());
  EXPECT_EQ(wire::Decode<wire::Echo>(Said(MessageType::kEcho)->body)->vector,
            EchoOf(Without(4)).vector);
  Until(1'500);
  EXPECT_NE(Said(MessageType::kStatus, 1), nullptr);
  EXPECT_EQ(Said(MessageType::kClose), nullptr) << "the gate is open without it";
}

// Others begin their slow path soon after the gate, and rely on having every honest ECHO by then.
TEST_F(SealTest, AMemberThatOpensTheSealAfterTheGateEchoesNothing) {
  const std::uint32_t k = IterationLedBy(false);
  for (std::uint32_t i = 1; i <= 3; ++i) HearClose(i);
  Open();
  Echo();
  EXPECT_TRUE(seal_->wait_ended());
  EXPECT_EQ(Said(MessageType::kEcho), nullptr);
  Until(1'500);
  const auto status = wire::Decode<wire::SealStatus>(Said(MessageType::kStatus, 1)->body).value();
  EXPECT_EQ(status.rank, 0u);
  EXPECT_TRUE(status.value.is_zero());
  for (std::uint32_t i = 1; i < kMembers; ++i) HearEcho(i, Without(i));
  for (std::uint32_t i = 1; i < kMembers; ++i) {
    HearStatus(i, k + 1, 0, EchoOf(Without(i)).vector);
  }
}

// Nobody can ask for what this member holds: it sent no ECHO that shows it.
TEST_F(SealTest, AMemberThatEchoedNothingLetsAMergeLeaveOutWhatItHolds) {
  const std::uint32_t k = IterationLedBy(false);
  held_[4].insert(scene::DigestOf(999));  // the second message of a two-faced member
  EnterWithoutEcho(k);
  Until(StepEnd(k, 1) + 100);
  HearMerge(k, All());
  Until(StepEnd(k, 2));
  EXPECT_NE(Said(MessageType::kVote, k), nullptr) << seal_->Describe(now_);
}

TEST_F(SealTest, AMemberThatEchoedNothingVotesForNoMessageThatItLacks) {
  const std::uint32_t k = IterationLedBy(false);
  held_.erase(4);
  EnterWithoutEcho(k);
  Until(StepEnd(k, 1) + 100);
  HearMerge(k, All());
  Until(StepEnd(k, 2));
  EXPECT_EQ(Said(MessageType::kVote, k), nullptr);
}

TEST_F(SealTest, AVoteThatWouldComeTooLateIsNotSent) {
  const std::uint32_t k = IterationLedBy(false);
  SplitAndEnter(k);
  Until(StepEnd(k, 1) + 100);
  HearMerge(k, All());
  now_ = base::Time{(StepEnd(k, 2) + 501) * 1'000'000};  // a process that was suspended
  Take([&](SealOutput& out) { seal_->OnTimer(now_, out); });
  EXPECT_EQ(Said(MessageType::kVote, k), nullptr);
  for (std::uint32_t i = 1; i <= 3; ++i) HearVote(i, k, EchoOf(All()).vector);
  Until(StepEnd(k, 3));
  EXPECT_NE(Said(MessageType::kLock, k), nullptr) << "the schedule stays";
}

TEST_F(SealTest, AMemberThatIsInAnIterationIsAskedForTheGate) {
  Open();
  HearClose(1);
  HearStatus(2, 1, 0, DigestOf(1));
  Until(1);
  ASSERT_FALSE(asks_.empty());
  EXPECT_EQ(asks_.back().to, PeerNumber(2));
  EXPECT_EQ(asks_.back().pull.type, MessageType::kClose);
  EXPECT_EQ(asks_.back().pull.members, wire::BitmapOf({PeerNumber(2), PeerNumber(3), PeerNumber(4)},
                                                      scene::PeersUpTo(kMembers)));
}

TEST_F(SealTest, MoreMembersThanCanBeFaultyAreFollowedIntoTheirIteration) {
  Echo();
  HearStatus(1, 7, 0, DigestOf(1));
  HearStatus(2, 9, 0, DigestOf(1));
  EXPECT_EQ(seal_->iteration(), 0u);  // both may be faulty
  HearStatus(3, 8, 0, DigestOf(1));
  EXPECT_EQ(seal_->iteration(), 7u);
}

TEST_F(SealTest, ALeaderMergesWhatItHoldsAndSendsTheVector) {
  const std::uint32_t k = IterationLedBy(true);
  SplitAndEnter(k);
  Until(StepEnd(k, 1));
  const wire::Propose propose = ProposalOfMine();
  EXPECT_EQ(propose.rank, 0u);
  EXPECT_EQ(propose.value, EchoOf(All()).vector);
  EXPECT_EQ(answers_.size(), kMembers - 1);
  Until(StepEnd(k, 2));
  EXPECT_NE(Said(MessageType::kVote, k), nullptr);
  EXPECT_EQ(forwards_.size(), 1u);
}

TEST_F(SealTest, ALeaderProposesTheHighestLockThatIsCertified) {
  const std::uint32_t k = IterationLedBy(true);
  SplitAndEnter(k);
  HearStatus(1, k, k + 1, DigestOf(66));  // of this iteration: nonsense
  for (std::uint32_t i = 2; i < kMembers; ++i) HearEcho(i, Without(1));  // late: Q with that of 1
  Until(StepEnd(k, 1));
  // A rival ECHO is kept only for a value on which a lock may rest: no member claims this one.
  EXPECT_EQ(ProposalOfMine().rank, 0u);
}

TEST_F(SealTest, ARivalEchoCountsForALockThatAMemberClaims) {
  const std::uint32_t k = IterationLedBy(true);
  Echo();
  for (std::uint32_t i = 1; i < kMembers; ++i) HearEcho(i, Without(i));
  for (std::uint32_t i = 1; i < kMembers; ++i) {
    HearStatus(i, k, i == 1 ? 1 : 0, EchoOf(Without(i)).vector);
  }
  // Its certificate is asked for at once, of the member that claims it.
  const auto asked = std::find_if(asks_.begin(), asks_.end(), [](const SealAsk& ask) {
    return ask.to == PeerNumber(1) && ask.pull.kind == PullKind::kMessages &&
           ask.pull.type == MessageType::kEcho;
  });
  EXPECT_NE(asked, asks_.end());
  HearEcho(2, Without(1));
  HearEcho(3, Without(1));
  Until(StepEnd(k, 1));
  EXPECT_EQ(ProposalOfMine().rank, 1u);
  EXPECT_EQ(ProposalOfMine().value, EchoOf(Without(1)).vector);
}

TEST_F(SealTest, AMergeThatLeavesOutAMessageOfTheOwnEchoGetsNoVote) {
  const std::uint32_t k = IterationLedBy(false);
  SplitAndEnter(k);
  Until(StepEnd(k, 1) + 100);
  HearMerge(k, Without(2));
  Until(StepEnd(k, 2));
  EXPECT_EQ(Said(MessageType::kVote, k), nullptr);
  EXPECT_NE(seal_->Describe(now_).find("it leaves out a message that I echoed"), std::string::npos);
}

TEST_F(SealTest, AGoodMergeGetsAVoteALockAndADecision) {
  const std::uint32_t k = IterationLedBy(false);
  SplitAndEnter(k);
  const Digest value = EchoOf(All()).vector;
  Until(StepEnd(k, 1) + 100);
  HearMerge(k, All());
  Until(StepEnd(k, 2));
  ASSERT_NE(Said(MessageType::kVote, k), nullptr);
  HearVote(1, k, value);
  HearVote(2, k, value);
  Until(StepEnd(k, 3) - 1);
  EXPECT_EQ(Said(MessageType::kLock, k), nullptr);  // only at the boundary
  Until(StepEnd(k, 3));
  ASSERT_NE(Said(MessageType::kLock, k), nullptr);
  HearLock(1, k, value);
  EXPECT_EQ(seal_->decision(), std::nullopt);
  forwards_.clear();
  HearLock(2, k, value);
  EXPECT_EQ(seal_->decision(), All());
  EXPECT_EQ(forwards_.size(), 3u);
  EXPECT_EQ(seal_->Certificate().size(), 3u);
}

TEST_F(SealTest, ASecondProposalOfTheLeaderVoidsItsIteration) {
  const std::uint32_t k = IterationLedBy(false);
  SplitAndEnter(k);
  const Digest value = EchoOf(All()).vector;
  Until(StepEnd(k, 1) + 100);
  HearMerge(k, All());
  Until(StepEnd(k, 2));
  HearVote(1, k, value);
  HearVote(2, k, value);
  Hear(MergeBy(Leader(k), k, Without(2)));
  Until(StepEnd(k, 3));
  EXPECT_EQ(Said(MessageType::kLock, k), nullptr);
  // The votes are a certificate all the same: the next iteration begins with it.
  Until(StepEnd(k, 4));
  const auto status =
      wire::Decode<wire::SealStatus>(Said(MessageType::kStatus, k + 1)->body).value();
  EXPECT_EQ(status.rank, k + 1);
  EXPECT_EQ(status.value, value);
}

TEST_F(SealTest, ALockRefusesLowerRanks) {
  const std::uint32_t k = IterationLedBy(false);
  Echo();
  HearEcho(1, All());
  HearEcho(2, All());
  for (std::uint32_t i = 1; i < kMembers; ++i) HearStatus(i, k, 0, EchoOf(Without(i)).vector);
  Until(StepEnd(k, 1) + 100);
  HearMerge(k, All());
  Until(StepEnd(k, 2));
  EXPECT_EQ(Said(MessageType::kVote, k), nullptr);
  EXPECT_NE(seal_->Describe(now_).find("it passes over my lock"), std::string::npos);
}

TEST_F(SealTest, ACertificateThatComesLateCountsWhenTheNextIterationBegins) {
  const std::uint32_t k = IterationLedBy(false);
  SplitAndEnter(k);
  Until(StepEnd(k, 1) + 100);
  HearMerge(k, All());
  HearEcho(1, All());  // rivals for what I echoed: now Q of them
  HearEcho(2, All());
  Until(StepEnd(k, 2));
  EXPECT_NE(Said(MessageType::kVote, k), nullptr);  // rank 0, as my STATUS said
}

TEST_F(SealTest, ATwoFacedStatusIsShownToAll) {
  SplitAndEnter(1);
  HearStatus(2, 1, 0, DigestOf(77));
  EXPECT_EQ(forwards_.size(), 2u);
  HearStatus(2, 1, 0, DigestOf(78));
  EXPECT_EQ(forwards_.size(), 2u);
}

TEST_F(SealTest, LocksOfAnyIterationDecideForAMemberThatWasCutOff) {
  Echo();
  for (std::uint32_t i = 1; i <= 3; ++i) HearLock(i, 900, EchoOf(All()).vector);
  EXPECT_EQ(seal_->decision(), All());
}

// Another process with this key sends a message in a later iteration. That once started the clock
// again, which stood still at the end of its rest and woke the Seal without end.
TEST_F(SealTest, MessagesOfADecisionThatAreNotHereAreAskedForAndTimeGoesOn) {
  held_.erase(2);
  Echo();
  for (std::uint32_t i = 1; i <= 3; ++i) HearLock(i, 1, EchoOf(All()).vector);
  HearStatus(0, 1, 0, EchoOf(All()).vector);
  ASSERT_FALSE(seal_->Certificate().empty());
  ASSERT_EQ(seal_->decision(), std::nullopt);
  EXPECT_FALSE(seal_->alone());
  Wake(20);
  EXPECT_GT(now_, base::Time{} + base::Seconds(10));
  EXPECT_TRUE(seal_->alone());
  Take([&](SealOutput& out) { seal_->OnVector(now_, WireOf(All()), out); });
  held_[2] = {DigestOf(102)};
  Take([&](SealOutput& out) { seal_->OnHeld(now_, out); });
  EXPECT_EQ(seal_->decision(), All());
}

TEST_F(SealTest, TimeGoesOnForAMemberThatEchoesAfterTheDecision) {
  held_.erase(2);
  for (std::uint32_t i = 1; i <= 3; ++i) HearLock(i, 1, EchoOf(All()).vector);
  ASSERT_FALSE(seal_->Certificate().empty());
  Echo();
  Wake(20);
  EXPECT_GT(now_, base::Time{} + base::Seconds(10));
}

TEST_F(SealTest, AMutedSealSendsNothingAsksAndDecides) {
  Start({0});
  Echo();
  EXPECT_TRUE(seal_->wait_ended());
  Until(10'000);
  EXPECT_TRUE(said_.empty());
  std::set<MessageType> asked;
  for (const SealAsk& ask : asks_) asked.insert(ask.pull.type);
  EXPECT_EQ(asked, (std::set<MessageType>{MessageType::kEcho, MessageType::kLock}));
  for (std::uint32_t i = 1; i <= 3; ++i) HearLock(i, 2, EchoOf(Without(1)).vector);
  EXPECT_EQ(seal_->decision(), std::nullopt);
  Take([&](SealOutput& out) { seal_->OnVector(now_, WireOf(Without(1)), out); });
  EXPECT_EQ(seal_->decision(), Without(1));
  EXPECT_TRUE(said_.empty());
}

}  // namespace
}  // namespace ostraka::protocol::seal_slow_test
