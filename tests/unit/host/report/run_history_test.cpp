#include "node/host/report/run_history.h"

#include <gmock/gmock.h>
#include <malloc.h>

#include <memory>
#include <utility>

namespace ostraka::host::run_history_test {
namespace {

using base::Milliseconds;
using base::PeerId;
using base::Time;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

PeerId PeerOf(std::uint8_t n) {
  PeerId id;
  id.bytes.fill(n);
  return id;
}

Time At(std::int64_t ms) { return Time{} + Milliseconds(ms); }

protocol::StepDone Done(wire::Block block) {
  return {std::make_shared<const wire::Block>(std::move(block)), {}};
}

wire::Block BlockOf(std::uint64_t step) {
  wire::Block block;
  block.step = step;
  block.members = {PeerOf(1), PeerOf(2), PeerOf(3)};
  return block;
}

protocol::StepStarted Begin(std::uint64_t step) {
  protocol::StepStarted started;
  started.step = step;
  started.roles.workers = {PeerOf(1), PeerOf(2)};
  started.roles.validators = {{PeerOf(3), PeerOf(1), step, {}}};
  return started;
}

protocol::Sealed Seal(std::uint64_t step, wire::Phase phase) {
  return {.step = step, .phase = static_cast<std::uint8_t>(phase), .decision = {}};
}

wire::Removal RemovalOf(std::uint8_t peer, std::uint64_t step) {
  return {PeerOf(peer), wire::RemovalKind::kDrop, step, {.old_text = "silent"}};
}

protocol::Record Evidence(std::uint8_t accused, std::uint8_t id) {
  wire::EvidenceFile file;
  file.accused = PeerOf(accused);
  file.kind = wire::EvidenceKind::kEquivocation;
  file.frames = {base::Bytes{1}, base::Bytes{2}};
  const base::Digest digest = [id] {
    base::Digest made;
    made.bytes.fill(id);
    return made;
  }();
  return {protocol::RecordKind::kEvidence,
          {digest.bytes.begin(), digest.bytes.end()},
          wire::EncodeEvidence(file)};
}

class RunHistoryTest : public ::testing::Test {
 protected:
  // A whole step: 10 ms to seal A, 20 to B, 30 to C, 40 to the block.
  void Step(std::uint64_t step, std::int64_t ms) {
    history_.See(At(ms), Begin(step));
    history_.See(At(ms + 10), Seal(step, wire::Phase::kA));
    history_.See(At(ms + 30), Seal(step, wire::Phase::kB));
    history_.See(At(ms + 60), Seal(step, wire::Phase::kC));
    history_.See(At(ms + 100), Done(BlockOf(step)));
  }

