// Which member is asked, how long the request waits, and which member is next.
#include "node/protocol/sync/requests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::requests_test {
namespace {

using base::Time;
using scene::PeerNumber;
using wire::PullKind;

constexpr base::Duration kPatience = base::Seconds(1);
constexpr Requests::Wait kLong = {base::Seconds(4)};

Requests::Key Piece(std::uint64_t index) { return {PullKind::kState, 7, index}; }
Requests::Key Result(std::uint64_t index) { return {PullKind::kResult, 7, index}; }
constexpr Requests::Key kBlocks = {PullKind::kBlock, 9, 0};

class RequestsTest : public ::testing::Test {
 protected:
  std::optional<PeerId> Ask(const Requests::Key& key, const Requests::Wait& wait = kLong) {
    return requests_.Ask(now_, others_, key, wait);
  }
  std::optional<PeerId> HandOver(const Requests::Key& key) {
    return requests_.HandOver(now_, others_, key, kLong, kPatience);
  }
  void Pass(base::Duration time) { now_ = now_ + time; }

  Requests requests_{kPatience};
  Time now_;
  std::vector<PeerId> others_ = {PeerNumber(0), PeerNumber(1), PeerNumber(2)};
};

TEST_F(RequestsTest, WithNobodyToAskNothingIsAsked) {
  others_.clear();
  EXPECT_FALSE(Ask(Piece(1)));
  EXPECT_EQ(requests_.size(), 0u);
}

TEST_F(RequestsTest, WaitsUntilItsPatienceIsOverAndSaysWhen) {
  ASSERT_TRUE(Ask(Piece(1)));
  EXPECT_EQ(requests_.wake(), now_ + kLong.patience);
  Pass(base::Seconds(3));
  requests_.Begin(now_, others_);
  EXPECT_FALSE(Ask(Piece(1)));
  EXPECT_EQ(requests_.wake(), Time{} + kLong.patience);
  Pass(base::Seconds(1));
  EXPECT_TRUE(Ask(Piece(1)));
}

TEST_F(RequestsTest, PiecesGoToTheMemberThatIsAskedForTheFewest) {
  std::multiset<PeerId> asked;
  for (std::uint64_t i = 1; i <= 6; ++i) asked.insert(*Ask(Piece(i)));
  for (const PeerId& member : others_) EXPECT_EQ(asked.count(member), 2u);
  requests_.OnAnswer(Piece(4), PeerNumber(1));  // not necessarily its own
  const PeerId freed = *Ask(Piece(7));
  asked.insert(freed);
  for (const PeerId& member : others_) EXPECT_GE(asked.count(member), 2u);
}

TEST_F(RequestsTest, WhoLetAWaitPassIsAskedForNothingForAWhile) {
  const PeerId silent = *Ask(Piece(1));
  Pass(kLong.patience);
  const PeerId next = *Ask(Piece(1));
  EXPECT_NE(next, silent);
  for (std::uint64_t i = 2; i < 6; ++i) EXPECT_NE(*Ask(Piece(i)), silent);
  EXPECT_EQ(requests_.Willing(now_, others_).size(), 2u);
  Pass(kPatience * 16);
  EXPECT_EQ(requests_.Willing(now_, others_).size(), 3u);
}

TEST_F(RequestsTest, WhereAllAreSilentAllAreAskedAgain) {
  std::set<PeerId> asked;
  for (int i = 0; i < 9; ++i) {
    asked.insert(*Ask(Result(1)));
    Pass(kLong.patience);
  }
  EXPECT_EQ(asked.size(), 3u);
}

// Its link is down: what it was asked for does not come.
TEST_F(RequestsTest, ARequestMovesOnWhenItsMemberCanBeAskedNoMore) {
  const PeerId gone = *Ask(Piece(1));
  const std::vector<PeerId> all = others_;
  std::erase(others_, gone);
  const auto next = Ask(Piece(1));
  ASSERT_TRUE(next);
  EXPECT_NE(*next, gone);
  EXPECT_EQ(requests_.Willing(now_, all).size(), 3u) << "nobody is blamed";
}

TEST_F(RequestsTest, AWaitThatBlamesNobodyOnlyMovesOn) {
  const Requests::Wait soon{base::Milliseconds(250), /*blames=*/false};
  std::set<PeerId> asked;
  for (int i = 0; i < 3; ++i) {
    asked.insert(*Ask(kBlocks, soon));
    Pass(base::Milliseconds(250));
  }
  EXPECT_EQ(asked.size(), 3u);
  EXPECT_EQ(requests_.Willing(now_, others_).size(), 3u);
}

TEST_F(RequestsTest, AFalseAnswerMovesOnAtOnceAndIsBlamedOnItsSenderAlone) {
  const PeerId liar = *Ask(Piece(1));
  const PeerId other = liar == PeerNumber(0) ? PeerNumber(1) : PeerNumber(0);
  EXPECT_FALSE(requests_.OnFalseAnswer(Piece(1), other));
  EXPECT_FALSE(Ask(Piece(1))) << "it was not the one that was asked";
  EXPECT_TRUE(requests_.OnFalseAnswer(Piece(1), liar));
  EXPECT_FALSE(requests_.OnFalseAnswer(Piece(1), liar)) << "told once";
  EXPECT_FALSE(requests_.OnFalseAnswer(Piece(2), liar)) << "nobody asked for it";
  EXPECT_NE(*Ask(Piece(1)), liar);
  EXPECT_EQ(requests_.Willing(now_, others_).size(), 2u);
}

// Members answer in order: one that sends a later piece does not send the earlier one any more.
TEST_F(RequestsTest, APieceThatWasPassedOverIsAskedOfAnotherAndNobodyIsBlamed) {
  others_ = {PeerNumber(0)};
  for (std::uint64_t i = 1; i <= 3; ++i) ASSERT_TRUE(Ask(Piece(i)));
  others_ = {PeerNumber(0), PeerNumber(1)};
  requests_.OnAnswer(Piece(2), PeerNumber(0));
  EXPECT_EQ(Ask(Piece(1)), PeerNumber(1));
  EXPECT_FALSE(Ask(Piece(3))) << "it is still to come";
  EXPECT_EQ(requests_.Willing(now_, others_).size(), 2u);
}

TEST_F(RequestsTest, AWaitBeginsAnewWhileItsMemberIsAtWork) {
  others_ = {PeerNumber(0)};
  for (std::uint64_t i = 1; i <= 2; ++i) ASSERT_TRUE(Ask(Piece(i)));
  Pass(base::Seconds(3));
  requests_.OnAnswer(Piece(1), PeerNumber(0));
  EXPECT_FALSE(Ask(Piece(2)));
  Pass(base::Seconds(3));
  EXPECT_FALSE(Ask(Piece(2)));
  Pass(base::Seconds(1));
  EXPECT_TRUE(Ask(Piece(2)));
}

// Attack: liars on fast lines send the pieces that a slow honest member is asked for.
TEST_F(RequestsTest, WhatAnotherSentFirstIsWorkOfTheMemberThatSendsItTooOnce) {
  others_ = {PeerNumber(0)};
  for (std::uint64_t i = 1; i <= 3; ++i) ASSERT_TRUE(Ask(Piece(i)));
  others_ = {PeerNumber(0), PeerNumber(1)};
  requests_.OnAnswer(Piece(1), PeerNumber(1));
  requests_.OnAnswer(Piece(2), PeerNumber(1));
  EXPECT_EQ(Ask(Piece(4)), PeerNumber(1)) << "three are left to the other";
  Pass(base::Seconds(3));
  requests_.OnAnswerAgain(Piece(1), PeerNumber(0));
  EXPECT_FALSE(Ask(Piece(3)));
  Pass(base::Seconds(3));
  EXPECT_FALSE(Ask(Piece(3))) << "it was at work 3 s ago";
  requests_.OnAnswerAgain(Piece(1), PeerNumber(0));  // a copy is none
  requests_.OnAnswerAgain(Piece(9), PeerNumber(0));
  EXPECT_FALSE(Ask(Piece(3)));
  Pass(base::Seconds(1));
  EXPECT_TRUE(Ask(Piece(3)));
}

// It is slow, not silent: waits are as long from then on.
TEST_F(RequestsTest, ALateAnswerEndsTheShunningAndTellsHowLongAnAnswerTakes) {
  const Requests::Wait wait{kPatience};
  const PeerId slow = *Ask(Result(1), wait);
  Pass(kPatience);
  EXPECT_NE(*Ask(Result(1), wait), slow);
  EXPECT_EQ(requests_.Willing(now_, others_).size(), 2u);
  Pass(kPatience);
  requests_.OnAnswer(Result(1), slow);
  requests_.Begin(now_, others_);
  EXPECT_EQ(requests_.Willing(now_, others_).size(), 3u);
  EXPECT_EQ(requests_.Usual(), kPatience) << "it rises step by step";
  requests_.OnAnswerAgain(Result(1), slow);
  Pass(kPatience);
  requests_.Begin(now_, others_);
  EXPECT_EQ(requests_.Usual(), kPatience) << "a copy says nothing";
}

TEST_F(RequestsTest, WhatIsOwedIsForgottenWhenItsWaitIsOver) {
  others_ = {PeerNumber(0)};
  ASSERT_TRUE(Ask(Piece(1)));
  others_ = {PeerNumber(0), PeerNumber(1)};
  requests_.OnAnswer(Piece(1), PeerNumber(1));
  EXPECT_EQ(Ask(Piece(2)), PeerNumber(1));
  requests_.CloseIf([](const Requests::Key& key) { return key == Piece(2); });
  Pass(kLong.patience);
  requests_.Begin(now_, others_);
  std::set<PeerId> asked = {*Ask(Piece(3)), *Ask(Piece(4))};
  EXPECT_EQ(asked.size(), 2u) << "both have nothing to send";
}

TEST_F(RequestsTest, APartOfAnAnswerRenewsTheWaitForBlocksOfItsSenderAlone) {
  const PeerId asked = *Ask(kBlocks);
  Pass(base::Seconds(3));
  requests_.OnPartOfAnswer(asked == PeerNumber(0) ? PeerNumber(1) : PeerNumber(0));
  EXPECT_FALSE(Ask(kBlocks));
  requests_.OnPartOfAnswer(asked);
  EXPECT_FALSE(Ask(kBlocks));
  Pass(base::Seconds(3));
  EXPECT_FALSE(Ask(kBlocks));
}

// Attack: a block just before each wait would end.
TEST_F(RequestsTest, WhoSendsSlowlyKeepsARequestForAWholeAnswersTimeAtMost) {
  const Requests::Wait soon{base::Milliseconds(250), /*blames=*/false, kPatience};
  const PeerId slow = *Ask(kBlocks, soon);
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(Ask(kBlocks, soon));
    Pass(base::Milliseconds(240));
    requests_.OnPartOfAnswer(slow);
  }
  EXPECT_FALSE(Ask(kBlocks, soon));
  Pass(base::Milliseconds(40));
  EXPECT_NE(*Ask(kBlocks, soon), slow);
}

