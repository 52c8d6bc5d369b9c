// From the genesis to later members, and what leads nowhere.
#include "proofs/evidence/handover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "node/base/rng.h"
#include "node/wire/evidence_codec.h"
#include "tests/unit/evidence/scene.h"
#include "tests/unit/wire/samples.h"

namespace ostraka::evidence::handover_test {
namespace {

using ::testing::HasSubstr;
using Numbers = std::vector<std::uint8_t>;

std::vector<PeerId> IdsOf(const Numbers& numbers) {
  std::vector<PeerId> ids;
  for (const std::uint8_t number : numbers) ids.push_back(wire::SampleKey(number).id());
  std::sort(ids.begin(), ids.end());
  return ids;
}

// One of four members may be at fault.
KnownRun Genesis() {
  return {RunOfJudges(1).run_id, IdsOf({10, 11, 12, 13}), 1, {wire::CaseKind::kNumbers}};
}

wire::Block BlockOf(std::uint64_t step, const Numbers& members) {
  wire::Block block = wire::SampleBlock();
  block.genesis = false;
  block.step = step;
  block.members = IdsOf(members);
  block.thresholds = {static_cast<std::uint32_t>(members.size()), 1, 1};
  block.removals.clear();
  return block;
}

// To the members of a block of that step, by two members that commit to it.
Bytes Made(const KnownRun& from, std::uint64_t step, const Numbers& to, const Numbers& by) {
  const wire::Block block = BlockOf(step, to);
  const auto made = MakeHandover(from, block, CommitsOf(by, block));
  EXPECT_TRUE(made.ok()) << made.status();
  return made.ok() ? *made : Bytes{};
}

TEST(HandoverTest, LeadsFromViewToViewUntilNobodyOfTheGenesisIsLeft) {
  const Bytes first = Made(Genesis(), 5, {12, 13, 14, 15}, {12, 13, 14});
  const auto middle = Follow(Genesis(), first);
  ASSERT_TRUE(middle.ok()) << middle.status();
  EXPECT_EQ(middle->members, IdsOf({12, 13, 14, 15}));
  EXPECT_EQ(middle->since, 6U);
  EXPECT_EQ(middle->suspending, Genesis().suspending);
  const Bytes second = Made(*middle, 9, {14, 15, 16, 17}, {14, 15});
  const auto last = Follow(*middle, second);
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_EQ(last->members, IdsOf({14, 15, 16, 17}));
  EXPECT_EQ(Follow(Genesis(), second).status().code(), absl::StatusCode::kFailedPrecondition);
  for (const auto& files : {std::vector{first, second}, std::vector{second, first, second}}) {
    const auto views = FollowAll(Genesis(), files);
    ASSERT_TRUE(views.ok()) << views.status();
    EXPECT_EQ(views->size(), 3U) << "one that is given twice leads on once";
    EXPECT_EQ(views->back().members, last->members);
  }
}

TEST(HandoverTest, WhatLeadsNowhereIsPassedOver) {
  const KnownRun others{Genesis().run_id, IdsOf({14, 15, 16, 17}), 1};
  const Bytes foreign = Made(others, 9, {14, 15, 16, 18}, {14, 15});
  const auto views = FollowAll(Genesis(), {foreign});
  ASSERT_TRUE(views.ok());
  EXPECT_EQ(views->size(), 1U);
  EXPECT_EQ(FollowAll(Genesis(), {Bytes{1, 2, 3}}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

// Colluders of a view may sign anything; nobody's judgement depends on the order of files.
TEST(HandoverTest, TwoOfOneStepWithOtherBoundsLeadOnBoth) {
  wire::Block one = BlockOf(5, {12, 13, 14, 15});
  wire::Block other = one;
  other.thresholds.t_a = other.thresholds.t_s = 0;
  std::vector<Bytes> files;
  for (const wire::Block* block : {&one, &other}) {
    files.push_back(*MakeHandover(Genesis(), *block, CommitsOf({12, 13}, *block)));
  }
  EXPECT_EQ(FollowAll(Genesis(), {files[0], files[1]})->size(), 3U);
  EXPECT_EQ(FollowAll(Genesis(), {files[1], files[0]})->size(), 3U);
}

TEST(HandoverTest, NoStepFollowsTheLastNumber) {
  wire::Block last = BlockOf(UINT64_MAX, {12, 13, 14, 15});
  EXPECT_FALSE(MakeHandover(Genesis(), last, CommitsOf({12, 13}, last)).ok());
  last.removals = {{CheaterKey().id(), wire::RemovalKind::kVerdict, 8, {.old_text = "test"}}};
  EXPECT_FALSE(MakeSealedBan(CheaterKey().id(), last, CommitsOf({12, 13}, last), Genesis()).ok());
}

TEST(HandoverTest, JudgesOfALaterViewBan) {
  const auto view = Follow(Genesis(), Made(Genesis(), 5, {12, 13, 14, 15}, {12, 13}));
  ASSERT_TRUE(view.ok());
  wire::Block bans = BlockOf(8, {13, 14, 15});
  bans.removals = {{CheaterKey().id(), wire::RemovalKind::kVerdict, 8, {.old_text = "test"}}};
  const auto file = MakeSealedBan(CheaterKey().id(), bans, CommitsOf({14, 15}, bans), *view);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(VerifyInRun(*file, Genesis()).outcome, Outcome::kNotProven);
  EXPECT_THAT(VerifyInRun(*file, Genesis()).reason, HasSubstr("not only members"));
  EXPECT_EQ(VerifyInViews(*file, {Genesis(), *view}).outcome, Outcome::kProven);
  // Later members do not judge what was before them.
  KnownRun too_late = *view;
  too_late.since = 9;
  EXPECT_EQ(VerifyInViews(*file, {too_late}).outcome, Outcome::kNotProven);
  EXPECT_EQ(VerifyInViews(*file, {Genesis(), too_late}).outcome, Outcome::kNotProven);
}

TEST(HandoverTest, NeedsOneMoreMemberThanCanBeAtFaultAndNobodyElse) {
  const wire::Block block = BlockOf(5, {12, 13, 14, 15});
  EXPECT_THAT(MakeHandover(Genesis(), block, CommitsOf({12, 14, 15}, block)).status().message(),
              HasSubstr("it must be 2"));
  EXPECT_FALSE(MakeHandover(Genesis(), block, CommitsOf({12, 13}, BlockOf(6, {12, 13}))).ok())
      << "they build on another block";
  const Bytes good = Made(Genesis(), 5, {12, 13, 14, 15}, {12, 13});
  auto handover = wire::DecodeHandover(good);
  ASSERT_TRUE(handover.ok());
  handover->frames.push_back(*CommitsOf({14}, block)[0]);
  EXPECT_FALSE(Follow(Genesis(), wire::EncodeHandover(*handover)).ok()) << "a stranger";
  handover->frames = {handover->frames[1], handover->frames[0]};
  EXPECT_FALSE(Follow(Genesis(), wire::EncodeHandover(*handover)).ok()) << "another order";
  handover->frames = {handover->frames[0], handover->frames[0]};
  EXPECT_FALSE(Follow(Genesis(), wire::EncodeHandover(*handover)).ok()) << "one twice";
}

TEST(HandoverTest, LeadsOnToYoungerBlocksOfTheSameRunAlone) {
  KnownRun view = Genesis();
  const Bytes good = Made(Genesis(), 5, {12, 13, 14, 15}, {12, 13});
  view.since = 5;
  EXPECT_TRUE(Follow(view, good).ok());
  view.since = 6;
  EXPECT_THAT(Follow(view, good).status().message(), HasSubstr("not younger"));
  view = Genesis();
  view.run_id = wire::Filled(0x77);
  EXPECT_FALSE(Follow(view, good).ok());
  wire::Block genesis = BlockOf(0, {12, 13});
  genesis.genesis = true;
  EXPECT_FALSE(MakeHandover(Genesis(), genesis, CommitsOf({12, 13}, genesis)).ok());
}

TEST(HandoverTest, TenThousandDamagedOnesLeadNowhere) {
  const Bytes good = Made(Genesis(), 5, {12, 13, 14, 15}, {12, 13});
  base::Rng rng(20261126);
  for (int i = 0; i < 10'000; ++i) {
    Bytes damaged = good;
    const std::size_t at = rng.Next() % damaged.size();
    switch (i % 4) {
      case 0:
        damaged[at] ^= static_cast<std::uint8_t>(1U << rng.Next() % 8);
        break;
      case 1:
        damaged.resize(at);
        break;
      case 2:
        damaged.insert(damaged.begin() + static_cast<std::ptrdiff_t>(at), 8, 0);
        break;
      default:
        std::swap(damaged[at], damaged[rng.Next() % damaged.size()]);
    }
    if (damaged == good) continue;
    ASSERT_FALSE(Follow(Genesis(), damaged).ok()) << "damage " << i;
  }
}

}  // namespace
}  // namespace ostraka::evidence::handover_test
