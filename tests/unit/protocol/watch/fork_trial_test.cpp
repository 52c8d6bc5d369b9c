// The split of a real run, by hand: eight members, of whom three collude and five make a quorum.
// Two honest ones (kAhead) are an iteration ahead of the three others (kBehind). The colluders
// speak in both: LOCK(1, w) with those behind, VOTE(2, v) and LOCK(2, v) with those ahead.
#include "node/protocol/watch/fork_trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proofs/evidence/evidence.h"
#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::fork_trial_test {
namespace {

using base::Bytes;
using base::SharedBytes;
using scene::DigestOf;
using scene::KeyNumber;
using ::testing::HasSubstr;
using wire::MessageType;
using wire::SignedEnvelope;

constexpr std::uint32_t kMembers = 8;
constexpr std::uint32_t kQuorum = 5;
constexpr std::uint32_t kAhead[] = {0, 1};
constexpr std::uint32_t kBehind[] = {2, 3, 4};
constexpr std::uint32_t kColluders[] = {5, 6, 7};
constexpr std::uint64_t kV = 10;
constexpr std::uint64_t kW = 20;

SignedEnvelope Say(std::uint32_t member, MessageType type, std::uint32_t iteration, Bytes body,
                   std::uint64_t entry = 1) {
  const wire::Slot slot{DigestOf(99), 0, 7, wire::Phase::kA, type, 0, iteration};
  return wire::Seal({slot, DigestOf(entry), KeyNumber(member)->id(), std::move(body)},
                    *KeyNumber(member));
}
SignedEnvelope Lock(std::uint32_t member, std::uint32_t iteration, std::uint64_t value) {
  return Say(member, MessageType::kLock, iteration, wire::Encode(wire::Lock{DigestOf(value)}));
}
SignedEnvelope Vote(std::uint32_t member, std::uint32_t iteration, std::uint64_t value,
                    std::uint32_t rank) {
  return Say(member, MessageType::kVote, iteration,
             wire::Encode(wire::SealVote{DigestOf(value), rank}));
}
SignedEnvelope Status(std::uint32_t member, std::uint32_t iteration, std::uint64_t value,
                      std::uint32_t rank) {
  return Say(member, MessageType::kStatus, iteration,
             wire::Encode(wire::SealStatus{.rank = rank, .value = DigestOf(value)}));
}
SignedEnvelope Echo(std::uint32_t member, std::uint64_t value) {
  wire::Echo echo;
  echo.vector = DigestOf(value);
  return Say(member, MessageType::kEcho, 0, wire::Encode(echo));
}

template <typename A, typename B>
std::vector<std::uint32_t> Both(const A& a, const B& b) {
  std::vector<std::uint32_t> all(std::begin(a), std::end(a));
  all.insert(all.end(), std::begin(b), std::end(b));
  return all;
}

class ForkTrialTest : public ::testing::Test {
 protected:
  // What proves each decision.
  static std::vector<SharedBytes> OfThoseAhead() {
    std::vector<SharedBytes> locks;
    for (const std::uint32_t i : Both(kAhead, kColluders)) locks.push_back(Lock(i, 2, kV).frame);
    return locks;
  }
  static std::vector<SharedBytes> OfThoseBehind() {
    std::vector<SharedBytes> locks;
    for (const std::uint32_t i : kBehind) locks.push_back(Lock(i, 1, kW).frame);
    for (std::uint32_t i = 0; locks.size() < kQuorum; ++i) {
      locks.push_back(Lock(kColluders[i], 1, kW).frame);
    }
    return locks;
  }
  // The votes with which those ahead locked v: without a lock, as nobody had shown them w's.
  static std::vector<SignedEnvelope> VotesAhead() {
    std::vector<SignedEnvelope> votes;
    for (const std::uint32_t i : Both(kAhead, kColluders)) votes.push_back(Vote(i, 2, kV, 0));
    return votes;
  }
  static Fork ForkOf(std::vector<SharedBytes> ours, std::vector<SharedBytes> theirs,
                     const std::vector<SignedEnvelope>& others = {}) {
    Fork fork{{7, wire::Phase::kA, 0}, DigestOf(1), {}, std::move(ours), std::move(theirs), {}};
    for (std::uint32_t i = 0; i < kMembers; ++i) fork.unmuted.insert(KeyNumber(i)->id());
    for (const SignedEnvelope& message : others) fork.others.push_back(message.frame);
    return fork;
  }
  static base::PeerId IdOf(std::uint32_t member) { return KeyNumber(member)->id(); }