TEST_F(RequestsTest, BlocksAndLeavesAreAskedOfTheMemberWhoseAnswerCameLast) {
  for (const std::uint32_t number : {2u, 0u, 1u}) {
    requests_.OnPartOfAnswer(PeerNumber(number));
    EXPECT_EQ(Ask(kBlocks), PeerNumber(number));
    EXPECT_EQ(Ask(Piece(0)), PeerNumber(number)) << "the leaves";
    requests_.CloseIf([](const Requests::Key&) { return true; });
  }
}

TEST_F(RequestsTest, WhatIsLateGoesToEachIdleMemberInTurn) {
  others_ = {PeerNumber(0)};
  ASSERT_TRUE(Ask(Piece(1)));
  ASSERT_TRUE(Ask(Piece(2)));
  others_ = {PeerNumber(0), PeerNumber(1), PeerNumber(2)};
  EXPECT_FALSE(HandOver(Piece(1)));
  EXPECT_FALSE(HandOver(Piece(3))) << "it is not open";
  Pass(kPatience);
  const auto first = HandOver(Piece(1));
  ASSERT_TRUE(first);
  EXPECT_NE(first, PeerNumber(0)) << "it is busy";
  // Both of them silent: the other one is next, not the first of the list again and again.
  Pass(kPatience);
  const auto second = HandOver(Piece(1));
  ASSERT_TRUE(second);
  EXPECT_NE(second, PeerNumber(0));
  EXPECT_NE(second, first);
  EXPECT_EQ(requests_.Willing(now_, others_).size(), 3u) << "nobody is blamed yet";
}

