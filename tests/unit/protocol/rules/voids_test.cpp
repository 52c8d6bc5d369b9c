// Who pays for a void column: each way to void one by the own word, and each that is another's.
#include "node/protocol/rules/voids.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::voids_test {
namespace {

using scene::DigestOf;
using scene::HonestStep;
using scene::MakeHonestStep;
using scene::PeerNumber;
using scene::Removed;

constexpr std::size_t kColumn = 2;

PeerId OwnerIn(const HonestStep& step) { return step.sealed.roles.owners[kColumn]; }

std::vector<PeerId> Counted(const Block& block) {
  std::vector<PeerId> peers;
  for (const Voids& voids : block.voids) peers.push_back(voids.peer);
  return peers;
}

struct Way {
  const char* name;
  std::function<void(HonestStep&)> make;
  ColumnFate fate;
};

class OwnWordTest : public testing::TestWithParam<Way> {};

TEST_P(OwnWordTest, IsCounted) {
  HonestStep step = MakeHonestStep();
  ASSERT_TRUE(step.Judge().voids.empty());
  GetParam().make(step);
  const Block block = step.Judge();
  EXPECT_EQ(block.columns[kColumn], GetParam().fate);
  ASSERT_EQ(Counted(block), std::vector<PeerId>{OwnerIn(step)});
  EXPECT_EQ(block.voids[0].count, 1u);
  EXPECT_EQ(block.voids[0].last_step, step.sealed.step);
  EXPECT_TRUE(block.removals.empty());
}

// Two cost nothing; the third costs the place, and not the key.
TEST_P(OwnWordTest, DropsAtTheThird) {
  HonestStep step = MakeHonestStep();
  GetParam().make(step);
  step.head.voids = {{OwnerIn(step), 1, step.sealed.step - 3}};
  EXPECT_TRUE(step.Judge().removals.empty());
  step.head.voids = {{OwnerIn(step), 2, step.sealed.step - 3}};
  const Block block = step.Judge();
  ASSERT_EQ(block.removals.size(), 1u);
  EXPECT_EQ(block.removals[0].peer, OwnerIn(step));
  EXPECT_EQ(block.removals[0].kind, wire::RemovalKind::kDrop);
  EXPECT_EQ(wire::TextOf(block.removals[0].reason), "voided 3 columns by its own word");
  EXPECT_TRUE(block.voids.empty()) << "of members only";
}

INSTANTIATE_TEST_SUITE_P(
    Ways, OwnWordTest,
    testing::Values(Way{"ZeroRoot", [](HonestStep& s) { s.AggregateOf(kColumn).result_root = {}; },
                        ColumnFate::kNoAggregate},
                    Way{"WrongCommitsRoot",
                        [](HonestStep& s) { s.AggregateOf(kColumn).commits_root = DigestOf(1); },
                        ColumnFate::kBadSenders},
                    Way{"WithoutItself",
                        [](HonestStep& s) {
                          auto senders = s.sealed.roles.workers;
                          std::erase(senders, OwnerIn(s));
                          senders.resize(6);
                          s.SetSenders(kColumn, senders);
                        },
                        ColumnFate::kTooFewSenders},
                    Way{"MissesItsOwn",
                        [](HonestStep& s) {
                          s.ProofOf(OwnerIn(s)).columns[kColumn] = {.missing = true, .size = 1};
                        },
                        ColumnFate::kMissingNumbers}),
    [](const auto& way) { return std::string(way.param.name); });

// A worker that shows its COMMITs two-faced leaves an honest owner with the one that is not sealed.
// The owner's PROOF bans it in the same block, and so the owner pays nothing.
TEST(VoidsTest, ARootIsExcusedByABanOfWhomItIncludes) {
  HonestStep step = MakeHonestStep();
  step.AggregateOf(kColumn).commits_root = DigestOf(1);
  const auto liar = static_cast<std::uint32_t>(step.Senders(kColumn)[4].bytes[7]);
  const Block block = step.Judge(scene::Banned({liar}));
  EXPECT_EQ(Removed(block), std::vector<int>{static_cast<int>(liar)});
  EXPECT_TRUE(block.voids.empty());
}

TEST(VoidsTest, ASenderWhoseCommitIsNotSealedPaysItself) {
  HonestStep step = MakeHonestStep();
  step.sealed.commit_digests.erase(step.Senders(kColumn)[4]);
  const Block block = step.Judge();
  EXPECT_EQ(block.columns[kColumn], ColumnFate::kBadSenders);
  EXPECT_TRUE(block.voids.empty());
}

// Of what one of a pair withholds from the other nobody knows whose fault it is: they are in
// dispute. The owner's own word it is not.
TEST(VoidsTest, APairPaysByItsDispute) {
  HonestStep left_out = MakeHonestStep();
  auto senders = left_out.sealed.roles.workers;
  const auto other = senders[0] == OwnerIn(left_out) ? 1 : 0;
  senders.erase(senders.begin() + other, senders.begin() + other + 2);
  if (!IsMember(senders, OwnerIn(left_out))) GTEST_SKIP();
  left_out.SetSenders(kColumn, senders);
  const Block too_few = left_out.Judge();
  EXPECT_EQ(too_few.columns[kColumn], ColumnFate::kTooFewSenders);
  EXPECT_TRUE(too_few.voids.empty());
  EXPECT_EQ(too_few.disputes.size(), 2u);

  HonestStep missed = MakeHonestStep();
  const PeerId worker = missed.sealed.roles.workers[OwnerIn(missed) == PeerNumber(0) ? 1 : 0];
  missed.ProofOf(worker).columns[kColumn] = {.missing = true, .size = 1};
  const Block missing = missed.Judge();
  EXPECT_EQ(missing.columns[kColumn], ColumnFate::kMissingNumbers);
  EXPECT_TRUE(missing.voids.empty());
  EXPECT_EQ(missing.disputes.size(), 1u);
}

TEST(VoidsTest, AreForgottenAThousandStepsAfterTheLast) {
  Block head;
  head.voids = {{PeerNumber(1), 2, 10}, {PeerNumber(2), 1, 11}};
  EXPECT_EQ(VoidsAfter(head, {}, 1009).size(), 2u);
  const auto kept = VoidsAfter(head, {}, 1010);
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].peer, PeerNumber(2));
  const auto again = VoidsAfter(head, {PeerNumber(1)}, 1010);
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].count, 1u) << "from the beginning";
  EXPECT_EQ(again[0].last_step, 1010u);
}

// Where too many would be dropped the count stays, and the next void drops.
TEST(VoidsTest, OneThatWasForgivenIsNotDroppedForNothing) {
  HonestStep step = MakeHonestStep();
  step.head.voids = {{OwnerIn(step), 3, step.sealed.step - 1}};
  const Block quiet = step.Judge();
  EXPECT_TRUE(quiet.removals.empty());
  EXPECT_EQ(Counted(quiet), std::vector<PeerId>{OwnerIn(step)});
}

}  // namespace
}  // namespace ostraka::protocol::voids_test
