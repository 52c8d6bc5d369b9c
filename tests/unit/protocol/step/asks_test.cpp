#include "node/protocol/step/asks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "node/protocol/ground/reach.h"
#include "node/wire/bitmap.h"
#include "node/wire/codec.h"
#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/step/step_fixture.h"

namespace ostraka::protocol::asks_test {
namespace {

using scene::DigestOf;
using wire::MessageType;
using wire::Phase;
using wire::PullKind;

constexpr std::size_t kSelf = StepWorld::kSelf;
constexpr std::uint32_t kMany = 20;

// Twenty members, of which nine may be faulty.
class AsksTest : public testing::Test {
 protected:
  explicit AsksTest(const StepWorld::Edit& edit = nullptr, std::uint32_t members = kMany)
      : w_(edit, members),
        pairs_(w_, w_.server, w_.facts),
        results_(w_, w_.facts),
        sealing_(w_, w_.charges, w_.reports, w_.fork_watch, w_.past_seals, w_.pull, w_.facts),
        asks_(w_, w_.reports, w_.duties, w_.pull, w_.facts) {}

  void OpenA() {
    sealing_.Open(Phase::kA, 0, base::Seconds(42), std::nullopt);
    w_.out.actions().clear();
  }
  // The member's ECHO, of a vector in which just member `shown`'s COMMIT is present.
  void HearEcho(std::size_t member, std::size_t shown) {
    SealVector vector(2 * w_.count());
    vector[shown] = {SealEntry::State::kPresent, DigestOf(1)};
    const auto echo = w_.Say(member, Phase::kA, MessageType::kEcho, wire::Encode(EchoOf(vector)));
    w_.Hear(echo);
    sealing_.OnAccepted(*echo);
  }
  std::set<PeerId> Asked(std::size_t at_most = SIZE_MAX) {
    std::set<PeerId> asked;
    const auto pulls = w_.Pulls();
    EXPECT_LE(pulls.size(), at_most);
    for (const auto& [to, pull] : pulls) asked.insert(to);
    EXPECT_EQ(asked.size(), pulls.size());
    EXPECT_FALSE(asked.contains(w_.self));
    return asked;
  }

