// Parts and results that did not arrive: what disputes a pair, and who loses when it fails again.
#include "node/protocol/rules/disputes.h"

#include <gtest/gtest.h>

#include "node/protocol/rules/judgement.h"
#include "node/wire/limits.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::disputes_test {
namespace {

using scene::Banned;
using scene::DigestOf;
using scene::HonestStep;
using scene::MakeHonestStep;
using scene::ManifestOf;
using scene::PeerNumber;
using scene::PeersUpTo;
using scene::Removed;
using wire::RemovalKind;

constexpr std::uint64_t kStep = 200;
constexpr std::uint32_t kWorker = 5;

// Eight members, t_s = 3; what fails, if anything, fails between member 5 and the owner of
// column 2.
class DisputeTest : public testing::Test {
 protected:
  DisputeTest() : step_(MakeHonestStep({.step = kStep})) {
    column_ = 2;
    if (step_.sealed.roles.owners[column_] == PeerNumber(kWorker)) column_ = 3;
    owner_ = step_.sealed.roles.owners[column_];
  }
  void LeaveOut(const PeerId& worker) {
    std::vector<PeerId> senders = step_.Senders(column_);
    std::erase(senders, worker);
    step_.SetSenders(column_, senders);
  }
  void Miss(const PeerId& worker) {
    step_.ProofOf(worker).columns[column_] = {.missing = true, .s = {}, .norm = 0};
  }
  Dispute Between(std::uint64_t since) const { return {PeerNumber(kWorker), owner_, since}; }
  // So many members state that they held the part, or the result, of dispute 0.
  void Held(std::uint32_t count, bool result) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::set<std::size_t> one = {0};
      const std::set<std::size_t> none;
      step_.ProofOf(PeerNumber(i)).held =
          HeldBitmap(step_.head, result ? none : one, result ? one : none);
    }
  }
  std::vector<int> Loser() { return Removed(step_.Judge()); }
  int OwnerNumber() const { return owner_.bytes[7]; }

  HonestStep step_;
  std::uint32_t column_ = 0;
  PeerId owner_;
};

// --- the first failure
// ----------------------------------------------------------------------------

TEST_F(DisputeTest, AnHonestStepHasNone) { EXPECT_TRUE(step_.Judge().disputes.empty()); }

TEST_F(DisputeTest, AWorkerLeftOutDisputesThePairAndRemovesNobody) {
  LeaveOut(PeerNumber(kWorker));
  const Block block = step_.Judge();
  EXPECT_TRUE(block.removals.empty());
  ASSERT_EQ(block.disputes.size(), 1u);
  EXPECT_EQ(block.disputes[0].worker, PeerNumber(kWorker));
  EXPECT_EQ(block.disputes[0].aggregator, owner_);
  EXPECT_EQ(block.disputes[0].since, kStep);
}

TEST_F(DisputeTest, SoDoesAMissingResult) {
  Miss(PeerNumber(kWorker));
  const Block block = step_.Judge();
  ASSERT_EQ(block.disputes.size(), 1u);
  EXPECT_EQ(block.disputes[0].aggregator, owner_);
  EXPECT_EQ(block.columns[column_], ColumnFate::kMissingNumbers);
}

TEST_F(DisputeTest, BothInOneStepAreOneDispute) {
  LeaveOut(PeerNumber(kWorker));
  Miss(PeerNumber(kWorker));
  EXPECT_EQ(step_.Judge().disputes.size(), 1u);
}

TEST_F(DisputeTest, NobodyDisputesItself) {
  LeaveOut(owner_);
  Miss(owner_);
  EXPECT_TRUE(step_.Judge().disputes.empty());
}

TEST_F(DisputeTest, WithoutAResultNothingIsMissedAndWhoIsLeftOutDisputes) {
  step_.AggregateOf(column_).result_root = {};
  Miss(PeerNumber(kWorker));
  EXPECT_TRUE(step_.Judge().disputes.empty());
  LeaveOut(PeerNumber(kWorker));
  EXPECT_EQ(step_.Judge().disputes.size(), 1u);
}

TEST_F(DisputeTest, AnOwnerThatLeavesOutAllIsInDisputeWithTooMany) {
  step_.AggregateOf(column_).result_root = {};
  step_.SetSenders(column_, {});
  EXPECT_EQ(Loser(), std::vector<int>{OwnerNumber()});
}

TEST_F(DisputeTest, AWorkerWithoutACommitIsOwedNothing) {
  LeaveOut(PeerNumber(kWorker));
  step_.sealed.commits.at(PeerNumber(kWorker)).gradient_root.reset();
  EXPECT_TRUE(step_.Judge().disputes.empty());
}