  static void ExpectAccused(const ForkTrial& trial, const std::vector<std::uint32_t>& members) {
    std::set<base::PeerId> expected;
    for (const std::uint32_t i : members) expected.insert(IdOf(i));
    std::set<base::PeerId> accused;
    for (const auto& [peer, culprit] : trial.culprits()) {
      accused.insert(peer);
      const evidence::Finding finding = evidence::Verify(culprit.file);
      EXPECT_EQ(finding.outcome, evidence::Outcome::kProven) << finding.reason;
      EXPECT_EQ(finding.accused, peer);
      EXPECT_EQ(culprit.reason, finding.reason);
    }
    EXPECT_EQ(accused, expected);
  }
};

// Only two of the three colluders' locks are needed for w: they are in both certificates.
constexpr std::uint32_t kInBoth[] = {5, 6};

TEST_F(ForkTrialTest, ThoseAheadNameWhoVotedAgainstItsOwnEarlierLock) {
  const ForkTrial trial(ForkOf(OfThoseAhead(), OfThoseBehind(), VotesAhead()), IdOf(0));
  ExpectAccused(trial, {5, 6});
  EXPECT_THAT(trial.Line(), HasSubstr("seal a of step 7 was decided twice"));
  for (const std::uint32_t i : kInBoth) {
    EXPECT_THAT(trial.Line(),
                HasSubstr(IdOf(i).Short() + " (voted against an earlier lock of its own)"));
  }
}

// Those behind hold no vote of iteration 2: each comes from the other side, after the fork is
// found.
TEST_F(ForkTrialTest, ThoseBehindNameThemOnceTheVotesHaveCome) {
  ForkTrial trial(ForkOf(OfThoseBehind(), OfThoseAhead()), IdOf(2));
  ExpectAccused(trial, {});
  EXPECT_THAT(trial.Line(), HasSubstr("nobody is named, as no member's words"));
  for (const SignedEnvelope& vote : VotesAhead()) {
    ASSERT_TRUE(trial.IsNews(vote));
    const bool colluder = vote.envelope.sender == IdOf(5) || vote.envelope.sender == IdOf(6);
    EXPECT_EQ(trial.Hear(vote) != nullptr, colluder);
    EXPECT_FALSE(trial.IsNews(vote));
  }
  ExpectAccused(trial, {5, 6});
  const SignedEnvelope third = Lock(7, 1, kW);
  ASSERT_TRUE(trial.IsNews(third));
  EXPECT_NE(trial.Hear(third), nullptr) << "its LOCK was in no certificate";
  ExpectAccused(trial, {5, 6, 7});
  EXPECT_THAT(trial.Line(), HasSubstr(IdOf(7).Short()));
}

// What one side shows is enough for the other to find the same.
TEST_F(ForkTrialTest, BothSidesNameTheSameOnceTheyHaveTalked) {
  const ForkTrial ahead(ForkOf(OfThoseAhead(), OfThoseBehind(), VotesAhead()), IdOf(0));
  ForkTrial behind(ForkOf(OfThoseBehind(), OfThoseAhead()), IdOf(2));
  for (const SharedBytes& frame : ahead.Frames()) {
    const auto message = wire::Open(frame);
    if (behind.IsNews(*message)) behind.Hear(*message);
  }
  ExpectAccused(behind, {5, 6});
  EXPECT_EQ(behind.Frames().size(), ahead.Frames().size());
}

// 2 locked w in iteration 1, saw a certificate of v of iteration 2 and voted for it in 3. And 3 did
// not vote in iteration 2, but saw a quorum of votes for v there and locked it.
TEST_F(ForkTrialTest, WhoMovedToAHigherLockIsNeverNamed) {
  std::vector<SignedEnvelope> others = VotesAhead();
  others.push_back(Status(2, 2, kW, 2));
  others.push_back(Status(2, 3, kV, 3));
  others.push_back(Vote(2, 3, kV, 3));
  others.push_back(Lock(2, 3, kV));
  others.push_back(Status(3, 2, kW, 2));
  others.push_back(Lock(3, 2, kV));
  others.push_back(Vote(4, 2, kW, 2));
  const ForkTrial trial(ForkOf(OfThoseAhead(), OfThoseBehind(), others), IdOf(0));
  ExpectAccused(trial, {5, 6});
}

// Whoever states a rank that no certificate has does not break its lock with it, but must deny the
// lock to have a proposal without one accepted.
TEST_F(ForkTrialTest, WhoLiesInItsRankIsNamedByItsStatus) {
  std::vector<SignedEnvelope> others;
  for (const std::uint32_t i : kAhead) others.push_back(Vote(i, 2, kV, 0));
  for (const std::uint32_t i : kColluders) others.push_back(Vote(i, 2, kV, 2));
  ExpectAccused(ForkTrial(ForkOf(OfThoseAhead(), OfThoseBehind(), others), IdOf(0)), {});
  for (const std::uint32_t i : kAhead) others.push_back(Status(i, 2, kV, 0));
  for (const std::uint32_t i : kColluders) others.push_back(Status(i, 2, kV, 0));
  ExpectAccused(ForkTrial(ForkOf(OfThoseAhead(), OfThoseBehind(), others), IdOf(0)), {5, 6});
}

// One side decided by the ECHOs of all, the other by LOCKs after STATUSes that name other ECHOs.
TEST_F(ForkTrialTest, WhoDeniesItsEchoIsNamed) {
  std::vector<SharedBytes> echoes;
  for (std::uint32_t i = 0; i < kMembers; ++i) echoes.push_back(Echo(i, kV).frame);
  std::vector<SignedEnvelope> others;
  for (const std::uint32_t i : kBehind) others.push_back(Status(i, 1, kV, 0));
  for (const std::uint32_t i : kColluders) others.push_back(Status(i, 1, kW, 0));
  for (const std::uint32_t i : Both(kBehind, kColluders)) others.push_back(Vote(i, 1, kW, 0));
  const ForkTrial trial(ForkOf(echoes, OfThoseBehind(), others), IdOf(0));
  ExpectAccused(trial, {5, 6, 7});
  EXPECT_THAT(trial.Line(), HasSubstr("denied in a status"));
}

TEST_F(ForkTrialTest, TwoWordsOfOneSlotConvictTheirSigner) {
  std::vector<SharedBytes> theirs;
  for (const std::uint32_t i : Both(kBehind, kColluders)) theirs.push_back(Lock(i, 2, kW).frame);
  const ForkTrial trial(ForkOf(OfThoseAhead(), theirs), IdOf(0));
  ExpectAccused(trial, {5, 6, 7});
  trial.CheckInvariants();
  EXPECT_THAT(trial.Line(), HasSubstr("two different messages"));
}

// Its key may be in use elsewhere: whoever else finds it may say so.
TEST_F(ForkTrialTest, NobodyAccusesItself) {
  const ForkTrial trial(ForkOf(OfThoseAhead(), OfThoseBehind(), VotesAhead()), IdOf(5));
  ExpectAccused(trial, {6});
}

TEST_F(ForkTrialTest, WordsOfAnotherSealEntryOrStrangerAreNoNews) {
  const ForkTrial trial(ForkOf(OfThoseAhead(), OfThoseBehind()), IdOf(0));
  EXPECT_TRUE(trial.IsNews(Vote(5, 2, kV, 0)));
  EXPECT_FALSE(trial.IsNews(Lock(5, 2, kV))) << "held";
  EXPECT_FALSE(trial.IsNews(Vote(9, 2, kV, 0))) << "a stranger";
  const Bytes vote = wire::Encode(wire::SealVote{DigestOf(kV), 0});
  EXPECT_FALSE(trial.IsNews(Say(5, MessageType::kVote, 2, vote, 2))) << "another history";
  SignedEnvelope later = Vote(5, 2, kV, 0);
  ++later.envelope.slot.step;
  EXPECT_FALSE(trial.IsNews(later));
  EXPECT_FALSE(trial.IsNews(Say(5, MessageType::kCommit, 0, {1})));
}

}  // namespace
}  // namespace ostraka::protocol::fork_trial_test
