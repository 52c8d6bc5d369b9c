// The wait for parts that follows the run: when it doubles, and what it excuses.
#include "node/protocol/rules/part_wait.h"

#include <gtest/gtest.h>

#include "node/protocol/rules/judgement.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::part_wait_test {
namespace {

using scene::HonestStep;
using scene::MakeHonestStep;
using scene::PeerNumber;
using scene::Removed;

constexpr std::uint64_t kStep = 200;
constexpr std::uint64_t kSecond = 1'000'000;

// Eight members, t_s = 3. The wait is between 4 and 20 s.
class PartWaitTest : public testing::Test {
 protected:
  PartWaitTest() : step_(MakeHonestStep({.step = kStep})) {
    step_.manifest.adaptive = true;
    step_.head.part_us = 8 * kSecond;
    worker_ = PeerNumber(5);
    column_ = step_.sealed.roles.owners[2] == worker_ ? 3 : 2;
    owner_ = step_.sealed.roles.owners[column_];
  }
  void LeaveOut() {
    std::vector<PeerId> senders = step_.Senders(column_);
    std::erase(senders, worker_);
    step_.SetSenders(column_, senders);
  }
  static SealedFaults Absent(std::uint32_t member, FaultKind kind = FaultKind::kDrop) {
    return {{PeerNumber(member), {kind, {.cause = wire::Cause::kAbsent}}}};
  }
  std::uint32_t Drops(const Block& block, std::uint32_t member) {
    return StandingOf(block.standings, PeerNumber(member))->drops;
  }

