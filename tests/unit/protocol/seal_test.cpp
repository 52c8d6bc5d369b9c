// One Seal, message by message: each rule of docs/seal.md. What several do together is
// tests/property/protocol_seal_test.cpp's.
#include "node/protocol/seal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "node/protocol/columns.h"
#include "node/protocol/seal_proposal.h"
#include "node/wire/codec.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol {
namespace {

using base::Time;
using scene::DigestOf;
using scene::PeerNumber;
using scene::PeersUpTo;
using wire::MessageType;
using wire::PullKind;
using State = SealEntry::State;

// Five members, of which two may be faulty: Q = 3. Delta is one second.
constexpr std::uint32_t kMembers = 5;

wire::SignedEnvelope Frame(std::uint32_t sender, MessageType type, std::uint32_t iteration,
                           base::Bytes body) {
  wire::SignedEnvelope message;
  message.envelope.slot.phase = wire::Phase::kB;
  message.envelope.slot.type = type;
  message.envelope.slot.iteration = iteration;
  message.envelope.sender = PeerNumber(sender);
  message.envelope.body = std::move(body);
  message.digest = wire::DigestOf(message.envelope);
  message.frame = wire::EncodeUnsigned(message.envelope);
  return message;
}

class SealTest : public testing::Test, public SealMessages {
 protected:
  SealTest() {
    for (std::uint32_t i = 0; i < kMembers; ++i) held_[i] = {DigestOf(100 + i)};
    Start();
  }

  void Start(std::set<std::uint32_t> asleep = {}, bool muted = false) {
    SealOptions options;
    options.slot.phase = wire::Phase::kB;
    options.slot.type = MessageType::kEcho;
    options.self = PeerNumber(0);
    options.muted = muted;
    options.members = PeersUpTo(kMembers);
    for (const std::uint32_t i : asleep) options.asleep.insert(PeerNumber(i));
    options.thresholds = {kMembers, 2, 0};
    options.delta = base::Seconds(1);
    options.leader_seed = DigestOf(1);
    options.entries = kMembers;
    seal_ = std::make_unique<Seal>(options, this);
    std::vector<PeerId> awake;
    for (const PeerId& member : options.members) {
      if (!options.asleep.contains(member)) awake.push_back(member);
    }
    leaders_ = LeadersOf(options.leader_seed, options.slot, awake);
  }

  SealEntry EntryNow(std::size_t index) const override {
    const auto found = held_.find(index);
    if (found == held_.end() || found->second.empty()) return {};
    if (found->second.size() > 1) return {State::kEquivocated, {}};
    return {State::kPresent, *found->second.begin()};
  }
  bool Holds(std::size_t index, const Digest& digest) const override {
    const auto found = held_.find(index);
    return found != held_.end() && found->second.contains(digest);
  }
  SealVector All() const {
    SealVector all;
    for (std::uint32_t i = 0; i < kMembers; ++i) {
      all.push_back({State::kPresent, DigestOf(100 + i)});
    }
    return all;
  }
  SealVector Without(std::size_t index) const {
    SealVector less = All();
    less[index] = {};
    return less;
  }

