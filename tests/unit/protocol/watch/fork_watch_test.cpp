#include "node/protocol/watch/fork_watch.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::fork_watch_test {
namespace {

using scene::DigestOf;
using scene::KeyNumber;
using wire::MessageType;
using wire::Phase;

constexpr std::uint32_t kMembers = 5;  // of whom one sleeps
constexpr std::uint64_t kStep = 7;

class ForkWatchTest : public ::testing::Test {
 protected:
  ForkWatchTest() { Decide(kStep); }

  void Decide(std::uint64_t step) {
    Decision decision{DigestOf(1), DigestOf(10), {}, 3, {}};
    for (std::uint32_t i = 0; i + 1 < kMembers; ++i) decision.unmuted.insert(KeyNumber(i)->id());
    for (std::uint32_t i = 0; i < 3; ++i) {
      decision.certificate.push_back(Lock(i, 10, 1, 1, step).frame);
    }
    watch_.Remember({step, Phase::kC, 0}, decision);
    watch_.Remember({step, Phase::kA, 0}, decision);
  }

  static wire::SignedEnvelope Sign(std::uint32_t member, MessageType type, std::uint32_t iteration,
                                   std::uint64_t entry, base::Bytes body, std::uint64_t step) {
    const wire::Slot slot{DigestOf(99), 0, step, Phase::kC, type, 0, iteration};
    return wire::Seal({slot, DigestOf(entry), KeyNumber(member)->id(), std::move(body)},
                      *KeyNumber(member));
  }
  static wire::SignedEnvelope Lock(std::uint32_t member, std::uint64_t value,
                                   std::uint32_t iteration = 1, std::uint64_t entry = 1,
                                   std::uint64_t step = kStep) {
    return Sign(member, MessageType::kLock, iteration, entry,
                wire::Encode(wire::Lock{DigestOf(value)}), step);
  }
  static wire::SignedEnvelope Echo(std::uint32_t member, std::uint64_t value) {
    wire::Echo echo;
    echo.vector = DigestOf(value);
    return Sign(member, MessageType::kEcho, 0, 1, wire::Encode(echo), kStep);
  }
  std::optional<Fork> Hear(const wire::SignedEnvelope& message) {
    EXPECT_TRUE(watch_.IsRival(message));
    return watch_.Note(message);
  }