// Attack: a silent member delays each state at its end, and is asked again for the next one.
TEST_F(RequestsTest, WhoSendsNothingOfWhatWasHandedOverIsBlamedWhenItsWaitIsOver) {
  for (const bool late : {false, true}) {
    others_ = {PeerNumber(0)};
    ASSERT_TRUE(Ask(Piece(1)));
    others_ = {PeerNumber(0), PeerNumber(1)};
    Pass(kPatience);
    ASSERT_EQ(HandOver(Piece(1)), PeerNumber(1));
    requests_.OnAnswer(Piece(1), PeerNumber(1));
    Pass(kPatience);
    if (late) requests_.OnAnswerAgain(Piece(1), PeerNumber(0));
    Pass(kPatience * 2);
    requests_.Begin(now_, others_);
    EXPECT_EQ(requests_.Willing(now_, others_).size(), late ? 2u : 1u);
    requests_.OnAnswerAgain(Piece(1), PeerNumber(0));
    EXPECT_EQ(requests_.Willing(now_, others_).size(), 2u) << "a late answer ends it";
  }
}

// A liar that sends something else has nothing to send, and would be next again.
TEST_F(RequestsTest, WhatWasAnsweredFalselyIsNotHandedOver) {
  const PeerId liar = *Ask(Result(1));
  Pass(kPatience);
  requests_.OnFalseAnswer(Result(1), liar);
  EXPECT_NE(*Ask(Result(1)), liar);
  EXPECT_FALSE(HandOver(Result(1))) << "it was just asked";
  EXPECT_EQ(requests_.Willing(now_, others_).size(), 2u);
}