  StepWorld w_;
  DisputedPairs pairs_;
  Results results_;
  Sealing sealing_;
  Asks asks_;
};

class AsksOfSixTest : public AsksTest {
 protected:
  AsksOfSixTest() : AsksTest(InDispute(1, 2), 6) {}
};
class AsksForExhibitsTest : public AsksTest {
 protected:
  AsksForExhibitsTest() : AsksTest(CaseOpen(wire::CaseKind::kCover, 1, 2, 3), 6) {}
};

// --- entries ---

TEST_F(AsksTest, EntryIsAskedOfOneMemberMoreThanCanLie) {
  ASSERT_EQ(FaultBound(w_.head().thresholds), 9u);
  OpenA();
  EXPECT_FALSE(asks_.ForEntries(sealing_));  // no ECHO shows anything
  for (std::size_t i = 1; i < kMany; ++i) HearEcho(i, 5);
  w_.out.actions().clear();
  EXPECT_TRUE(asks_.ForEntries(sealing_));
  const auto pulls = w_.Pulls();
  ASSERT_EQ(pulls.size(), 10u);
  for (const auto& [to, pull] : pulls) {
    EXPECT_EQ(pull.kind, PullKind::kMessages);
    EXPECT_EQ(pull.type, MessageType::kCommit);
    EXPECT_EQ(pull.members, wire::BitmapOf({w_.Id(5)}, w_.head().members));
  }
}

TEST_F(AsksTest, EachRoundAsksOtherMembersForAnEntry) {
  OpenA();
  for (std::size_t i = 1; i < kMany; ++i) HearEcho(i, 5);
  w_.out.actions().clear();
  asks_.ForEntries(sealing_);
  const std::set<PeerId> first = Asked(10);
  w_.pull.CountAttempt();
  asks_.ForEntries(sealing_);
  EXPECT_NE(Asked(10), first);
}

// A restarted member's own ECHO shows what it has lost.
TEST_F(AsksTest, OwnEchoTakesNoMembersPlaceAmongThoseThatAreAsked) {
  OpenA();
  for (std::size_t i = 0; i < kMany; ++i) HearEcho(i, 5);
  for (std::size_t round = 0; round < kMany; ++round) {
    w_.out.actions().clear();
    EXPECT_TRUE(asks_.ForEntries(sealing_));
    EXPECT_EQ(Asked().size(), 10u);
    w_.pull.CountAttempt();
  }
}

TEST_F(AsksTest, OnlyMembersWhoseEchoShowsTheEntryAreAsked) {
  OpenA();
  HearEcho(1, 5);
  HearEcho(2, 6);
  HearEcho(kSelf, 7);
  w_.out.actions().clear();
  EXPECT_TRUE(asks_.ForEntries(sealing_));
  std::map<PeerId, base::Bytes> asked;
  for (const auto& [to, pull] : w_.Pulls()) asked[to] = pull.members;
  const auto& members = w_.head().members;
  EXPECT_EQ(asked,
            (std::map<PeerId, base::Bytes>{{w_.Id(1), wire::BitmapOf({w_.Id(5)}, members)},
                                           {w_.Id(2), wire::BitmapOf({w_.Id(6)}, members)}}));
}

TEST_F(AsksTest, EntryThatIsHeldIsNotAskedFor) {
  OpenA();
  HearEcho(1, 5);
  w_.Hear(w_.Commit(5));
  w_.out.actions().clear();
  EXPECT_FALSE(asks_.ForEntries(sealing_));
  EXPECT_TRUE(w_.out.actions().empty());
}

// --- ECHOs ---

TEST_F(AsksTest, EchoesAreAskedOfEightMembersAndOfOthersInTheNextRound) {
  OpenA();
  EXPECT_FALSE(asks_.ForEchoes(sealing_));  // not before the own ECHO
  HearEcho(kSelf, 5);
  for (std::size_t i = 1; i < kMany; ++i) {
    if (i != 4) HearEcho(i, 5);
  }
  w_.out.actions().clear();
  ASSERT_TRUE(sealing_.seal().wait_ended());
  EXPECT_TRUE(asks_.ForEchoes(sealing_));
  const std::set<PeerId> first = Asked();
  EXPECT_EQ(first.size(), 8u);
  w_.pull.CountAttempt();
  EXPECT_TRUE(asks_.ForEchoes(sealing_));
  const std::set<PeerId> second = Asked();
  EXPECT_EQ(second.size(), 8u);
  for (const PeerId& member : second) EXPECT_FALSE(first.contains(member));
}

TEST_F(AsksTest, WhileMoreEchoesLackThanCanBeAtFaultNobodyIsAsked) {
  const std::size_t bound = w_.head().thresholds.t_s;
  OpenA();
  HearEcho(kSelf, 5);
  for (std::size_t i = 1; i + bound + 1 < kMany; ++i) HearEcho(i, 5);
  w_.out.actions().clear();
  EXPECT_TRUE(asks_.ForEchoes(sealing_));  // bound + 1 lack
  EXPECT_TRUE(w_.Pulls().empty());
  HearEcho(kMany - 1, 5);
  w_.out.actions().clear();
  EXPECT_TRUE(asks_.ForEchoes(sealing_));  // bound lack
  EXPECT_EQ(Asked().size(), 8u);
}

TEST_F(AsksTest, EchoOfAMutedMemberIsNotMissed) {
  w_.facts.muted = {w_.Id(3)};
  OpenA();
  HearEcho(kSelf, 5);
  for (std::size_t i = 1; i < kMany; ++i) {
    if (i != 3 && i != 4) HearEcho(i, 5);
  }
  w_.out.actions().clear();
  EXPECT_TRUE(asks_.ForEchoes(sealing_));
  const auto pulls = w_.Pulls();
  ASSERT_FALSE(pulls.empty());
  EXPECT_EQ(pulls[0].second.members, wire::BitmapOf({w_.Id(4)}, w_.head().members));
}

// --- bulk ---

TEST_F(AsksTest, ResultIsAskedOfMoreAndMoreMembers) {
  w_.ReadA();
  EXPECT_TRUE(asks_.ForResults(results_));
  std::map<std::uint64_t, std::size_t> asked;
  for (const auto& [to, pull] : w_.Pulls()) {
    EXPECT_EQ(pull.kind, PullKind::kResult);
    ++asked[pull.index];
  }
  EXPECT_GE(asked.size(), kMany - 1);  // one member each, which may be this one
  for (const auto& [column, count] : asked) EXPECT_EQ(count, 1u);
  for (std::uint32_t j = 1; j < kMany; ++j) results_.Take(j, w_.ResultOf(j));
  std::set<PeerId> all;
  for (const std::size_t expected : {1, 3, 9, 7}) {
    w_.out.actions().clear();
    EXPECT_TRUE(asks_.ForResults(results_));
    const std::set<PeerId> now = Asked();
    EXPECT_GE(now.size() + (all.contains(w_.self) ? 0 : 1), expected);
    EXPECT_LE(now.size(), expected);
    for (const PeerId& member : now) EXPECT_TRUE(all.insert(member).second);
    w_.pull.CountAttempt();
  }
  EXPECT_EQ(all.size(), kMany - 1);
  results_.Take(0, w_.ResultOf(0));
  w_.out.actions().clear();
  EXPECT_FALSE(asks_.ForResults(results_));
  EXPECT_TRUE(w_.out.actions().empty());
}

// This member and every second one only dial.
class AsksBehindANatTest : public AsksTest {
 protected:
  AsksBehindANatTest()
      : AsksTest([](Manifest&, Block& head) {
          for (std::size_t i = kSelf % 2; i < kMany; i += 2) {
            head.reach.push_back({head.members[i], true, 0});
          }
        }) {}
};

TEST_F(AsksBehindANatTest, ResultIsAskedOfMembersThatCanBeDialed) {
  w_.ReadA();
  std::set<PeerId> asked;
  for (int attempt = 0; attempt < 12; ++attempt) {
    w_.out.actions().clear();
    EXPECT_TRUE(asks_.ForResults(results_));
    for (const auto& [to, pull] : w_.Pulls()) asked.insert(to);
    w_.pull.CountAttempt();
  }
  EXPECT_EQ(asked.size(), kMany / 2);
  for (const PeerId& member : asked) EXPECT_FALSE(OnlyDials(w_.head(), member));
}

TEST_F(AsksForExhibitsTest, ExhibitIsAskedOfTheMemberThatOwesIt) {
  EXPECT_FALSE(asks_.ForExhibits());  // that step is not held
  PastStep past;
  past.members = w_.head().members;
  past.parameters = w_.chain.state().parameters;
  past.columns = {{0, w_.facts.roles().parts[0], w_.PartsOf(3)[0], DigestOf(1)}};
  past.fates = {wire::ColumnFate::kApplied};
  past.proofs[w_.Id(1)] = nullptr;
  w_.chain.Remember(3, std::move(past));
  EXPECT_TRUE(asks_.ForExhibits());
  const auto pulls = w_.Pulls();
  ASSERT_FALSE(pulls.empty());
  bool owner_asked = false;
  for (const auto& [to, pull] : pulls) {
    owner_asked = owner_asked || to == w_.Id(2);
    EXPECT_EQ(pull.kind, PullKind::kPart);
    EXPECT_EQ(pull.members, wire::BitmapOf({w_.Id(1)}, w_.head().members));
  }
  EXPECT_TRUE(owner_asked);
}

// --- what is late ---

TEST_F(AsksTest, OverdueMessageIsAskedOfAllUnmutedMembersOnceADelta) {
  w_.facts.muted = {w_.Id(3)};
  OpenA();
  LateWatch::Options options;
  options.opened = w_.now();
  options.delta = StepWorld::kDelta;
  options.patience = base::Seconds(1);
  options.deadline = base::Seconds(42);
  options.members = kMany;
  options.quorum = w_.head().thresholds.quorum();
  options.fault_bound = 9;
  LateWatch& watch = w_.reports.WatchLateness(options);
  for (std::size_t i = 0; i < kMany; ++i) watch.Expect({DueMessage::kCommit, i}, i);
  watch.Expect({DueMessage::kPart, 4}, 4);  // bulk: not asked for here
  for (std::size_t i = 0; i < kMany; ++i) {
    if (i != 5) watch.Held({DueMessage::kCommit, i}, w_.now());
  }
  asks_.ForLate(sealing_);
  EXPECT_TRUE(w_.Pulls().empty());  // not due yet
  w_.Go(base::Seconds(3));
  asks_.ForLate(sealing_);
  const auto pulls = w_.Pulls();
  EXPECT_EQ(pulls.size(), kMany - 2);
  for (const auto& [to, pull] : pulls) {
    EXPECT_NE(to, w_.Id(3));
    EXPECT_EQ(pull.members, wire::BitmapOf({w_.Id(5)}, w_.head().members));
  }
  asks_.ForLate(sealing_);
  EXPECT_TRUE(w_.Pulls().empty());
}

TEST_F(AsksTest, AfterTheOwnEchoNothingIsLate) {
  OpenA();
  LateWatch::Options options;
  options.opened = w_.now();
  options.delta = StepWorld::kDelta;
  options.deadline = base::Seconds(42);
  options.members = kMany;
  LateWatch& watch = w_.reports.WatchLateness(options);
  watch.Expect({DueMessage::kCommit, 5}, 5);
  w_.Go(base::Seconds(30));
  sealing_.OnEchoTimer();
  w_.out.actions().clear();
  asks_.ForLate(sealing_);
  EXPECT_TRUE(w_.Pulls().empty());
}

// --- parts without room ---

TEST_F(AsksOfSixTest, RefusedPartsAreAskedOfTheLinksThatBroughtThem) {
  const std::uint32_t mine = *w_.facts.my_column;
  const std::uint32_t disputed = w_.ColumnOf(2);
  asks_.ForRefusedParts({w_.Id(1), w_.Id(3), scene::PeerNumber(99)}, pairs_);
  std::set<std::pair<PeerId, std::uint64_t>> asked;
  for (const auto& [to, pull] : w_.Pulls()) {
    EXPECT_EQ(pull.kind, PullKind::kPart);
    EXPECT_EQ(pull.members, wire::BitmapOf({to}, w_.head().members));  // its own part
    asked.emplace(to, pull.index);
  }
  EXPECT_EQ(asked, (std::set<std::pair<PeerId, std::uint64_t>>{
                       {w_.Id(1), mine}, {w_.Id(3), mine}, {w_.Id(1), disputed}}));
}

TEST_F(AsksOfSixTest, PartThatIsHeldIsNotAskedFor) {
  w_.HearPart(3, *w_.facts.my_column);
  asks_.ForRefusedParts({w_.Id(3)}, pairs_);
  EXPECT_TRUE(w_.Pulls().empty());
}

TEST(AsksInDisputeTest, PartThatOthersForwardedIsAskedOfThem) {
  StepWorld w(InDispute(1, kSelf));
  const DisputedPairs pairs(w, w.server, w.facts);
  const Asks asks(w, w.reports, w.duties, w.pull, w.facts);
  asks.ForRefusedParts({w.Id(4), scene::PeerNumber(99)}, pairs);
  std::set<base::Bytes> authors;
  for (const auto& [to, pull] : w.Pulls()) {
    EXPECT_EQ(to, w.Id(4));
    EXPECT_EQ(pull.index, *w.facts.my_column);
    authors.insert(pull.members);
  }
  EXPECT_EQ(authors, (std::set<base::Bytes>{wire::BitmapOf({w.Id(4)}, w.head().members),
                                            wire::BitmapOf({w.Id(1)}, w.head().members)}));
}

}  // namespace
}  // namespace ostraka::protocol::asks_test