  HonestStep step_;
  PeerId worker_;
  PeerId owner_;
  std::uint32_t column_ = 0;
};

TEST_F(PartWaitTest, AQuietStepTakesAFiftiethAndNeverMoreThanTheFloorAllows) {
  EXPECT_EQ(step_.Judge().part_us, 7'840'000u);
  step_.head.part_us = 4 * kSecond + 1;
  EXPECT_EQ(step_.Judge().part_us, 4 * kSecond);
  step_.head.part_us = 4 * kSecond;
  EXPECT_EQ(step_.Judge().part_us, 4 * kSecond);
}

TEST_F(PartWaitTest, ARunWhoseManifestDoesNotSaySoHasTheManifests) {
  step_.manifest.adaptive = false;
  step_.head.part_us = 0;
  LeaveOut();
  const Block block = step_.Judge();
  EXPECT_EQ(block.part_us, 0u);
  EXPECT_EQ(block.disputes.size(), 1u);
}

TEST_F(PartWaitTest, ALateStepDoublesTheWaitAndExcusesAtMostAtHalfOfTheManifests) {
  struct Row {
    std::uint64_t wait, next;
    bool excuses;
  };
  for (const Row& row :
       {Row{4 * kSecond, 8 * kSecond, true}, Row{10 * kSecond, 20 * kSecond, true},
        Row{10 * kSecond + 1, 20 * kSecond, false}, Row{20 * kSecond, 20 * kSecond, false}}) {
    HonestStep step = MakeHonestStep({.step = kStep});
    step.manifest.adaptive = true;
    step.head.part_us = row.wait;
    const Block block = step.Judge(Absent(6));
    EXPECT_EQ(block.part_us, row.next) << row.wait;
    EXPECT_EQ(Removed(block), std::vector<int>{6}) << "it is dropped all the same";
    EXPECT_EQ(Drops(block, 6), row.excuses ? 0u : 1u) << row.wait;
    EXPECT_EQ(StandingOf(block.standings, PeerNumber(6))->last_drop_step, kStep);
    EXPECT_TRUE(MayReturn(block, PeerNumber(6), kStep + 1));
  }
}

// Attack: silent every 35 steps, for ever.
TEST_F(PartWaitTest, OnlyTheFirstDropOfAThousandStepsIsExcused) {
  struct Row {
    std::uint64_t last;
    std::uint32_t drops;
  };
  for (const Row& row : {Row{kStep + 800, 0}, Row{kStep + 801, 1}, Row{kStep + 1799, 1}}) {
    HonestStep step = MakeHonestStep({.step = kStep + 1800});
    step.manifest.adaptive = true;
    step.head.part_us = 4 * kSecond;
    step.head.standings = {{.peer = PeerNumber(6), .last_drop_step = row.last}};
    EXPECT_EQ(Drops(step.Judge(Absent(6)), 6), row.drops) << row.last;
  }
}

// Attack: misdeeds under cover of somebody's absence.
TEST_F(PartWaitTest, OnlyAbsenceIsExcused) {
  for (const PeerId& member : step_.head.members) {
    step_.ProofOf(member).hasty = base::Bytes{1U << 6};
  }
  const Block block = step_.Judge(Absent(7));
  EXPECT_EQ(Removed(block), (std::vector<int>{6, 7}));
  EXPECT_EQ(Drops(block, 6), 1u);
  EXPECT_EQ(Drops(block, 7), 0u);
}

TEST_F(PartWaitTest, AnExcusedStepOpensNoDispute) {
  LeaveOut();
  EXPECT_TRUE(step_.Judge().disputes.empty());
  EXPECT_EQ(step_.Judge().part_us, 16 * kSecond);
  step_.head.part_us = 16 * kSecond;
  EXPECT_EQ(step_.Judge().disputes.size(), 1u);
  EXPECT_EQ(step_.Judge().part_us, 20 * kSecond);
}

TEST_F(PartWaitTest, AnExcusedStepJudgesNoDisputedPair) {
  step_.head.disputes = {{worker_, owner_, kStep - 1}};
  LeaveOut();
  EXPECT_TRUE(step_.Judge().removals.empty());
  EXPECT_EQ(step_.Judge().disputes.size(), 1u) << "it lives on";
  step_.head.part_us = 16 * kSecond;
  EXPECT_EQ(step_.Judge().removals.size(), 1u);
}

TEST_F(PartWaitTest, AResultThatOneMissesIsLateToo) {
  step_.ProofOf(worker_).columns[column_] = {.missing = true, .s = {}, .norm = 0};
  EXPECT_EQ(step_.Judge().part_us, 16 * kSecond);
}

// An owner that had too few parts in time leaves itself out, forms nothing, or misses its own; a
// wrong root is no question of time.
TEST_F(PartWaitTest, AnExcusedStepCountsNoColumnThatItsOwnerLackedPartsFor) {
  step_.head.voids = {{owner_, 2, kStep - 3}};
  HonestStep formed_none = step_;
  formed_none.AggregateOf(column_).result_root = {};
  HonestStep misses = step_;
  misses.ProofOf(owner_).columns[column_] = {.missing = true, .size = 1};
  for (HonestStep* step : {&formed_none, &misses}) {
    const Block excused = step->Judge(Absent(5));
    EXPECT_EQ(excused.removals.size(), 1u) << "who was absent";
    EXPECT_EQ(excused.voids.front().count, 2u);
    step->head.part_us = 16 * kSecond;
    EXPECT_EQ(step->Judge(Absent(5)).removals.size(), 2u);
  }
  HonestStep wrong = step_;
  wrong.AggregateOf(column_).commits_root = scene::DigestOf(1);
  EXPECT_EQ(wrong.Judge(Absent(5)).removals.size(), 2u);
}

TEST_F(PartWaitTest, AnExcusedStepDropsNoOwnerWhoseAggregateOthersMiss) {
  for (const PeerId& worker : step_.sealed.roles.workers) {
    if (worker == owner_) continue;
    step_.ProofOf(worker).columns[column_] = {.missing = true, .s = {}, .norm = 0};
  }
  EXPECT_TRUE(step_.Judge().removals.empty());
  step_.head.part_us = 16 * kSecond;
  EXPECT_EQ(step_.Judge().removals.size(), 1u);
}

// Silence at REVEAL is chosen when the coin is known, a lie is no question of time, and other
// parameters are not either.
TEST_F(PartWaitTest, NothingElseIsLateOrExcused) {
  for (const FaultKind kind : {FaultKind::kDropAtReveal, FaultKind::kSuspend, FaultKind::kBan}) {
    EXPECT_EQ(step_.Judge(Absent(6, kind)).part_us, 7'840'000u);
  }
  step_.sealed.astray.insert(PeerNumber(6));
  EXPECT_EQ(step_.Judge(Absent(6)).part_us, 7'840'000u);
  SealedFaults both = Absent(6, FaultKind::kDropAtReveal);
  both.merge(Absent(7));
  const Block block = step_.Judge(both);
  EXPECT_EQ(block.part_us, 16 * kSecond);
  EXPECT_EQ(Drops(block, 6), 1u);
  EXPECT_GT(StandingOf(block.standings, PeerNumber(6))->barred_until, kStep);
  EXPECT_EQ(Drops(block, 7), 0u);
}

// However many are late together, and whoever they are: 35 quiet steps for each excuse.
TEST_F(PartWaitTest, ExcusesTakeQuietSteps) {
  step_.head.part_us = 20 * kSecond;
  std::uint64_t quiet = 0;
  for (; step_.head.part_us > 10 * kSecond; ++quiet) step_.head.part_us = step_.Judge().part_us;
  EXPECT_EQ(quiet, 35u);
}

}  // namespace
}  // namespace ostraka::protocol::part_wait_test