// Where a step is shorter than a wait, its results are closed before one is blamed.
TEST_F(RequestsTest, WhoIsSilentIsBlamedAlsoIfWhatItOwesIsOfNoUseAnyMore) {
  const PeerId silent = *Ask(Result(1));
  Pass(kPatience);
  const auto other = HandOver(Result(1));
  ASSERT_TRUE(other);
  requests_.OnAnswer(Result(1), *other);
  requests_.CloseIf([](const Requests::Key&) { return true; });
  Pass(kLong.patience);
  requests_.Begin(now_, others_);
  const auto willing = requests_.Willing(now_, others_);
  EXPECT_EQ(std::count(willing.begin(), willing.end(), silent), 0);
}

TEST_F(RequestsTest, WhoSendsWhatItOwesOneAfterTheOtherIsNotBlamed) {
  others_ = {PeerNumber(0)};
  ASSERT_TRUE(Ask(Result(1)));
  ASSERT_TRUE(Ask(Result(2)));
  others_ = {PeerNumber(0), PeerNumber(1), PeerNumber(2)};
  Pass(kPatience);
  ASSERT_TRUE(HandOver(Result(1)));
  ASSERT_TRUE(HandOver(Result(2)));
  Pass(base::Seconds(2));
  requests_.OnAnswer(Result(1), PeerNumber(0));
  requests_.Begin(now_, others_);
  Pass(base::Seconds(3));
  requests_.Begin(now_, others_);
  EXPECT_EQ(requests_.Willing(now_, others_).size(), 3u) << "it was at work 3 s ago";
  Pass(base::Seconds(1));
  requests_.Begin(now_, others_);
  EXPECT_EQ(requests_.Willing(now_, others_).size(), 2u);
}