  RunHistory history_;
};

TEST_F(RunHistoryTest, IsEmptyBeforeTheRun) {
  EXPECT_EQ(history_.block(), nullptr);
  EXPECT_THAT(history_.spans(), IsEmpty());
  EXPECT_TRUE(history_.curve().empty());
  EXPECT_FALSE(history_.root().has_value());
}

TEST_F(RunHistoryTest, CutsAStepIntoItsPhases) {
  Step(4, 1000);
  history_.See(At(1100), protocol::StepTimes{4, 1, 2, 3});
  ASSERT_THAT(history_.spans(), SizeIs(1));
  const StepSpan& span = history_.spans().front();
  EXPECT_EQ(span.step, 4u);
  EXPECT_EQ(span.collect, Milliseconds(10));
  EXPECT_EQ(span.reveal, Milliseconds(20));
  EXPECT_EQ(span.prove, Milliseconds(30));
  EXPECT_EQ(span.settle, Milliseconds(40));
  EXPECT_EQ(span.Whole(), Milliseconds(100));
  EXPECT_EQ(span.times.agree_ns, 3);
  EXPECT_FALSE(span.slow);
}

TEST_F(RunHistoryTest, TimesThatComeBeforeTheBlockBelongToItsStep) {
  history_.See(At(0), Begin(0));
  history_.See(At(1), protocol::StepTimes{0, 7, 8, 9});
  history_.See(At(2), protocol::SlowSeal{0, 1, 1, "waits"});
  history_.See(At(3), Done(BlockOf(0)));
  ASSERT_THAT(history_.spans(), SizeIs(1));
  EXPECT_EQ(history_.spans().front().times.compute_ns, 7);
  EXPECT_TRUE(history_.spans().front().slow);
}

TEST_F(RunHistoryTest, ACoinThatIsDrawnAgainAddsToTheReveal) {
  history_.See(At(0), Begin(0));
  history_.See(At(10), Seal(0, wire::Phase::kA));
  history_.See(At(20), Seal(0, wire::Phase::kB));
  history_.See(At(50), Seal(0, wire::Phase::kB));
  history_.See(At(60), Done(BlockOf(0)));
  EXPECT_EQ(history_.spans().front().reveal, Milliseconds(40));
}

TEST_F(RunHistoryTest, ABlockOfAStepThatDidNotBeginHereHasNoSpan) {
  history_.See(At(0), Begin(0));
  history_.See(At(1), protocol::Away{0, "fell behind"});
  history_.See(At(2), Done(BlockOf(0)));
  EXPECT_THAT(history_.spans(), IsEmpty());
  EXPECT_EQ(history_.away(), "fell behind");
  history_.See(At(3), protocol::Back{1});
  EXPECT_EQ(history_.away(), "");
}

TEST_F(RunHistoryTest, KeepsTheLastSpansOnly) {
  for (std::uint64_t step = 0; step < 100'000; ++step) {
    Step(step, static_cast<std::int64_t>(step) * 100);
  }
  EXPECT_THAT(history_.spans(), SizeIs(RunHistory::kSpans));
  EXPECT_EQ(history_.spans().back().step, 99'999u);
  EXPECT_THAT(history_.work(), SizeIs(2)) << "the validator and its target";
}

// What the heap holds must not depend on the length of the run: H4.
TEST_F(RunHistoryTest, TenTimesTheStepsTakeNoMoreMemory) {
  auto run_to = [this, step = std::uint64_t{0}](std::uint64_t end) mutable {
    for (; step < end; ++step) {
      Step(step, static_cast<std::int64_t>(step) * 100);
      history_.SeeEvaluation(step, {.metric = "accuracy", .value = 0.5, .loss = 1});
      wire::Block block = BlockOf(step);
      block.removals = {RemovalOf(2, step)};
      block.joined = {PeerOf(2)};
      history_.See(At(0), Done(block));
      history_.SeeStored(Evidence(2, static_cast<std::uint8_t>(step % 250)));
      history_.See(At(0), protocol::Suspicion{step, PeerOf(2), "V1", "false"});
    }
    return mallinfo2().uordblks;
  };
  const std::size_t at_ten_thousand = run_to(10'000);
  const std::size_t at_hundred_thousand = run_to(100'000);
  EXPECT_LE(at_hundred_thousand, at_ten_thousand + 4096);
}

// H2: of four workers only the first has both a sealed PROOF and a part in an applied column.
TEST_F(RunHistoryTest, CountsWorkThatEnteredTheModelUnderASealedProof) {
  wire::Block block = BlockOf(0);
  block.columns = {wire::ColumnFate::kApplied, wire::ColumnFate::kSumCheck};
  block.aggregated = {{PeerOf(1), {PeerOf(1), PeerOf(2)}}, {PeerOf(2), {PeerOf(1), PeerOf(3)}}};
  block.proven = {PeerOf(1), PeerOf(3), PeerOf(4)};
  history_.See(At(0), Done(block));
  EXPECT_EQ(history_.work().at(PeerOf(1)).steps, 1u);
  EXPECT_THAT(history_.work(), SizeIs(1));
}

TEST_F(RunHistoryTest, CountsChecksOfBothSides) {
  history_.See(At(0), Begin(0));
  history_.See(At(1), Begin(1));
  EXPECT_EQ(history_.work().at(PeerOf(1)), (MemberWork{.steps = 0, .checked = 2, .checks = 0}));
  EXPECT_EQ(history_.work().at(PeerOf(3)), (MemberWork{.steps = 0, .checked = 0, .checks = 2}));
  EXPECT_THAT(history_.workers(), ElementsAre(PeerOf(1), PeerOf(2)));
  EXPECT_THAT(history_.validators(), ElementsAre(PeerOf(3)));
}

TEST_F(RunHistoryTest, AReturnBelongsToTheLastRemoval) {
  for (const std::uint64_t step : {3U, 9U}) {
    wire::Block block = BlockOf(step);
    block.removals = {RemovalOf(2, step), RemovalOf(3, step)};
    history_.See(At(0), Done(block));
  }
  wire::Block block = BlockOf(12);
  block.joined = {PeerOf(2)};
  history_.See(At(0), Done(block));
  const auto& past = history_.removals();
  ASSERT_THAT(past, SizeIs(4));
  EXPECT_EQ(past[0].returned, std::nullopt);
  EXPECT_EQ(past[2].removal.peer, PeerOf(2));
  EXPECT_EQ(past[2].returned, 12u);
  EXPECT_EQ(past[3].returned, std::nullopt);
}

TEST_F(RunHistoryTest, ABanOrSuspensionByVotesHasTheVotesThatDecidedIt) {
  using wire::Verdict;
  wire::Block block = BlockOf(5);
  block.removals = {
      {PeerOf(2), wire::RemovalKind::kVerdict, 5, {.old_text = "accused falsely"}},
      {PeerOf(3), wire::RemovalKind::kEvidence, 5, {.old_text = "two messages"}},
      {PeerOf(9), wire::RemovalKind::kDrop, 5, {.old_text = "a false gradient, the first one"}},
      {PeerOf(10), wire::RemovalKind::kDrop, 5, {.old_text = "silent"}}};
  protocol::StepDone done = Done(block);
  // The accuser loses: its target is innocent.
  done.ruled = {{PeerOf(9), Verdict::kGuilty, {{PeerOf(8), Verdict::kGuilty}}, 1},
                {PeerOf(2),
                 Verdict::kInnocent,
                 {{PeerOf(4), Verdict::kInnocent},
                  {PeerOf(5), Verdict::kGuilty},
                  {PeerOf(6), Verdict::kAbstain},
                  {PeerOf(7), Verdict::kInnocent}},
                 5},
                {PeerOf(3), Verdict::kGuilty, {{PeerOf(4), Verdict::kGuilty}}, 5}};
  history_.See(At(0), done);
  ASSERT_THAT(history_.removals(), SizeIs(4));
  const auto& votes = history_.removals()[0].votes;
  ASSERT_TRUE(votes.has_value());
  EXPECT_THAT(votes->against, ElementsAre(PeerOf(4), PeerOf(7)));
  EXPECT_THAT(votes->in_favour, ElementsAre(PeerOf(5)));
  EXPECT_EQ(votes->voters, 5u);
  EXPECT_FALSE(history_.removals()[1].votes.has_value()) << "evidence needs none";
  ASSERT_TRUE(history_.removals()[2].votes.has_value());
  EXPECT_THAT(history_.removals()[2].votes->against, ElementsAre(PeerOf(8)));
  EXPECT_FALSE(history_.removals()[3].votes.has_value()) << "nobody votes about silence";
}

TEST_F(RunHistoryTest, ARecalledBlockCountsOnceThoughItIsSeenAgain) {
  wire::Block first = BlockOf(3);
  first.drawn = {{PeerOf(3), PeerOf(1), 4, {}}};
  wire::Block second = BlockOf(4);
  second.columns = {wire::ColumnFate::kApplied};
  second.aggregated = {{PeerOf(1), {PeerOf(1)}}};
  second.proven = {PeerOf(1)};
  second.removals = {RemovalOf(2, 4)};
  history_.RecallBlock({}, first);
  history_.RecallBlock(first.drawn, second);
  const MemberWork worked{.steps = 1, .checked = 1, .checks = 0};
  EXPECT_EQ(history_.work().at(PeerOf(1)), worked);
  EXPECT_EQ(history_.counted_from(), 3u);
  // The update of step 4 was lost in the crash, so the machine begins after step 3.
  history_.See(At(0), protocol::Resumed{std::make_shared<const wire::Block>(first), {}});
  history_.See(At(0), Begin(4));
  history_.See(At(1), Done(second));
  EXPECT_EQ(history_.work().at(PeerOf(1)), worked);
  EXPECT_THAT(history_.removals(), SizeIs(1));
  EXPECT_EQ(history_.block()->step, 4u);
  history_.See(At(2), Begin(5));
  EXPECT_EQ(history_.work().at(PeerOf(1)).checked, 2u);
}

TEST_F(RunHistoryTest, NoListOutgrowsItsBound) {
  for (std::uint64_t step = 0; step < 2000; ++step) {
    wire::Block block = BlockOf(step);
    block.removals = {RemovalOf(2, step)};
    history_.See(At(0), Done(block));
    history_.SeeStored(Evidence(2, static_cast<std::uint8_t>(step % 250)));
  }
  EXPECT_THAT(history_.removals(), SizeIs(RunHistory::kMostRemovals));
  EXPECT_EQ(history_.removals().back().removal.step, 1999u);
  EXPECT_THAT(history_.proofs(), SizeIs(RunHistory::kMostProofs));
  for (std::uint64_t i = 0; i < 2 * RunHistory::kMostPeers; ++i) {
    protocol::StepStarted begun;
    PeerId peer;
    peer.bytes[0] = static_cast<std::uint8_t>(i);
    peer.bytes[1] = static_cast<std::uint8_t>(i >> 8);
    begun.roles.validators = {{peer, peer, 0, {}}};
    history_.See(At(0), begun);
  }
  EXPECT_THAT(history_.work(), SizeIs(RunHistory::kMostPeers));
}

TEST_F(RunHistoryTest, NotesEvidenceAndNothingElseThatIsStored) {
  history_.SeeStored({protocol::RecordKind::kSlot, {1}, {2}});
  history_.SeeStored({protocol::RecordKind::kEvidence, {1}, {2}});  // no evidence file
  EXPECT_THAT(history_.proofs(), IsEmpty());
  history_.SeeStored(Evidence(3, 7));
  ASSERT_THAT(history_.proofs(), SizeIs(1));
  EXPECT_EQ(history_.proofs().front().accused, PeerOf(3));
  EXPECT_EQ(history_.proofs().front().id.bytes[5], 7);
  EXPECT_EQ(history_.proofs().front().frames, 2u);
}

TEST_F(RunHistoryTest, KnowsTheNewestSealedRootAndTheNewestBlock) {
  wire::Block with_root = BlockOf(10);
  with_root.state_root = base::Digest{};
  with_root.state_root->bytes.fill(9);
  history_.See(At(0), Done(with_root));
  history_.See(At(0), Done(BlockOf(11)));
  ASSERT_TRUE(history_.root().has_value());
  EXPECT_EQ(history_.root()->step, 10u);
  EXPECT_EQ(history_.root()->root, *with_root.state_root);
  EXPECT_EQ(history_.block()->step, 11u);
}

TEST_F(RunHistoryTest, ARestoredBlockIsTheNewest) {
  history_.See(At(0), protocol::Resumed{std::make_shared<const wire::Block>(BlockOf(7)), {}});
  EXPECT_EQ(history_.block()->step, 7u);
  EXPECT_THAT(history_.removals(), IsEmpty());
}

TEST_F(RunHistoryTest, EvaluationsBecomeTheCurve) {
  history_.SeeEvaluation(9, {.metric = "accuracy", .value = 0.5, .loss = 1.5});
  EXPECT_EQ(history_.metric(), "accuracy");
  EXPECT_THAT(history_.curve().Points(), ElementsAre(CurvePoint{9, 1.5, 0.5}));
}

TEST_F(RunHistoryTest, RemembersWhoVouchedForAKeyThatCameIn) {
  wire::Voucher voucher;
  voucher.moderator = PeerOf(20);
  wire::Block asks = BlockOf(3);
  asks.candidates = {{PeerOf(8), 2, 3, voucher}, {PeerOf(9), 2, 3, {}}};
  wire::Block comes = BlockOf(4);
  comes.joined = {PeerOf(8), PeerOf(9)};
  history_.RecallBlock({}, asks);
  EXPECT_THAT(history_.vouched(), IsEmpty());
  history_.See(At(0), Done(comes));
  EXPECT_THAT(history_.vouched(), ElementsAre(Pair(PeerOf(8), PeerOf(20))));
  wire::Block again = BlockOf(6);
  again.joined = {PeerOf(9)};
  history_.See(At(0), Done(BlockOf(5)));
  history_.See(At(0), Done(again));
  EXPECT_THAT(history_.vouched(), SizeIs(1)) << "no candidacy in the block before";
}

}  // namespace
}  // namespace ostraka::host::run_history_test
