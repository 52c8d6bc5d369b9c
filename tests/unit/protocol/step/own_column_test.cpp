#include "node/protocol/step/own_column.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "crypto/merkle.h"
#include "crypto/parameters_root.h"
#include "crypto/set_root.h"
#include "node/wire/bitmap.h"
#include "node/wire/codec.h"
#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/step/step_fixture.h"

namespace ostraka::protocol::own_column_test {
namespace {

using scene::DigestOf;
using wire::MessageType;
using wire::Phase;

constexpr std::size_t kSelf = StepWorld::kSelf;

class OwnColumnTest : public testing::Test {
 protected:
  explicit OwnColumnTest(const StepWorld::Edit& edit = nullptr)
      : w_(edit), column_(w_, w_.charges, w_.reports, w_.facts) {}
  void TearDown() override { column_.CheckInvariants(); }

  std::uint32_t mine() const { return *w_.facts.my_column; }
  void HearBoth(std::size_t worker) {
    w_.Hear(w_.Commit(worker));
    w_.HearPart(worker, mine());
    column_.Note(w_.Id(worker));
  }
  void HearBut(std::size_t absent) {
    for (std::size_t i = 0; i < w_.count(); ++i) {
      if (i != absent) HearBoth(i);
    }
  }
  // A member's PART with another blob, under a COMMIT that fits it if `commits`.
  void HearSpoilt(std::size_t worker, const SharedBlob& blob, bool commits) {
    std::vector<Digest> roots;
    for (const SharedBlob& part : w_.PartsOf(worker)) roots.push_back(part->root);
    roots[mine()] = blob->root;
    wire::Commit commit = w_.CommitBody(worker);
    if (commits) commit.gradient_root = crypto::MerkleRoot(roots);
    wire::Part part = w_.PartBody(worker, mine());
    part.root = blob->root;
    part.path = crypto::MerklePath(roots, mine());
    w_.Hear(w_.Say(worker, Phase::kA, MessageType::kCommit, wire::Encode(commit)));
    w_.Hear(w_.Say(worker, Phase::kA, MessageType::kPart, wire::Encode(part), 0, mine()), blob);
    column_.Note(w_.Id(worker));
  }
  void Aggregate() {
    const auto started = w_.Taken<StartJob>();
    ASSERT_EQ(started.size(), 1u);
    ASSERT_TRUE(column_.Owns(started[0].id));
    column_.OnJob(w_.RunJob(started[0]));
    EXPECT_FALSE(column_.Owns(started[0].id));
  }
  // The AGG that this member says now.
  std::optional<wire::Aggregate> SaidAgg() {
    for (const auto& message : w_.UtterAndHear()) {
      if (message->envelope.slot.type != MessageType::kAggregate) continue;
      return wire::Decode<wire::Aggregate>(message->envelope.body).value();
    }
    return std::nullopt;
  }

  StepWorld w_;
  OwnColumn column_;
};

class NoColumnTest : public OwnColumnTest {
 protected:
  NoColumnTest() : OwnColumnTest(Validates(kSelf, 2, 3)) {}
};

TEST_F(OwnColumnTest, AggregateIsComputedOnceWhenEveryPartIsThere) {
  HearBut(4);
  column_.Try();
  EXPECT_FALSE(column_.closed());
  EXPECT_TRUE(w_.Taken<StartJob>().empty());
  HearBoth(4);
  column_.Try();
  EXPECT_TRUE(column_.closed());
  const auto started = w_.Taken<StartJob>();
  ASSERT_EQ(started.size(), 1u);
  const auto& spec = std::get<AggregateSpec>(*started[0].spec);
  EXPECT_EQ(spec.parts.size(), w_.count());
  EXPECT_EQ(spec.tau, w_.head().tau);
  column_.Try();
  EXPECT_TRUE(w_.Taken<StartJob>().empty());
}

TEST_F(OwnColumnTest, AggAndResultStateWhatIsIncluded) {
  HearBut(99);
  column_.Try();
  Aggregate();
  EXPECT_EQ(w_.chain.ResultAt(StepWorld::kStep, mine())->root, w_.ResultOf(mine())->root);
  ASSERT_EQ(w_.StoredRecords(RecordKind::kResult).size(), 1u);
  const auto said = w_.UtterAndHear();
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0]->envelope.body, wire::Encode(w_.AggregateBody(mine())));
  EXPECT_EQ(said[1]->envelope.body, w_.Result(mine())->envelope.body);
  const auto results = w_.Sent(MessageType::kResult);
  ASSERT_EQ(results.size(), w_.count() - 1);
  EXPECT_EQ(results[0].blob->root, w_.ResultOf(mine())->root);
}

TEST_F(OwnColumnTest, WaitEndsWithWhatIsHeld) {
  HearBoth(1);
  HearBoth(3);
  w_.Hear(w_.Commit(4));  // without its part
  column_.Note(w_.Id(4));
  column_.Close();
  column_.Try();
  Aggregate();
  const auto agg = SaidAgg();
  ASSERT_TRUE(agg);
  EXPECT_EQ(agg->included, wire::BitmapOf({w_.Id(1), w_.Id(3)}, w_.head().members));
  EXPECT_EQ(agg->commits_root, crypto::SetRoot({w_.Commit(1)->digest, w_.Commit(3)->digest}));
  EXPECT_FALSE(column_.IsJudged(w_.Id(4)));
}