  // Time goes on to `ms`, with every timer on the way.
  void Until(std::int64_t ms) {
    const Time end{ms * 1'000'000};
    while (seal_->wake() && *seal_->wake() <= end) {
      now_ = std::max(now_, *seal_->wake());
      Take([&](SealOutput& out) { seal_->OnTimer(now_, out); });
    }
    now_ = end;
  }
  // The next `timers` wake-ups, however late.
  void Wake(int timers) {
    for (; timers > 0 && seal_->wake(); --timers) {
      now_ = std::max(now_, *seal_->wake());
      Take([&](SealOutput& out) { seal_->OnTimer(now_, out); });
    }
  }
  // What the Seal says comes back at once: the store is fast.
  template <typename Input>
  void Take(Input input) {
    SealOutput out;
    input(out);
    for (const SealAsk& ask : out.ask) asks_.push_back(ask);
    for (const auto& frame : out.forward) forwards_.push_back(frame);
    for (const auto& answer : out.answer_vector) answers_.push_back(answer);
    for (const SealSay& say : out.say) {
      said_.push_back(say);
      if (stores_) Hear(Frame(0, say.type, say.iteration, say.body));
    }
  }
  void Hear(const wire::SignedEnvelope& message) {
    Take([&](SealOutput& out) { seal_->OnMessage(now_, message, out); });
  }
  void Echo() {
    Take([&](SealOutput& out) { seal_->Echo(now_, out); });
  }
  void HearEcho(std::uint32_t sender, const SealVector& vector) {
    Hear(Frame(sender, MessageType::kEcho, 0, wire::Encode(EchoOf(vector))));
  }
  void HearStatus(std::uint32_t sender, std::uint32_t k, std::uint32_t rank, const Digest& value) {
    Hear(Frame(sender, MessageType::kStatus, k, wire::Encode(wire::Status{rank, value})));
  }
  void HearVote(std::uint32_t sender, std::uint32_t k, const Digest& value) {
    Hear(Frame(sender, MessageType::kVote, k, wire::Encode(wire::SealVote{value, 0})));
  }
  void HearLock(std::uint32_t sender, std::uint32_t k, const Digest& value) {
    Hear(Frame(sender, MessageType::kLock, k, wire::Encode(wire::Lock{value})));
  }
  // The body said in iteration k; null if none was.
  const SealSay* Said(MessageType type, std::uint32_t k = 0) const {
    for (const SealSay& say : said_) {
      if (say.type == type && say.iteration == k) return &say;
    }
    return nullptr;
  }
  std::uint32_t NumberOf(const PeerId& peer) const {
    for (std::uint32_t i = 0; i < kMembers; ++i) {
      if (PeerNumber(i) == peer) return i;
    }
    return kMembers;
  }
  std::uint32_t Leader(std::uint32_t k) const {
    return NumberOf(leaders_[(k - 1) % leaders_.size()]);
  }
  // The first iteration that I lead, or that another does.
  std::uint32_t IterationLedBy(bool me) const {
    std::uint32_t k = 1;
    while ((Leader(k) == 0) != me) ++k;
    return k;
  }
  // Everybody echoes something else, so there is no lock; and all enter iteration k now.
  void SplitAndEnter(std::uint32_t k) {
    Echo();
    HearEcho(1, Without(1));
    HearEcho(2, Without(2));
    HearEcho(3, Without(3));
    HearEcho(4, Without(4));
    for (std::uint32_t i = 1; i < kMembers; ++i) {
      HearStatus(i, k, 0, EchoOf(Without(i)).vector);
    }
    ASSERT_EQ(seal_->iteration(), k);
  }
  wire::Propose ProposalOfMine() const {
    return wire::DecodePropose(Said(MessageType::kPropose, seal_->iteration())->body).value();
  }
  // A merge by another leader of iteration k over the STATUSes of members 1 to 3.
  wire::SignedEnvelope MergeBy(std::uint32_t leader, std::uint32_t k, const SealVector& merged) {
    std::vector<PeerId> chosen = {PeerNumber(1), PeerNumber(2), PeerNumber(3)};
    std::vector<Digest> digests;
    for (std::uint32_t i = 1; i <= 3; ++i) {
      const wire::Status status{0, EchoOf(Without(i)).vector};
      digests.push_back(Frame(i, MessageType::kStatus, k, wire::Encode(status)).digest);
    }
    wire::Propose propose;
    propose.value = EchoOf(merged).vector;
    propose.statuses = BitmapOf(chosen, PeersUpTo(kMembers));
    propose.statuses_root = SetRoot(digests);
    return Frame(leader, MessageType::kPropose, k, wire::Encode(propose));
  }
  void HearMerge(std::uint32_t k, const SealVector& merged) {
    Hear(MergeBy(Leader(k), k, merged));
    Take([&](SealOutput& out) { seal_->OnVector(now_, WireOf(merged), out); });
  }
  std::int64_t StepEnd(std::uint32_t k, int step) const {
    return step * StepLength(base::Seconds(1), k).ns / 1'000'000;
  }

