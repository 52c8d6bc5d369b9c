// One Seal, message by message: each rule of docs/seal.md but those of the slow path, for which see
// seal_slow_test.cpp. For several Seals together see tests/property/protocol_seal_test.cpp.
#include "node/protocol/seal/seal.h"

#include <gtest/gtest.h>

#include <set>

#include "node/wire/bitmap.h"
#include "tests/unit/protocol/seal/seal_fixture.h"

namespace ostraka::protocol::seal_test {
namespace {

using scene::DigestOf;
using scene::PeerNumber;
using scene::PeersUpTo;
using wire::MessageType;
using wire::PullKind;

// --- fast path -----------------------------------------------------------------------------------

TEST_F(SealTest, EqualEchoesOfAllDecideWithoutATimer) {
  Echo();
  Echo();  // idempotent
  EXPECT_EQ(said_.size(), 1u);
  for (std::uint32_t i = 1; i < kMembers; ++i) {
    EXPECT_EQ(seal_->decision(), std::nullopt);
    EXPECT_TRUE(seal_->Certificate().empty());
    HearEcho(i, All());
  }
  EXPECT_EQ(seal_->decision(), All());
  EXPECT_EQ(seal_->Certificate().size(), kMembers);
  EXPECT_EQ(seal_->wake(), std::nullopt);
  EXPECT_FALSE(seal_->slow());
  EXPECT_TRUE(forwards_.empty());
}

TEST_F(SealTest, TheOwnEchoCountsOnlyOnceItIsDurable) {
  stores_ = false;
  Echo();
  for (std::uint32_t i = 1; i < kMembers; ++i) HearEcho(i, All());
  EXPECT_EQ(seal_->decision(), std::nullopt);
  HearEcho(0, All());
  EXPECT_EQ(seal_->decision(), All());
}

TEST_F(SealTest, MutedMembersAreNeitherWaitedForNorHeard) {
  Start({4});
  Echo();
  for (std::uint32_t i = 1; i < 3; ++i) HearEcho(i, All());
  HearEcho(4, All());
  EXPECT_EQ(seal_->decision(), std::nullopt);
  HearEcho(3, All());
  EXPECT_EQ(seal_->decision(), All());
}

// Fewer members than Q may all be faulty.
TEST_F(SealTest, FewerThanAQuorumDecideNothing) {
  Start({2, 3, 4});
  Echo();
  HearEcho(1, All());
  Until(60'000);
  EXPECT_EQ(seal_->decision(), std::nullopt);
}

TEST_F(SealTest, ADecisionWaitsForItsMessagesAndAsksItsSigners) {
  held_.erase(3);
  Echo();          // without 3
  held_.erase(2);  // and lost since
  for (std::uint32_t i = 1; i < kMembers; ++i) HearEcho(i, Without(3));
  EXPECT_EQ(seal_->decision(), std::nullopt);
  EXPECT_EQ(seal_->Certificate().size(), kMembers);
  ASSERT_FALSE(asks_.empty());
  EXPECT_EQ(asks_.back().pull.kind, PullKind::kDigests);
  EXPECT_EQ(asks_.back().pull.digests, std::vector<Digest>{DigestOf(102)});
  held_[2] = {DigestOf(102)};
  Take([&](SealOutput& out) { seal_->OnHeld(now_, out); });
  EXPECT_EQ(seal_->decision(), Without(3));
}

TEST_F(SealTest, LagsAreMeasuredFromTheOwnEcho) {
  HearEcho(1, All());
  Until(100);
  Echo();
  Until(350);
  HearEcho(2, All());
  EXPECT_EQ(seal_->lags().at(PeerNumber(1)).ns, 0);
  EXPECT_EQ(seal_->lags().at(PeerNumber(2)).ns, 250'000'000);
  EXPECT_FALSE(seal_->lags().contains(PeerNumber(3)));
}

// --- what is asked for ---------------------------------------------------------------------------

TEST_F(SealTest, AnEchoShowsMessagesThatAreAskedForAfterAQuarterOfDelta) {
  held_.erase(3);
  HearEcho(1, All());
  Until(249);
  EXPECT_TRUE(asks_.empty());
  Until(250);
  ASSERT_EQ(asks_.size(), 1u);
  EXPECT_EQ(asks_[0].to, PeerNumber(1));
  EXPECT_EQ(asks_[0].pull.kind, PullKind::kMessages);
  EXPECT_EQ(asks_[0].pull.type, MessageType::kReveal);
  EXPECT_EQ(asks_[0].pull.members, wire::BitmapOf({PeerNumber(3)}, PeersUpTo(kMembers)));
}

TEST_F(SealTest, EchoesThatDidNotComeAreAskedOfAllEveryHalfDelta) {
  Echo();
  HearEcho(1, All());
  for (const std::int64_t ms : {500, 1000, 1500}) {
    asks_.clear();
    Until(ms - 1);
    EXPECT_TRUE(asks_.empty()) << ms;
    Until(ms);
    EXPECT_EQ(asks_.size(), kMembers - 1) << ms;
    for (const SealAsk& ask : asks_) EXPECT_EQ(ask.pull.type, MessageType::kEcho);
  }
}

TEST_F(SealTest, AVectorThatNoMemberNamedIsNotKept) {
  Echo();
  Take([&](SealOutput& out) { seal_->OnVector(now_, WireOf(Without(1)), out); });
  EXPECT_EQ(seal_->VectorFor(EchoOf(Without(1)).vector), std::nullopt);
  HearEcho(1, Without(1));
  Take([&](SealOutput& out) { seal_->OnVector(now_, WireOf(Without(1)), out); });
  EXPECT_NE(seal_->VectorFor(EchoOf(Without(1)).vector), std::nullopt);
}

// --- restarts ------------------------------------------------------------------------------------

TEST_F(SealTest, AfterARestartNoSlotIsFilledAgainAndTheLockIsKept) {
  const Digest value = EchoOf(All()).vector;
  HearEcho(0, All());
  Hear(Frame(0, MessageType::kStatus, 2, wire::Encode(wire::SealStatus{0, value})));
  Hear(Frame(0, MessageType::kVote, 2, wire::Encode(wire::SealVote{DigestOf(5), 0})));
  Hear(Frame(0, MessageType::kLock, 2, wire::Encode(wire::Lock{DigestOf(5)})));
  Echo();
  EXPECT_TRUE(seal_->wait_ended());
  EXPECT_TRUE(said_.empty());
  EXPECT_NE(seal_->VectorFor(value), std::nullopt);  // rebuilt from what it holds
  Until(7'999);
  EXPECT_TRUE(said_.empty());
  Until(8'000);  // four steps of iteration 2
  const auto status = wire::Decode<wire::SealStatus>(Said(MessageType::kStatus, 3)->body).value();
  EXPECT_EQ(status.rank, 3u);
  EXPECT_EQ(status.value, DigestOf(5));
}

TEST_F(SealTest, AfterARestartWithOtherMessagesNoMergeGetsAVote) {
  const std::uint32_t k = IterationLedBy(false);
  HearEcho(0, Without(1));  // what it echoed before the restart
  EXPECT_EQ(seal_->VectorFor(EchoOf(Without(1)).vector), std::nullopt);
  for (std::uint32_t i = 1; i < kMembers; ++i) HearStatus(i, k, 0, EchoOf(Without(i)).vector);
  Until(StepEnd(k, 1) + 100);
  HearMerge(k, All());
  Until(StepEnd(k, 2));
  EXPECT_EQ(Said(MessageType::kVote, k), nullptr);
  EXPECT_NE(seal_->Describe(now_).find("I do not know any more what I echoed"), std::string::npos);
}

// Two processes with one key, and the other is ahead. (This one once aborted on that.)
TEST_F(SealTest, AnIterationWithMessagesOfAnotherProcessWithThisKeyIsOver) {
  Hear(Frame(0, MessageType::kStatus, 2, wire::Encode(wire::SealStatus{0, EchoOf(All()).vector})));
  Echo();
  EXPECT_EQ(Said(MessageType::kEcho, 0), nullptr) << "too late for it";
  Until(7'999);
  EXPECT_EQ(Said(MessageType::kStatus, 1), nullptr);
  EXPECT_EQ(Said(MessageType::kStatus, 3), nullptr);
  Until(8'000);  // four steps of iteration 2
  EXPECT_NE(Said(MessageType::kStatus, 3), nullptr);
}

// --- for people ----------------------------------------------------------------------------------

TEST_F(SealTest, DescribeNamesMembersWithAnotherEchoOrNone) {
  EXPECT_EQ(seal_->Describe(now_), "waits for the messages of the phase");
  Echo();
  HearEcho(1, All());
  HearEcho(2, Without(4));
  HearEcho(4, All());
  Until(300);
  EXPECT_EQ(seal_->Describe(now_), "no echo of " + PeerNumber(3).Short() + "; " +
                                       PeerNumber(2).Short() +
                                       " echoed another vector: it lacks a message of " +
                                       PeerNumber(4).Short() + "; own echo 0.3 s ago");
}

}  // namespace
}  // namespace ostraka::protocol::seal_test