// It is no loss in this step (JudgeStep hears of it by its faults), so the pair would be in
// dispute.
TEST_F(DisputeTest, AWorkerWithOtherParametersIsOwedNothing) {
  LeaveOut(PeerNumber(kWorker));
  step_.sealed.astray = {PeerNumber(kWorker)};
  EXPECT_TRUE(step_.Judge().disputes.empty());
}

// Profile exact/1, where too few COMMITs name the same parameters: an owner takes no part that was
// computed from others than its own, and both may be honest.
TEST_F(DisputeTest, WithoutAgreedParametersOthersThanTheOwnersOweItNothing) {
  for (auto& [member, commit] : step_.sealed.commits) commit.parameters_root = DigestOf(1);
  LeaveOut(PeerNumber(kWorker));
  EXPECT_EQ(step_.Judge().disputes.size(), 1u);
  step_.sealed.commits[PeerNumber(kWorker)].parameters_root = DigestOf(2);
  EXPECT_TRUE(step_.Judge().disputes.empty());
  step_.head.disputes = {Between(kStep - 1)};
  EXPECT_TRUE(Loser().empty()) << "nor does the pair lose anybody";
  Held(6, false);
  EXPECT_TRUE(Loser().empty());
}

TEST_F(DisputeTest, AnAggThatIsAbsentDisputesNobody) {
  step_.sealed.aggregates[column_].reset();
  for (const PeerId& member : step_.head.members) Miss(member);
  EXPECT_TRUE(step_.Judge().disputes.empty());
}

TEST_F(DisputeTest, OnlyOfMembersThatStay) {
  LeaveOut(PeerNumber(kWorker));
  EXPECT_TRUE(step_.Judge(Banned({kWorker})).disputes.empty());
}

TEST_F(DisputeTest, LivesAHundredStepsFromItsFirstFailure) {
  LeaveOut(PeerNumber(kWorker));
  Held(0, false);
  struct Row {
    std::uint64_t since, after;
  };
  for (const Row& row : {Row{kStep - 99, kStep - 99}, Row{kStep - 100, kStep}}) {
    step_.head.disputes = {Between(row.since)};
    const auto disputes =
        DisputesAfter(step_.head, kStep, FailedPairs(step_.sealed, step_.head), {});
    ASSERT_EQ(disputes.size(), 1u);
    EXPECT_EQ(disputes[0].since, row.after);
  }
  HonestStep honest = MakeHonestStep({.step = kStep});
  honest.head.disputes = {Between(kStep - 100)};
  EXPECT_TRUE(honest.Judge().disputes.empty());
}

// --- a result that too many miss
// ------------------------------------------------------------------

TEST_F(DisputeTest, MoreThanTheFaultsMissingAResultDropItsOwner) {
  int missed = 0;
  for (const PeerId& member : step_.head.members) {
    if (member == owner_) continue;
    EXPECT_TRUE(missed > 3 || step_.Judge().removals.empty()) << missed;
    Miss(member);
    if (++missed == 4) break;
  }
  const Block block = step_.Judge();
  EXPECT_EQ(Removed(block), std::vector<int>{OwnerNumber()});
  EXPECT_EQ(block.removals[0].kind, RemovalKind::kDrop);
  EXPECT_TRUE(block.disputes.empty());
}

// --- a pair that fails again
// ----------------------------------------------------------------------

TEST_F(DisputeTest, APartThatOthersHeldAndTheOwnerLeftOutDropsTheOwner) {
  step_.head.disputes = {Between(kStep - 1)};
  LeaveOut(PeerNumber(kWorker));
  Held(4, false);
  EXPECT_EQ(Loser(), std::vector<int>{OwnerNumber()});
}

TEST_F(DisputeTest, APartThatNoHonestMemberHeldDropsTheWorker) {
  step_.head.disputes = {Between(kStep - 1)};
  LeaveOut(PeerNumber(kWorker));
  Held(3, false);
  EXPECT_EQ(Loser(), std::vector<int>{static_cast<int>(kWorker)});
}

TEST_F(DisputeTest, AResultThatOthersHeldAndTheWorkerMissesDropsTheWorker) {
  step_.head.disputes = {Between(kStep - 1)};
  Miss(PeerNumber(kWorker));
  Held(4, true);
  EXPECT_EQ(Loser(), std::vector<int>{static_cast<int>(kWorker)});
}