TEST_F(RequestsTest, WhoseLinkIsDownWhenAWaitEndsIsNotBlamed) {
  const PeerId gone = *Ask(Result(1));
  Pass(kPatience);
  ASSERT_TRUE(HandOver(Result(1)));
  Pass(kLong.patience);
  const std::vector<PeerId> all = others_;
  std::erase(others_, gone);
  requests_.Begin(now_, others_);
  EXPECT_EQ(requests_.Willing(now_, all).size(), 3u);
}

TEST_F(RequestsTest, ItWakesWhenARequestIsToBeHandedOver) {
  requests_.Begin(now_, others_);
  ASSERT_TRUE(Ask(Result(1)));
  EXPECT_FALSE(HandOver(Result(1)));
  EXPECT_EQ(requests_.wake(), now_ + kPatience);
  Pass(kPatience);
  requests_.Begin(now_, others_);
  EXPECT_FALSE(Ask(Result(1)));
  ASSERT_TRUE(HandOver(Result(1)));
  EXPECT_EQ(requests_.wake(), now_ + kPatience);
}

TEST_F(RequestsTest, AnAnswerTellsWhenARequestIsHandedOverAndEachTimeItTakesTwiceAsLong) {
  const PeerId quick = *Ask(Result(1));
  Pass(base::Milliseconds(50));
  requests_.OnAnswer(Result(1), quick);
  requests_.Begin(now_, others_);
  ASSERT_TRUE(Ask(Result(2)));
  for (const std::int64_t ms : {200, 400, 800}) {
    Pass(base::Milliseconds(ms - 1));
    EXPECT_FALSE(HandOver(Result(2))) << ms;
    Pass(base::Milliseconds(1));
    requests_.Begin(now_, others_);
    EXPECT_EQ(HandOver(Result(2)).has_value(), ms < 800) << ms << ": all three owe it by then";
  }
}

// Attack: a liar answers at once, so that all others seem late.
TEST_F(RequestsTest, HandOversAreBoundedAndAnswersBringThemBack) {
  others_.clear();
  for (std::uint32_t i = 0; i < 80; ++i) others_.push_back(PeerNumber(i));
  for (std::uint64_t i = 0; i < 40; ++i) ASSERT_TRUE(Ask(Result(i)));
  Pass(kPatience);
  const auto handed_over = [&] {
    std::size_t count = 0;
    requests_.Begin(now_, others_);
    for (std::uint64_t i = 0; i < 40; ++i) count += HandOver(Result(i)).has_value() ? 1 : 0;
    return count;
  };
  EXPECT_EQ(handed_over(), 16u);
  EXPECT_EQ(handed_over(), 0u);
  for (std::uint64_t i = 0; i < 16; ++i) requests_.OnAnswer(Result(i), PeerNumber(90));
  Pass(kPatience);
  EXPECT_EQ(handed_over(), 2u);
}

// All links are down, and the first one comes up again: its answer was lost.
TEST_F(RequestsTest, WithoutAnybodyToAskARequestIsOver) {
  ASSERT_TRUE(Ask(Result(1)));
  const std::vector<PeerId> all = std::exchange(others_, {});
  EXPECT_FALSE(Ask(Result(1)));
  EXPECT_EQ(requests_.size(), 0u);
  others_ = all;
  EXPECT_TRUE(Ask(Result(1)));
}

TEST_F(RequestsTest, ARenamedRequestKeepsItsMemberAndItsRound) {
  const PeerId first = *Ask(kBlocks);
  const Requests::Key rest = {PullKind::kBlock, 4, 0};
  requests_.Rename(kBlocks, rest);
  EXPECT_EQ(requests_.OpenOf(PullKind::kBlock), rest);
  EXPECT_EQ(requests_.CountOf(PullKind::kBlock), 1u);
  Pass(kLong.patience);
  EXPECT_NE(*Ask(rest), first);
}

}  // namespace
}  // namespace ostraka::protocol::requests_test
