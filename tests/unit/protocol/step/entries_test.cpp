#include "node/protocol/step/entries.h"

#include <gtest/gtest.h>

#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/step/step_fixture.h"

namespace ostraka::protocol::entries_test {
namespace {

using scene::DigestOf;
using wire::MessageType;
using wire::Phase;
using State = SealEntry::State;

class EntriesTest : public testing::Test {
 protected:
  explicit EntriesTest(const StepWorld::Edit& edit = nullptr) : w_(edit) {}
  Entries Of(Phase phase, std::uint32_t draw = 0) {
    return {phase, draw, w_.facts, w_, w_.charges};
  }
  std::size_t n() const { return w_.count(); }
  wire::SharedMessage CommitUnder(const Digest& parent, std::size_t member) {
    return w_.SayUnder(parent, member, Phase::kA, MessageType::kCommit,
                       wire::Encode(w_.CommitBody(member)));
  }

  StepWorld w_;
};

class EntriesWithAValidatorTest : public EntriesTest {
 protected:
  EntriesWithAValidatorTest() : EntriesTest(Validates(1, 2, 3)) {}
};

TEST_F(EntriesTest, PhaseAHasACommitAndAnAggOfEachMemberAndOtherPhasesOneMessage) {
  EXPECT_EQ(Of(Phase::kA).Count(), 2 * n());
  w_.ReadA();
  EXPECT_EQ(Of(Phase::kB).Count(), n());
  EXPECT_EQ(Of(Phase::kC).Count(), n());
}

TEST_F(EntriesTest, LayoutNamesEveryEntryOnceAndAnAggsCommit) {
  const Entries a = Of(Phase::kA);
  for (std::size_t member = 0; member < n(); ++member) {
    const std::size_t commit = Entries::EntryOf(member);
    const std::size_t agg = a.AggEntryOf(member);
    EXPECT_EQ(a.PlaceOf(commit)->first.type, MessageType::kCommit);
    EXPECT_EQ(a.PlaceOf(agg)->first.type, MessageType::kAggregate);
    EXPECT_EQ(a.PlaceOf(commit)->second, w_.Id(member));
    EXPECT_EQ(a.PlaceOf(agg)->second, w_.Id(member));
    EXPECT_EQ(a.CommitEntryOf(agg), commit);
    EXPECT_EQ(a.CommitEntryOf(commit), std::nullopt);
  }
  w_.ReadA();
  for (std::size_t i = 0; i < n(); ++i) {
    EXPECT_EQ(Of(Phase::kB).CommitEntryOf(i), std::nullopt);
    EXPECT_EQ(Of(Phase::kC).CommitEntryOf(i), std::nullopt);
  }
  EXPECT_DEATH(Of(Phase::kB).AggEntryOf(0), "CHECK failed");
}

TEST_F(EntriesTest, EntryIsTheMessageThatIsHeld) {
  const Entries entries = Of(Phase::kA);
  EXPECT_EQ(entries.EntryNow(1).state, State::kAbsent);
  const auto commit = w_.Commit(1);
  w_.Hear(commit);
  EXPECT_EQ(entries.EntryNow(1), (SealEntry{State::kPresent, commit->digest}));
  EXPECT_TRUE(entries.Holds(1, commit->digest));
  EXPECT_FALSE(entries.Holds(1, DigestOf(1)));
  EXPECT_FALSE(entries.Holds(2, commit->digest));
  EXPECT_EQ(entries.EntryNow(n() + 1).state, State::kAbsent);
}

TEST_F(EntriesTest, MessageOfAnotherParentIsAbsent) {
  const auto stray = CommitUnder(DigestOf(9), 1);
  w_.Hear(stray);
  EXPECT_EQ(Of(Phase::kA).EntryNow(1).state, State::kAbsent);
  EXPECT_FALSE(Of(Phase::kA).Holds(1, stray->digest));
  EXPECT_FALSE(Of(Phase::kA).Complete());
}

TEST_F(EntriesTest, TwoMessagesAreEquivocationWhateverParentsTheyName) {
  w_.Hear(w_.Commit(1));
  w_.Hear(CommitUnder(DigestOf(9), 1));
  w_.Hear(CommitUnder(DigestOf(8), 2));
  w_.Hear(CommitUnder(DigestOf(9), 2));
  for (const std::size_t member : {1, 2}) {
    EXPECT_EQ(Of(Phase::kA).EntryNow(member), (SealEntry{State::kEquivocated, Digest{}}));
  }
}

TEST_F(EntriesWithAValidatorTest, AggOfAMemberThatOwnsNoPartHasNoPlace) {
  ASSERT_FALSE(w_.facts.roles().PartOwnedBy(w_.Id(1)));
  const Entries entries = Of(Phase::kA);
  EXPECT_TRUE(entries.PlaceOf(1));
  EXPECT_FALSE(entries.PlaceOf(n() + 1));
  EXPECT_TRUE(entries.PlaceOf(n() + 2));
  w_.Hear(w_.Say(1, Phase::kA, MessageType::kAggregate, wire::Encode(w_.AggregateBody(0))));
  EXPECT_EQ(entries.EntryNow(n() + 1).state, State::kAbsent);
}

TEST_F(EntriesTest, PhaseIsCompleteWithTheLastMessageAndStaysSo) {
  Entries entries = Of(Phase::kA);
  for (std::size_t i = 0; i < n(); ++i) w_.Hear(w_.Commit(i));
  for (std::size_t i = 0; i + 1 < n(); ++i) w_.Hear(w_.Aggregate(i));
  EXPECT_FALSE(entries.Complete());
  w_.Hear(w_.Aggregate(n() - 1));
  EXPECT_TRUE(entries.Complete());
  // A second message of a slot changes its entry, and does not begin the wait anew.
  w_.Hear(w_.SecondCommit(3));
  EXPECT_TRUE(entries.Complete());
}

TEST_F(EntriesTest, MemberWithTwoCommitsOwesNoAgg) {
  Entries entries = Of(Phase::kA);
  for (std::size_t i = 0; i < n(); ++i) {
    w_.Hear(w_.Commit(i));
    if (i != 2) w_.Hear(w_.Aggregate(i));
  }
  EXPECT_FALSE(entries.Complete());
  w_.Hear(w_.SecondCommit(2));
  EXPECT_TRUE(entries.Complete());
}

TEST_F(EntriesTest, EvidenceThatOthersMayNotHoldEndsNoWait) {
  Entries entries = Of(Phase::kA);
  for (std::size_t i = 0; i < n(); ++i) {
    w_.Hear(w_.Commit(i));
    if (i != 2) w_.Hear(w_.Aggregate(i));
  }
  w_.charges.Show(w_.Id(2), Bytes{1});
  ASSERT_TRUE(w_.charges.Against(w_.Id(2)));
  EXPECT_FALSE(entries.Complete());
}

TEST_F(EntriesTest, AbsentMemberAndOneWithTwoCommitsFillNoLaterEntry) {
  SealedMessages sealed = w_.SealedA();
  sealed[1] = sealed[n() + 1] = {};
  sealed[2] = {SealedMessage::State::kEquivocated, nullptr};
  w_.facts.reading.ReadSealA(w_.head(), sealed);
  w_.facts.parent_b = DigestOf(501);
  Entries entries = Of(Phase::kB);
  for (std::size_t i = 0; i < n(); ++i) EXPECT_EQ(entries.PlaceOf(i).has_value(), i != 1 && i != 2);
  for (std::size_t i = 3; i < n(); ++i) w_.Hear(w_.Reveal(i));
  EXPECT_FALSE(entries.Complete());
  w_.Hear(w_.Reveal(0));
  EXPECT_TRUE(entries.Complete());
  for (std::size_t i = 0; i < n(); ++i) {
    EXPECT_EQ(Of(Phase::kC).PlaceOf(i).has_value(), i != 1 && i != 2);
  }
}

TEST_F(EntriesTest, RevealOfAnotherDrawIsNotThisOnes) {
  w_.ReadA();
  w_.Hear(w_.Reveal(1, 0));
  EXPECT_EQ(Of(Phase::kB, 0).EntryNow(1).state, State::kPresent);
  EXPECT_EQ(Of(Phase::kB, 1).EntryNow(1).state, State::kAbsent);
}

TEST_F(EntriesTest, VectorIsHeldOnlyWithEveryMessageThatItNames) {
  const Entries entries = Of(Phase::kA);
  w_.HearPhaseA();
  SealVector vector;
  for (std::size_t i = 0; i < entries.Count(); ++i) vector.push_back(entries.EntryNow(i));
  EXPECT_TRUE(entries.HoldsAll(vector));
  SealVector other = vector;
  other[4].digest = DigestOf(4);
  EXPECT_FALSE(entries.HoldsAll(other));
  other = vector;
  other[4] = {State::kEquivocated, Digest{}};
  EXPECT_FALSE(entries.HoldsAll(other));
  w_.Hear(w_.SecondCommit(4));
  EXPECT_TRUE(entries.HoldsAll(other));
  EXPECT_TRUE(entries.HoldsAll(vector));  // the first message is held still
}

TEST_F(EntriesTest, MessagesOfADecisionAreTheOnesThatItNames) {
  const Entries entries = Of(Phase::kA);
  w_.HearPhaseA();
  SealVector vector;
  for (std::size_t i = 0; i < entries.Count(); ++i) vector.push_back(entries.EntryNow(i));
  vector[1] = {};
  vector[2] = {State::kEquivocated, Digest{}};
  const SealedMessages messages = entries.MessagesOf(vector);
  EXPECT_EQ(messages[0].message->digest, vector[0].digest);
  EXPECT_EQ(messages[1].state, SealedMessage::State::kAbsent);
  EXPECT_EQ(messages[1].message, nullptr);
  EXPECT_EQ(messages[2].state, SealedMessage::State::kEquivocated);
  vector[3].digest = DigestOf(3);
  EXPECT_DEATH(entries.MessagesOf(vector), "CHECK failed");
}

}  // namespace
}  // namespace ostraka::protocol::entries_test