TEST_F(DisputeTest, AResultThatNoHonestMemberHeldDropsTheOwner) {
  step_.head.disputes = {Between(kStep - 1)};
  Miss(PeerNumber(kWorker));
  Held(4, false);  // the part, which nobody asked for
  EXPECT_EQ(Loser(), std::vector<int>{OwnerNumber()});
}

TEST_F(DisputeTest, APairThatDoesItsWorkLosesNobodyAndStaysInDispute) {
  step_.head.disputes = {Between(kStep - 1)};
  const Block block = step_.Judge();
  EXPECT_TRUE(block.removals.empty());
  ASSERT_EQ(block.disputes.size(), 1u);
  EXPECT_EQ(block.disputes[0].since, kStep - 1);
}

TEST_F(DisputeTest, WhoIsGoneAnywayIsNoReasonToDropTheOther) {
  step_.head.disputes = {Between(kStep - 1)};
  LeaveOut(PeerNumber(kWorker));
  Held(4, false);
  EXPECT_EQ(Removed(step_.Judge(Banned({kWorker}))), std::vector<int>{static_cast<int>(kWorker)});
}

TEST_F(DisputeTest, APairThatDoesNotMeetIsLeftAlone) {
  step_.head.disputes = {Between(kStep - 1)};
  step_.head.drawn = {{PeerNumber(kWorker), owner_, kStep - 2, {}}};
  const Roles roles = AssignRoles(step_.head, 160);
  EXPECT_TRUE(LivePairsOf(step_.head, roles).empty());
  const auto pairs = LivePairsOf(step_.head, step_.sealed.roles);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].index, 0u);
  EXPECT_EQ(pairs[0].column, column_);
}

// --- what members state
// ---------------------------------------------------------------------------

TEST(HeldBitmapTest, SaysBothOfEveryDispute) {
  Block head;
  for (std::uint32_t i = 0; i < 5; ++i) head.disputes.push_back({PeerNumber(i), PeerNumber(9), 0});
  const base::Bytes held = HeldBitmap(head, {0, 4}, {3});
  EXPECT_EQ(held, (base::Bytes{0x11, 0x01}));
  for (std::size_t d = 0; d < 5; ++d) {
    EXPECT_EQ(HeldPart(held, d), d == 0 || d == 4) << d;
    EXPECT_EQ(HeldResult(held, d, 5), d == 3) << d;
    EXPECT_FALSE(HeldPart({}, d) || HeldResult({}, d, 5));
  }
}

// --- too many disputes
// ----------------------------------------------------------------------------

TEST(DropDisputedTest, MoreThanTheRunBore) {
  Block head;
  head.peak_t_s = 3;
  std::vector<Dispute> disputes;
  // As worker or as aggregator, and one peer twice: three.
  for (std::uint32_t i = 1; i < 4; ++i) disputes.push_back({PeerNumber(0), PeerNumber(i), 5});
  disputes.push_back({PeerNumber(1), PeerNumber(0), 5});
  Docket docket(PeersUpTo(7), PeersUpTo(8));
  disputes.push_back({PeerNumber(7), PeerNumber(0), 5});  // has left
  DropDisputed(disputes, head, 6, docket);
  EXPECT_TRUE(docket.Losers().empty());

  disputes.push_back({PeerNumber(5), PeerNumber(0), 5});
  DropDisputed(disputes, head, 6, docket);
  EXPECT_EQ(docket.Losers(), (std::map<PeerId, FaultKind>{{PeerNumber(0), FaultKind::kDrop}}));
  std::vector<PeerId> stay = PeersUpTo(7);
  std::erase(stay, PeerNumber(0));
  EXPECT_TRUE(KeptDisputes(disputes, stay).empty());
}

TEST(DropDisputedTest, ARunThatBearsNoFaultDropsNobodyForOne) {
  Docket docket(PeersUpTo(3), PeersUpTo(3));
  DropDisputed({{PeerNumber(0), PeerNumber(1), 5}}, Block(), 6, docket);
  EXPECT_TRUE(docket.Losers().empty());
}

// Attack: far newcomers, one after the other, that are late to one honest member.
class FreshDisputesTest : public testing::Test {
 protected:
  // Members 0 to 7, of which `fresh` came in step 10; each has a dispute with member 0.
  FreshDisputesTest() { head_.peak_t_s = 1; }
  void Came(std::uint32_t number, std::uint64_t step) {
    head_.standings.push_back({.peer = PeerNumber(number), .came_step = step});
  }
  std::map<PeerId, FaultKind> LosersOf(const std::vector<Dispute>& disputes,
                                       std::uint64_t step) const {
    Docket docket(PeersUpTo(8), PeersUpTo(8));
    DropDisputed(disputes, head_, step, docket);
    return docket.Losers();
  }
  Block head_;
};