TEST_F(OwnColumnTest, WithoutAnyPartTheAggSaysThatThereIsNoResult) {
  column_.Close();
  column_.Try();
  EXPECT_TRUE(w_.Taken<StartJob>().empty());
  const auto agg = SaidAgg();
  ASSERT_TRUE(agg);
  EXPECT_TRUE(agg->result_root.is_zero());
  EXPECT_TRUE(w_.Sent(MessageType::kResult).empty());
}

TEST_F(OwnColumnTest, FailedJobVoidsTheColumnAndStopsNobody) {
  HearBut(99);
  column_.Try();
  ASSERT_EQ(w_.Taken<StartJob>().size(), 1u);
  column_.OnJob(JobFailed{"out of memory"});
  EXPECT_EQ(w_.chain.ResultAt(StepWorld::kStep, mine()), nullptr);
  const auto agg = SaidAgg();
  ASSERT_TRUE(agg);
  EXPECT_TRUE(agg->result_root.is_zero());
  EXPECT_EQ(agg->included, wire::BitmapOf(w_.head().members, w_.head().members));
  EXPECT_TRUE(w_.Sent(MessageType::kResult).empty());
}

TEST_F(OwnColumnTest, UnderTwoCommitsNoPartCounts) {
  w_.Hear(w_.Commit(2));
  w_.Hear(w_.SecondCommit(2));
  HearBut(2);
  column_.Try();
  EXPECT_TRUE(column_.IsJudged(w_.Id(2)));
  EXPECT_FALSE(column_.held().contains(w_.Id(2)));
  EXPECT_TRUE(column_.closed());  // and nobody waits for it
  w_.HearPart(2, mine());
  column_.Note(w_.Id(2));
  column_.Try();
  EXPECT_FALSE(column_.held().contains(w_.Id(2)));
}

// The second COMMIT bans its signer, and voids the column if seal A shows it.
TEST_F(OwnColumnTest, SecondCommitAfterThePartWasJudgedLeavesThePartIncluded) {
  HearBoth(2);
  column_.Try();
  w_.Hear(w_.SecondCommit(2));
  column_.Note(w_.Id(2));
  HearBut(2);
  column_.Try();
  EXPECT_TRUE(column_.closed());
  ASSERT_TRUE(column_.held().contains(w_.Id(2)));
  EXPECT_EQ(column_.held().at(w_.Id(2)).commit, w_.Commit(2)->digest);
}

TEST_F(OwnColumnTest, PartThatIsNotUnderItsCommitLeavesEvidenceAndASuspicion) {
  HearSpoilt(2, w_.PartsOf(3)[mine()], false);
  column_.Try();
  EXPECT_TRUE(column_.IsJudged(w_.Id(2)));
  EXPECT_FALSE(column_.held().contains(w_.Id(2)));
  EXPECT_TRUE(w_.charges.Against(w_.Id(2)));
  EXPECT_EQ(w_.StoredRecords(RecordKind::kEvidence).size(), 1u);
  const auto suspicions = w_.Observed<Suspicion>();
  ASSERT_EQ(suspicions.size(), 1u);
  EXPECT_EQ(suspicions[0].peer, w_.Id(2));
  EXPECT_EQ(suspicions[0].check, "part");
}

TEST_F(OwnColumnTest, PartWithNaNIsRefusedThoughItIsUnderItsCommit) {
  base::Bytes data = w_.PartsOf(2)[mine()]->data;
  const float bad = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(data.data(), &bad, sizeof bad);
  HearSpoilt(2, crypto::MakeBlob(data), true);
  column_.Try();
  EXPECT_TRUE(column_.IsJudged(w_.Id(2)));
  EXPECT_FALSE(column_.held().contains(w_.Id(2)));
  EXPECT_EQ(w_.Observed<Suspicion>().size(), 1u);
  EXPECT_FALSE(w_.charges.Against(w_.Id(2)));  // the two frames prove nothing
}

TEST_F(OwnColumnTest, CommitOfAnotherHistoryIsWaitedFor) {
  w_.Hear(
      w_.SayUnder(DigestOf(9), 2, Phase::kA, MessageType::kCommit, wire::Encode(w_.CommitBody(2))));
  w_.HearPart(2, mine());
  column_.Note(w_.Id(2));
  column_.Try();
  EXPECT_FALSE(column_.IsJudged(w_.Id(2)));
  EXPECT_TRUE(w_.Observed<Suspicion>().empty());
}

TEST_F(OwnColumnTest, AggThatWasSaidBeforeACrashIsNotComputedAgain) {
  HearBut(99);
  w_.Hear(w_.Aggregate(kSelf));
  column_.Try();
  EXPECT_EQ(column_.held().size(), w_.count());  // for V1
  EXPECT_TRUE(w_.Taken<StartJob>().empty());
}