  ForkWatch watch_;
};

TEST_F(ForkWatchTest, AQuorumOfLocksInOneIterationIsAnotherDecision) {
  EXPECT_FALSE(Hear(Lock(0, 20)));
  EXPECT_FALSE(Hear(Lock(1, 20)));
  EXPECT_FALSE(Hear(Lock(1, 20))) << "once more";
  EXPECT_FALSE(Hear(Lock(2, 20, 2))) << "of another iteration";
  EXPECT_FALSE(Hear(Lock(2, 21))) << "for a third value";
  const auto fork = Hear(Lock(3, 20));
  ASSERT_TRUE(fork);
  EXPECT_EQ(fork->seal, (SealKey{kStep, Phase::kC, 0}));
  EXPECT_EQ(fork->ours.size(), 3u);
  EXPECT_EQ(fork->theirs.size(), 3u);
}

// Fewer equal ECHOs than all are no decision, and colluders can add theirs to honest ones.
TEST_F(ForkWatchTest, EchoesAreOneOnlyIfAllThatWereAwakeSentThem) {
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_FALSE(Hear(Echo(i, 20))) << i;
  EXPECT_TRUE(Hear(Echo(3, 20)));
}

TEST_F(ForkWatchTest, WhatCanProveNothingIsNoRival) {
  EXPECT_FALSE(watch_.IsRival(Lock(0, 10))) << "the value that was decided";
  EXPECT_FALSE(watch_.IsRival(Lock(0, 20, 1, 2))) << "another entry";
  EXPECT_FALSE(watch_.IsRival(Lock(4, 20))) << "a member that slept";
  EXPECT_FALSE(watch_.IsRival(Lock(9, 20))) << "no member";
  EXPECT_FALSE(watch_.IsRival(Lock(0, 20, 1, 1, kStep + 1))) << "not decided here";
  EXPECT_FALSE(watch_.IsRival(Sign(0, MessageType::kLock, 1, 1, {1, 2}, kStep))) << "junk";
  EXPECT_FALSE(watch_.IsRival(Sign(0, MessageType::kVote, 1, 1, {1}, kStep)));
}

TEST_F(ForkWatchTest, OneMembersManyKeepNobodyElsesOut) {
  for (std::uint64_t i = 0; i < 500; ++i) EXPECT_FALSE(Hear(Lock(0, 100 + i)));
  EXPECT_LE(watch_.rival_count(), 8u);
  watch_.CheckInvariants();
  EXPECT_FALSE(Hear(Lock(1, 20)));
  EXPECT_FALSE(Hear(Lock(2, 20)));
  EXPECT_TRUE(Hear(Lock(3, 20)));
}

// Nor its own: a proof may need the LOCK of a colluder that would rather not have it counted.
TEST_F(ForkWatchTest, NobodysManyKeepOutItsOwnThatCounts) {
  for (std::uint64_t i = 0; i < 500; ++i) EXPECT_FALSE(Hear(Lock(0, 100 + i)));
  EXPECT_FALSE(Hear(Lock(1, 20)));
  EXPECT_FALSE(Hear(Lock(0, 20)));
  EXPECT_LE(watch_.rival_count(), 9u);
  watch_.CheckInvariants();
  EXPECT_TRUE(Hear(Lock(2, 20)));
}

// What was said in a slow seal stays, to name who spoke for both; the other side's LOCKs that came
// before the decision count for its proof.
TEST_F(ForkWatchTest, WordsOfASealComeWithItsFork) {
  Decision decision{DigestOf(1), DigestOf(10), {}, 3, {}};
  for (std::uint32_t i = 0; i + 1 < kMembers; ++i) decision.unmuted.insert(KeyNumber(i)->id());
  const auto vote =
      Sign(0, MessageType::kVote, 2, 1, wire::Encode(wire::SealVote{DigestOf(10), 0}), kStep + 1);
  decision.messages.Add(vote);
  decision.messages.Add(Lock(0, 20, 1, 1, kStep + 1));
  decision.messages.Add(Lock(1, 20, 1, 1, kStep + 1));
  watch_.Remember({kStep + 1, Phase::kC, 0}, decision);
  EXPECT_EQ(watch_.message_bytes(), decision.messages.bytes());
  EXPECT_EQ(watch_.ProofsOf(kStep + 1).size(), 3u) << "whoever asks may need them";
  const auto fork = Hear(Lock(2, 20, 1, 1, kStep + 1));
  ASSERT_TRUE(fork);
  EXPECT_EQ(fork->parent, DigestOf(1));
  EXPECT_EQ(fork->unmuted, decision.unmuted);
  EXPECT_EQ(fork->theirs.size(), 3u);
  EXPECT_EQ(std::count(fork->others.begin(), fork->others.end(), vote.frame), 1);
}

TEST_F(ForkWatchTest, WordsAreForgottenWithTheirStep) {
  Decision decision{DigestOf(1), DigestOf(10), {KeyNumber(0)->id()}, 3, {}};
  decision.messages.Add(Lock(0, 10));
  watch_.Remember({kStep, Phase::kA, 0}, decision);
  EXPECT_GT(watch_.message_bytes(), 0u);
  Decide(kStep + kWatchedSteps);
  EXPECT_EQ(watch_.message_bytes(), 0u);
}

// The oldest first; the proofs stay.
TEST_F(ForkWatchTest, WordsAreBoundedOverAllSeals) {
  Decision decision{DigestOf(1), DigestOf(10), {}, 3, {Lock(0, 10).frame}};
  for (std::uint32_t i = 0; decision.messages.bytes() < kMessageBytes / 3; ++i) {
    decision.messages.Add(Sign(i, MessageType::kPropose, 1, 1, base::Bytes(2000), kStep));
  }
  for (std::uint64_t step = kStep; step < kStep + 5; ++step) {
    watch_.Remember({step, Phase::kA, 0}, decision);
  }
  EXPECT_LE(watch_.message_bytes(), kMessageBytes);
  EXPECT_EQ(watch_.ProofsOf(kStep + 1).size(), 1u) << "the proof alone";
  EXPECT_GT(watch_.ProofsOf(kStep + 4).size(), 1u);
}

TEST_F(ForkWatchTest, AsksWithinItsWindowAndNotAllTheTime) {
  const base::PeerId member = KeyNumber(1)->id();
  EXPECT_FALSE(watch_.MayAsk(member, kStep + 1));
  EXPECT_TRUE(watch_.MayAsk(member, kStep));
  EXPECT_FALSE(watch_.MayAsk(member, kStep));
  EXPECT_TRUE(watch_.MayAsk(KeyNumber(2)->id(), kStep));
  Decide(kStep + kAskAgainAfter);
  EXPECT_TRUE(watch_.MayAsk(member, kStep)) << "the answer may have been lost";
  EXPECT_EQ(watch_.ProofsOf(kStep).size(), 6u) << "of both seals";
  Decide(kStep + kWatchedSteps);
  EXPECT_FALSE(watch_.MayAsk(member, kStep)) << "forgotten";
  EXPECT_TRUE(watch_.ProofsOf(kStep).empty());
}

}  // namespace
}  // namespace ostraka::protocol::fork_watch_test
