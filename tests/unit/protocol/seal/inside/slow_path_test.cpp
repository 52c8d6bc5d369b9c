#include "node/protocol/seal/inside/slow_path.h"

#include <gtest/gtest.h>

#include "crypto/set_root.h"
#include "node/wire/bitmap.h"
#include "tests/unit/protocol/seal/inside/parts_fixture.h"

namespace ostraka::protocol::slow_path_test {
namespace {

using parts::AllFive;
using parts::FiveMembers;
using parts::HeldMessages;
using parts::Message;
using parts::ValueOf;
using parts::Without;
using scene::DigestOf;
using scene::PeerNumber;
using wire::MessageType;

class SealSlowPathTest : public testing::Test {
 protected:
  std::uint32_t LeaderOf(std::uint32_t k) const {
    return static_cast<std::uint32_t>(setup_.IndexOf(setup_.LeaderOf(k)));
  }
  SealSlowPath::StatusTaken Status(std::uint32_t member, std::uint32_t k, std::uint32_t rank,
                                   const Digest& value, std::uint32_t current) {
    return slow_path_.OnStatus(
        Message(member, MessageType::kStatus, k, wire::Encode(wire::SealStatus{rank, value})),
        current);
  }
  void Vote(std::uint32_t member, std::uint32_t k, const Digest& value, std::uint32_t current) {
    slow_path_.OnVote(
        Message(member, MessageType::kVote, k, wire::Encode(wire::SealVote{value, 0})), current);
  }
  // Members 1 to 3 say that they echoed different values: nothing is forced.
  void DifferentStatuses(std::uint32_t k) {
    for (std::uint32_t i = 1; i <= 3; ++i) Status(i, k, 0, ValueOf(Without(i)), k);
  }
  const wire::Propose* Propose(std::uint32_t sender, std::uint32_t k, const wire::Propose& propose,
                               std::uint32_t current) {
    return slow_path_.OnPropose(Message(sender, MessageType::kPropose, k, wire::Encode(propose)),
                                current);
  }
  // A merge over those STATUSes.
  wire::Propose MergeOf(std::uint32_t k, const SealVector& merged) {
    std::vector<PeerId> chosen = {PeerNumber(1), PeerNumber(2), PeerNumber(3)};
    wire::Propose propose;
    propose.value = ValueOf(merged);
    propose.statuses = wire::BitmapOf(chosen, setup_.members());
    propose.statuses_root = StatusesRoot(slow_path_.rounds().StatusesOf(k), chosen);
    values_.Add(propose.value, merged);
    return propose;
  }