TEST_F(OwnColumnTest, RestartedMemberSaysItsResultAgainWithTheDataOfItsStore) {
  std::vector<Record> slots;
  {
    StepWorld before;
    OwnColumn column(before, before.charges, before.reports, before.facts);
    for (std::size_t i = 0; i < before.count(); ++i) {
      before.Hear(before.Commit(i));
      before.HearPart(i, *before.facts.my_column);
    }
    column.Try();
    column.OnJob(before.RunJob(before.Taken<StartJob>().at(0)));
    slots = before.StoredRecords(RecordKind::kSlot);
  }
  column_.SendResultAgain();
  EXPECT_TRUE(w_.Taken<Send>().empty());  // no result is kept
  w_.chain.KeepResult(StepWorld::kStep, mine(), w_.ResultOf(mine()));
  column_.SendResultAgain();
  EXPECT_TRUE(w_.Taken<Send>().empty());  // and none was said
  EXPECT_TRUE(w_.Taken<Store>().empty());
  ASSERT_TRUE(w_.journal.Restore(slots, w_.manifest->run_id, w_.head().members).ok());
  column_.SendResultAgain();
  const auto results = w_.Sent(MessageType::kResult);
  ASSERT_EQ(results.size(), w_.count() - 1);
  EXPECT_EQ(results[0].blob->root, w_.ResultOf(mine())->root);
  EXPECT_TRUE(w_.Taken<Store>().empty());
}

TEST_F(OwnColumnTest, AggNamesTheSlowestSenderButNeverThisMember) {
  LateWatch::Options options;
  options.opened = w_.now();
  options.delta = StepWorld::kDelta;
  options.patience = base::Seconds(1);
  options.deadline = base::Seconds(60);
  options.members = w_.count();
  options.quorum = 4;
  options.fault_bound = 2;
  options.owns_column = true;
  for (const std::size_t last : {std::size_t{3}, kSelf}) {
    StepWorld w;
    OwnColumn column(w, w.charges, w.reports, w.facts);
    LateWatch& watch = w.reports.WatchLateness(options);
    for (std::size_t i = 0; i < w.count(); ++i) {
      watch.Expect({DueMessage::kCommit, i}, i);
      watch.Expect({DueMessage::kPart, i}, i);
    }
    for (std::size_t i = 0; i < w.count(); ++i) {
      watch.Held({DueMessage::kCommit, i}, w.now());
      if (i != last) watch.Held({DueMessage::kPart, i}, w.now());
    }
    column.Close();
    column.Try();
    const auto own = w.Utter();
    ASSERT_EQ(own.size(), 1u);
    const auto agg = wire::Decode<wire::Aggregate>(own[0].message->envelope.body).value();
    EXPECT_EQ(agg.slowest, last == kSelf ? std::nullopt : std::optional(w.Id(last)));
  }
}

TEST_F(NoColumnTest, MemberWithoutAColumnDoesNothing) {
  EXPECT_FALSE(column_.owned());
  column_.Close();
  column_.Try();
  column_.SendResultAgain();
  EXPECT_TRUE(w_.out.actions().empty());
}

// --- profile exact/1 ---

class ExactColumnTest : public OwnColumnTest {
 protected:
  ExactColumnTest()
      : OwnColumnTest([](Manifest& manifest, Block&) {
          manifest.compute_profile = kExact;
          manifest.eps_g = 0;
        }) {}
  Digest Own() const { return crypto::ParametersRoot(*w_.chain.state().parameters); }
  void HearAstray(std::size_t worker) {
    wire::Commit commit = w_.CommitBody(worker);
    commit.parameters_root = scene::DigestOf(4);
    w_.Hear(w_.Say(worker, Phase::kA, MessageType::kCommit, wire::Encode(commit)));
    w_.HearPart(worker, mine());
    column_.Note(w_.Id(worker));
  }
};

TEST_F(ExactColumnTest, NothingIsJudgedBeforeTheOwnParametersAreKnown) {
  HearBut(99);
  column_.Close();
  column_.Try();
  EXPECT_TRUE(w_.Taken<StartJob>().empty());
  EXPECT_TRUE(column_.held().empty());
  column_.Expect(Own());
  column_.Try();
  EXPECT_EQ(column_.held().size(), w_.count());
  EXPECT_EQ(w_.Taken<StartJob>().size(), 1u);
}

TEST_F(ExactColumnTest, PartOfAnotherModelIsLeftOutWithoutSuspicion) {
  column_.Expect(Own());
  HearBut(3);
  HearAstray(3);
  column_.Try();
  EXPECT_TRUE(column_.closed()) << "nobody waits for it";
  EXPECT_FALSE(column_.held().contains(w_.Id(3)));
  EXPECT_TRUE(w_.Observed<Suspicion>().empty());
  EXPECT_TRUE(w_.StoredRecords(RecordKind::kEvidence).empty());
  const auto started = w_.Taken<StartJob>();
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(std::get<AggregateSpec>(*started[0].spec).parts.size(), w_.count() - 1);
}

}  // namespace
}  // namespace ostraka::protocol::own_column_test