TEST_F(FreshDisputesTest, CountForTheNewcomerAlone) {
  Came(1, 10);
  Came(2, 10);
  const std::vector<Dispute> disputes = {{PeerNumber(1), PeerNumber(0), 20},
                                         {PeerNumber(0), PeerNumber(2), 20}};
  EXPECT_TRUE(LosersOf(disputes, 20).empty());
  EXPECT_TRUE(LosersOf(disputes, 1009).empty());
  EXPECT_TRUE(LosersOf(disputes, 1010).contains(PeerNumber(0))) << "they are fresh no more";
}

TEST_F(FreshDisputesTest, ANewcomerIsDroppedForThem) {
  Came(1, 10);
  const std::vector<Dispute> disputes = {{PeerNumber(1), PeerNumber(3), 20},
                                         {PeerNumber(4), PeerNumber(1), 20}};
  EXPECT_EQ(LosersOf(disputes, 20),
            (std::map<PeerId, FaultKind>{{PeerNumber(1), FaultKind::kDrop}}));
}

TEST_F(FreshDisputesTest, OfTwoNewcomersTheyCountForBoth) {
  for (const std::uint32_t number : {1u, 2u, 3u}) Came(number, 10);
  const std::vector<Dispute> disputes = {{PeerNumber(1), PeerNumber(2), 20},
                                         {PeerNumber(3), PeerNumber(1), 20}};
  EXPECT_TRUE(LosersOf(disputes, 20).contains(PeerNumber(1)));
}

TEST_F(FreshDisputesTest, WhoOnlyReturnedIsNotFresh) {
  head_.standings = {{.peer = PeerNumber(1), .returned_step = 10}};
  EXPECT_FALSE(IsFresh(head_, PeerNumber(1), 11));
  EXPECT_FALSE(IsFresh(head_, PeerNumber(2), 11)) << "never away";
  head_.standings[0].came_step = 10;
  EXPECT_TRUE(IsFresh(head_, PeerNumber(1), 11));
}

// The largest t_s of the last 1000 blocks, from which it falls by one.
TEST(KeepPeakTest, GrowsAtOnceAndFallsByOne) {
  Block head;
  const auto next = [&](std::uint64_t step, std::uint32_t t_s) {
    Block block;
    block.step = step;
    block.thresholds.t_s = t_s;
    KeepPeak(head, block);
    head = block;
    return std::pair(block.peak_t_s, block.peak_step);
  };
  using Peak = std::pair<std::uint32_t, std::uint64_t>;
  EXPECT_EQ(next(1, 7), Peak(7, 1));
  EXPECT_EQ(next(5, 7), Peak(7, 5)) << "the newest block that had it";
  EXPECT_EQ(next(6, 2), Peak(7, 5));
  EXPECT_EQ(next(1004, 2), Peak(7, 5));
  EXPECT_EQ(next(1005, 2), Peak(6, 1005));
  EXPECT_EQ(next(1006, 2), Peak(6, 1005));
  EXPECT_EQ(next(2005, 2), Peak(5, 2005));
  EXPECT_EQ(next(2006, 9), Peak(9, 2006));
  EXPECT_EQ(next(3006, 8), Peak(8, 3006)) << "to the block's, if that is not lower by more";
  EXPECT_EQ(next(4006, 0), Peak(7, 4006));
}

TEST(KeepPeakTest, NeverFallsBelowZero) {
  Block head;
  Block block;
  block.step = 5000;
  KeepPeak(head, block);
  EXPECT_EQ(block.peak_t_s, 0u);
}

TEST(KeptDisputesTest, TheOldestGoFirst) {
  std::vector<Dispute> disputes;
  for (std::uint32_t i = 0; disputes.size() < wire::kMaxDisputes + 2; ++i) {
    const std::uint64_t since = i == 300 || i == 7 ? 4 : 5;
    disputes.push_back({PeerNumber(i / 255), PeerNumber(i / 255 + 1 + i % 100), since});
  }
  const auto kept = KeptDisputes(disputes, PeersUpTo(256));
  ASSERT_EQ(kept.size(), wire::kMaxDisputes);
  for (const Dispute& dispute : kept) EXPECT_EQ(dispute.since, 5u);
}

}  // namespace
}  // namespace ostraka::protocol::disputes_test