  const SealSetup setup_{FiveMembers()};
  HeldMessages messages_{5};
  SealValues values_{5, &messages_};
  SealSlowPath slow_path_{setup_};
};

TEST_F(SealSlowPathTest, StatusIsTheLockOrTheValueThatWasEchoed) {
  wire::SealStatus status = slow_path_.BeginIteration(1, DigestOf(5));
  EXPECT_EQ(status.rank, 0u);
  EXPECT_EQ(status.value, DigestOf(5));
  for (std::uint32_t i = 1; i <= 3; ++i) {
    slow_path_.AddEcho(PeerNumber(i), DigestOf(6), parts::FrameOf(1));
  }
  EXPECT_EQ(slow_path_.certificates().lock().rank, 0u) << "it changes when an iteration begins";
  status = slow_path_.BeginIteration(2, DigestOf(5));
  EXPECT_EQ(status.rank, 1u);
  EXPECT_EQ(status.value, DigestOf(6));
}

TEST_F(SealSlowPathTest, AStatusIsTakenInTheWindowAndItsClaimInThePresentIteration) {
  EXPECT_FALSE(Status(1, 9, 1, DigestOf(5), 2).claims_lock);
  EXPECT_EQ(slow_path_.rounds().StatusesOf(9).FirstOf(PeerNumber(1)), nullptr);
  EXPECT_FALSE(Status(1, 3, 1, DigestOf(5), 2).claims_lock) << "of the next iteration";
  EXPECT_FALSE(Status(1, 2, 3, DigestOf(5), 2).claims_lock) << "a rank that cannot be";
  EXPECT_TRUE(Status(2, 2, 2, DigestOf(5), 2).claims_lock);
  EXPECT_TRUE(slow_path_.certificates().IsNeeded(1, DigestOf(5)));
  slow_path_.BeginIteration(3, {});
  EXPECT_TRUE(slow_path_.certificates().IsNeeded(1, DigestOf(5))) << "it may be claimed again";
  slow_path_.BeginIteration(4, {});
  EXPECT_FALSE(slow_path_.certificates().IsNeeded(1, DigestOf(5)));
  EXPECT_TRUE(slow_path_.certificates().IsNeeded(0, DigestOf(5))) << "member 1 claims rank 1 here";
}

TEST_F(SealSlowPathTest, BothStatusesOfATwoFacedMemberAreToBeShown) {
  EXPECT_TRUE(Status(1, 1, 0, DigestOf(5), 1).rivals.empty());
  EXPECT_EQ(Status(1, 1, 0, DigestOf(6), 1).rivals.size(), 2u);
  EXPECT_TRUE(Status(1, 1, 0, DigestOf(7), 1).rivals.empty());
}

TEST_F(SealSlowPathTest, AProposalIsTakenOfItsLeaderAlone) {
  wire::Propose propose;
  propose.value = DigestOf(5);
  EXPECT_EQ(Propose((LeaderOf(2) + 1) % 5, 2, propose, 2), nullptr);
  EXPECT_EQ(Propose(LeaderOf(3), 3, propose, 2), nullptr) << "kept, and not of this iteration";
  EXPECT_EQ(slow_path_.rounds().ProposalsOf(3).size(), 1u);
  ASSERT_NE(Propose(LeaderOf(2), 2, propose, 2), nullptr);
  EXPECT_EQ(Propose(LeaderOf(2), 2, propose, 2), nullptr) << "once more";
}

TEST_F(SealSlowPathTest, VotesOfOtherIterationsAreTakenIfALockMayRestOnThem) {
  Vote(1, 1, DigestOf(5), 9);
  EXPECT_TRUE(slow_path_.certificates().SignersOf({2, DigestOf(5)}).empty());
  const auto lock = Message(2, MessageType::kLock, 1, wire::Encode(wire::Lock{DigestOf(5)}));
  EXPECT_FALSE(slow_path_.OnLock(lock, 9)) << "kept, and not in the window";
  Vote(1, 1, DigestOf(5), 9);
  EXPECT_EQ(slow_path_.certificates().SignersOf({2, DigestOf(5)}).size(), 1u);
}

TEST_F(SealSlowPathTest, ALeaderProposesAMergeThenAForcedValueThenALock) {
  EXPECT_FALSE(slow_path_.Propose(1, values_)) << "too few STATUSes";
  DifferentStatuses(1);
  auto proposal = slow_path_.Propose(1, values_);
  ASSERT_TRUE(proposal && proposal->merged);
  EXPECT_EQ(*proposal->merged, AllFive());
  EXPECT_EQ(proposal->body.value, ValueOf(AllFive()));
  for (std::uint32_t i = 1; i <= 3; ++i) Status(i, 2, 0, DigestOf(6), 2);
  proposal = slow_path_.Propose(2, values_);
  ASSERT_TRUE(proposal);
  EXPECT_FALSE(proposal->merged);
  EXPECT_EQ(proposal->body.value, DigestOf(6));
  for (std::uint32_t i = 1; i <= 3; ++i) Vote(i, 2, DigestOf(7), 2);
  EXPECT_FALSE(slow_path_.Propose(2, values_)) << "votes of this iteration came before it";
  proposal = slow_path_.Propose(3, values_);
  ASSERT_TRUE(proposal);
  EXPECT_EQ(proposal->body.rank, 3u);
  EXPECT_EQ(proposal->body.value, DigestOf(7));
}

TEST_F(SealSlowPathTest, AVoteIsForTheOneValidProposal) {
  EXPECT_EQ(slow_path_.Vote(1, values_, AllFive()), nullptr);
  EXPECT_EQ(slow_path_.rounds().RefusalOf(1), "no proposal came");
  DifferentStatuses(1);
  Propose(LeaderOf(1), 1, MergeOf(1, AllFive()), 1);
  EXPECT_EQ(slow_path_.Vote(1, values_, std::nullopt), nullptr);
  EXPECT_EQ(slow_path_.rounds().RefusalOf(1), "I do not know any more what I echoed");
  const ProposeSeen* voted = slow_path_.Vote(1, values_, Without(2));
  ASSERT_NE(voted, nullptr);
  EXPECT_EQ(voted->body.value, ValueOf(AllFive()));
  EXPECT_EQ(slow_path_.rounds().RefusalOf(1), "");
  Propose(LeaderOf(1), 1, MergeOf(1, Without(4)), 1);
  EXPECT_EQ(slow_path_.Vote(1, values_, Without(2)), nullptr);
  EXPECT_EQ(slow_path_.rounds().RefusalOf(1), "its leader signed two proposals");
}

TEST_F(SealSlowPathTest, NoVotePassesOverTheOwnLock) {
  DifferentStatuses(1);
  Propose(LeaderOf(1), 1, MergeOf(1, AllFive()), 1);
  slow_path_.Recall(
      Message(0, MessageType::kStatus, 1, wire::Encode(wire::SealStatus{1, DigestOf(9)})), 1);
  EXPECT_EQ(slow_path_.Vote(1, values_, AllFive()), nullptr);
  EXPECT_EQ(slow_path_.rounds().RefusalOf(1), "it passes over my lock");
}

TEST_F(SealSlowPathTest, ALockTakesAQuorumOfVotesForTheOneProposal) {
  DifferentStatuses(1);
  const Digest value = ValueOf(AllFive());
  for (std::uint32_t i = 1; i <= 3; ++i) Vote(i, 1, value, 1);
  EXPECT_FALSE(slow_path_.LockIn(1)) << "the value was never proposed";
  Propose(LeaderOf(1), 1, MergeOf(1, AllFive()), 1);
  ASSERT_TRUE(slow_path_.LockIn(1));
  EXPECT_EQ(slow_path_.certificates().lock(), (SealLock{2, value}));
  Propose(LeaderOf(1), 1, MergeOf(1, Without(4)), 1);
  EXPECT_FALSE(slow_path_.LockIn(1)) << "others may have voted for the second proposal";
}

// VOTEs of iterations ahead may have come to a member that was cut off.
TEST_F(SealSlowPathTest, NoLockIsSentBelowTheOwnOne) {
  for (std::uint32_t i = 1; i <= 3; ++i) Vote(i, 3, DigestOf(8), 1);
  slow_path_.BeginIteration(1, {});
  ASSERT_EQ(slow_path_.certificates().lock(), (SealLock{4, DigestOf(8)}));
  DifferentStatuses(1);
  const wire::Propose merge = MergeOf(1, AllFive());
  Propose(LeaderOf(1), 1, merge, 1);
  for (std::uint32_t i = 1; i <= 3; ++i) Vote(i, 1, merge.value, 1);
  ASSERT_TRUE(slow_path_.certificates().IsCertified({2, merge.value}));
  EXPECT_FALSE(slow_path_.LockIn(1));
  EXPECT_EQ(slow_path_.certificates().lock(), (SealLock{4, DigestOf(8)}));
}

// Frames of the window before would stay without bound if own frames moved the window often.
TEST_F(SealSlowPathTest, WhatIsNotOfUseInALaterIterationGoesWithTheMove) {
  for (std::uint32_t k = 10; k < 60; k += 10) {
    slow_path_.MoveTo(k);
    for (std::uint32_t i = 1; i <= 4; ++i) {
      Status(i, k, k, DigestOf(k), k);
      Vote(i, k, DigestOf(i), k);
    }
  }
  slow_path_.CheckInvariants(50);
  EXPECT_EQ(slow_path_.Frames(MessageType::kStatus).size(), 4u);
  EXPECT_EQ(slow_path_.Frames(MessageType::kVote).size(), 4u);
}

TEST_F(SealSlowPathTest, TheHighestOwnFrameFromBeforeARestartBinds) {
  slow_path_.Recall(Message(0, MessageType::kLock, 2, wire::Encode(wire::Lock{DigestOf(7)})), 2);
  slow_path_.Recall(
      Message(0, MessageType::kStatus, 2, wire::Encode(wire::SealStatus{1, DigestOf(6)})), 2);
  slow_path_.Recall(Message(0, MessageType::kVote, 9, wire::Encode(wire::SealVote{DigestOf(5), 8})),
                    2);
  EXPECT_EQ(slow_path_.certificates().lock(), (SealLock{3, DigestOf(7)}));
  slow_path_.CheckInvariants(2);
}

TEST_F(SealSlowPathTest, BodiesThatDoNotDecodeAreNotTaken) {
  for (const MessageType type :
       {MessageType::kStatus, MessageType::kPropose, MessageType::kVote, MessageType::kLock}) {
    const auto garbage = Message(LeaderOf(1), type, 1, {0xff, 0x01});
    slow_path_.OnStatus(garbage, 1);
    slow_path_.OnPropose(garbage, 1);
    slow_path_.OnVote(garbage, 1);
    slow_path_.OnLock(garbage, 1);
    slow_path_.Recall(garbage, 1);
    EXPECT_TRUE(slow_path_.Frames(type).empty());
  }
  EXPECT_TRUE(slow_path_.Frames(MessageType::kBoot).empty());
}

}  // namespace
}  // namespace ostraka::protocol::slow_path_test