  std::map<std::size_t, std::set<Digest>> held_;
  std::unique_ptr<Seal> seal_;
  std::vector<PeerId> leaders_;
  Time now_;
  bool stores_ = true;
  std::vector<SealSay> said_;
  std::vector<SealAsk> asks_;
  std::vector<base::SharedBytes> forwards_;
  std::vector<std::pair<PeerId, wire::Vector>> answers_;
};

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

TEST_F(SealTest, AsleepMembersAreNeitherWaitedForNorHeard) {
  Start({4});
  Echo();
  for (std::uint32_t i = 1; i < 3; ++i) HearEcho(i, All());
  HearEcho(4, All());
  EXPECT_EQ(seal_->decision(), std::nullopt);
  HearEcho(3, All());
  EXPECT_EQ(seal_->decision(), All());
}

// All of fewer than Q would hold no honest one for sure.
TEST_F(SealTest, FewerThanAQuorumDecideNothing) {
  Start({2, 3, 4});
  Echo();
  HearEcho(1, All());
  Until(60'000);
  EXPECT_EQ(seal_->decision(), std::nullopt);
}

TEST_F(SealTest, ADecisionWaitsForItsMessagesAndAsksThoseWhoDecided) {
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
  EXPECT_EQ(asks_[0].pull.members, BitmapOf({PeerNumber(3)}, PeersUpTo(kMembers)));
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

TEST_F(SealTest, AVectorNobodyNamedIsNotKept) {
  Echo();
  Take([&](SealOutput& out) { seal_->OnVector(now_, WireOf(Without(1)), out); });
  EXPECT_EQ(seal_->VectorFor(EchoOf(Without(1)).vector), std::nullopt);
  HearEcho(1, Without(1));
  Take([&](SealOutput& out) { seal_->OnVector(now_, WireOf(Without(1)), out); });
  EXPECT_NE(seal_->VectorFor(EchoOf(Without(1)).vector), std::nullopt);
}

// --- the slow path -------------------------------------------------------------------------------

TEST_F(SealTest, TheSlowPathBeginsTwoDeltaAfterTheOwnEcho) {
  Until(500);
  Echo();
  HearEcho(1, All());
  HearEcho(2, Without(3));
  Until(2499);
  EXPECT_FALSE(seal_->slow());
  Until(2500);
  EXPECT_TRUE(seal_->slow());
  EXPECT_EQ(seal_->silent(), (std::set<PeerId>{PeerNumber(3), PeerNumber(4)}));
  const auto status = wire::DecodeStatus(Said(MessageType::kStatus, 1)->body).value();
  EXPECT_EQ(status.rank, 0u);
  EXPECT_EQ(status.value, EchoOf(All()).vector);
}

TEST_F(SealTest, EqualEchoesOfAQuorumLock) {
  Echo();
  HearEcho(1, All());
  HearEcho(2, All());
  HearEcho(3, Without(3));
  Until(2000);
  const auto status = wire::DecodeStatus(Said(MessageType::kStatus, 1)->body).value();
  EXPECT_EQ(status.rank, 1u);
  EXPECT_EQ(status.value, EchoOf(All()).vector);
}

TEST_F(SealTest, StatusIsSaidAgainUntilAQuorumIsThere) {
  Echo();
  HearEcho(1, All());
  Until(3'999);
  EXPECT_EQ(seal_->iteration(), 1u);
  EXPECT_FALSE(seal_->alone());
  Until(20'000);
  EXPECT_EQ(seal_->iteration(), 1u);
  EXPECT_TRUE(seal_->alone());
  EXPECT_EQ(Said(MessageType::kVote, 1), nullptr);
  EXPECT_EQ(forwards_.size(), 9u);  // at 4, 6, ... 20 seconds
  EXPECT_NE(seal_->Describe(now_).find("no quorum of 3: waits for"), std::string::npos);
  EXPECT_NE(seal_->Describe(now_).find("own echo 20.0 s ago"), std::string::npos);
}

TEST_F(SealTest, MoreThanCanBeFaultyAreFollowedIntoTheirIteration) {
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
  // Rivals of echoes are kept only for a value that somebody rests on: nobody claimed this one.
  EXPECT_EQ(ProposalOfMine().rank, 0u);
}

TEST_F(SealTest, ARivalEchoCountsForALockThatSomebodyClaims) {
  const std::uint32_t k = IterationLedBy(true);
  Echo();
  for (std::uint32_t i = 1; i < kMembers; ++i) HearEcho(i, Without(i));
  for (std::uint32_t i = 1; i < kMembers; ++i) {
    HearStatus(i, k, i == 1 ? 1 : 0, EchoOf(Without(i)).vector);
  }
  // Its certificate is asked for, at once, of who claims it.
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

TEST_F(SealTest, AMergeThatLeavesOutWhatIEchoedGetsNoVote) {
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
  const auto status = wire::DecodeStatus(Said(MessageType::kStatus, k + 1)->body).value();
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

TEST_F(SealTest, LocksOfAnyIterationDecideForOneWhoWasCutOff) {
  Echo();
  for (std::uint32_t i = 1; i <= 3; ++i) HearLock(i, 900, EchoOf(All()).vector);
  EXPECT_EQ(seal_->decision(), All());
}

// Another machine with this key speaks in a later iteration. That started the clock again, which
// stood still at the end of its rest and woke the Seal without end.
TEST_F(SealTest, WhatIsDecidedAndNotHereIsAskedForAndTimeGoesOn) {
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

TEST_F(SealTest, TimeGoesOnForWhoEchoesOnlyAfterTheDecision) {
  held_.erase(2);
  for (std::uint32_t i = 1; i <= 3; ++i) HearLock(i, 1, EchoOf(All()).vector);
  ASSERT_FALSE(seal_->Certificate().empty());
  Echo();
  Wake(20);
  EXPECT_GT(now_, base::Time{} + base::Seconds(10));
}

TEST_F(SealTest, AMutedOneSaysNothingAsksAndDecides) {
  Start({0}, true);
  Echo();
  EXPECT_TRUE(seal_->echoed());
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

// --- restarts ------------------------------------------------------------------------------------

TEST_F(SealTest, AfterARestartItSpeaksInNoSlotAgainAndKeepsItsLock) {
  const Digest value = EchoOf(All()).vector;
  HearEcho(0, All());
  Hear(Frame(0, MessageType::kStatus, 2, wire::Encode(wire::Status{0, value})));
  Hear(Frame(0, MessageType::kVote, 2, wire::Encode(wire::SealVote{DigestOf(5), 0})));
  Hear(Frame(0, MessageType::kLock, 2, wire::Encode(wire::Lock{DigestOf(5)})));
  Echo();
  EXPECT_TRUE(seal_->echoed());
  EXPECT_TRUE(said_.empty());
  EXPECT_NE(seal_->VectorFor(value), std::nullopt);  // rebuilt from what it holds
  Until(7'999);
  EXPECT_TRUE(said_.empty());
  Until(8'000);  // four steps of iteration 2
  const auto status = wire::DecodeStatus(Said(MessageType::kStatus, 3)->body).value();
  EXPECT_EQ(status.rank, 3u);
  EXPECT_EQ(status.value, DigestOf(5));
}

TEST_F(SealTest, AfterARestartWithOtherMessagesItVotesForNoMerge) {
  const std::uint32_t k = IterationLedBy(false);
  HearEcho(0, Without(1));  // what it echoed in a life before
  EXPECT_EQ(seal_->VectorFor(EchoOf(Without(1)).vector), std::nullopt);
  for (std::uint32_t i = 1; i < kMembers; ++i) HearStatus(i, k, 0, EchoOf(Without(i)).vector);
  Until(StepEnd(k, 1) + 100);
  HearMerge(k, All());
  Until(StepEnd(k, 2));
  EXPECT_EQ(Said(MessageType::kVote, k), nullptr);
  EXPECT_NE(seal_->Describe(now_).find("I do not know any more what I echoed"), std::string::npos);
}

// --- for people ----------------------------------------------------------------------------------

TEST_F(SealTest, DescribeNamesWhoEchoedWhatOtherwiseAndWhoDidNot) {
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
}  // namespace ostraka::protocol
