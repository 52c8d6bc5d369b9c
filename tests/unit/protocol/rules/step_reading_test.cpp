#include "node/protocol/rules/step_reading.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "crypto/commitment.h"
#include "crypto/merkle.h"
#include "crypto/set_root.h"
#include "node/wire/bitmap.h"
#include "node/wire/codec.h"
#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::step_reading_test {
namespace {

using scene::DigestOf;
using scene::KeyNumber;
using wire::MessageType;
using wire::Phase;
using State = SealedMessage::State;

constexpr std::uint32_t kMembers = 6;
constexpr std::uint64_t kStep = 5;
constexpr std::uint64_t kDimension = 120;

// The sealed messages of a step in which all members do their work, member by member.
class StepReadingTest : public testing::Test {
 protected:
  StepReadingTest() {
    manifest_ = scene::ManifestOf(kMembers);
    manifest_.members.clear();
    for (std::uint32_t i = 0; i < kMembers; ++i) {
      manifest_.members.push_back({KeyNumber(i)->id(), ""});
    }
    std::sort(manifest_.members.begin(), manifest_.members.end(),
              [](const Member& a, const Member& b) { return a.id < b.id; });
    head_ = scene::ViewBefore(manifest_, kStep);
    roles_ = AssignRoles(head_, kDimension);
    input_.a.resize(2 * kMembers);
    input_.c.resize(kMembers);
    for (std::size_t i = 0; i < kMembers; ++i) {
      const PeerId& member = head_.members[i];
      Fill(input_.a[i], member, Phase::kA, MessageType::kCommit, wire::Encode(CommitOf(member)));
      wire::Proof proof;
      if (roles_.IsWorker(member)) proof.columns.resize(roles_.parts.size());
      Fill(input_.c[i], member, Phase::kC, MessageType::kProof, wire::Encode(proof));
    }
    FillAggregates({});
    input_.b.push_back(Reveals(0, {}));
    input_.decision_c = DigestOf(7);
    input_.results.assign(roles_.parts.size(), {.norm = 1.0});
  }

  // AGGs that include all workers but those members.
  void FillAggregates(const std::vector<std::size_t>& without) {
    std::vector<PeerId> senders;
    std::vector<Digest> commits;
    for (std::size_t i = 0; i < kMembers; ++i) {
      const bool left_out = std::find(without.begin(), without.end(), i) != without.end();
      if (left_out || !roles_.IsWorker(head_.members[i])) continue;
      senders.push_back(head_.members[i]);
      commits.push_back(input_.a[i].message->digest);
    }
    for (std::size_t i = 0; i < kMembers; ++i) {
      const auto owned = roles_.PartOwnedBy(head_.members[i]);
      if (!owned) continue;
      wire::Aggregate aggregate;
      aggregate.part_index = *owned;
      aggregate.result_root = DigestOf(4);
      aggregate.included = wire::BitmapOf(senders, head_.members);
      aggregate.leaves_root = DigestOf(5);
      aggregate.commits_root = crypto::SetRoot(commits);
      Fill(input_.a[kMembers + i], head_.members[i], Phase::kA, MessageType::kAggregate,
           wire::Encode(aggregate));
    }
  }
  static crypto::Coin CoinOf(const PeerId& member, std::uint32_t draw) {
    return crypto::DeriveCoin({member.bytes.data(), member.bytes.size()}, kStep, draw);
  }
  static std::vector<Digest> CommitmentsOf(const PeerId& member) {
    std::vector<Digest> commitments;
    for (std::uint32_t draw = 0; draw < kMembers; ++draw) {
      commitments.push_back(crypto::CommitCoin(member, kStep, draw, CoinOf(member, draw)));
    }
    return commitments;
  }
  wire::Commit CommitOf(const PeerId& member) const {
    wire::Commit commit;
    commit.coin_count = kMembers;
    commit.coins_root = crypto::MerkleRoot(CommitmentsOf(member));
    if (roles_.IsWorker(member)) commit.gradient_root = DigestOf(3);
    if (manifest_.compute_profile == kExact) commit.parameters_root = DigestOf(8);
    return commit;
  }
  SealedMessages Reveals(std::uint32_t draw, const std::vector<std::size_t>& without) const {
    SealedMessages sealed(kMembers);
    for (std::size_t i = 0; i < kMembers; ++i) {
      if (std::find(without.begin(), without.end(), i) != without.end()) continue;
      const PeerId& member = head_.members[i];
      wire::Reveal reveal;
      reveal.opening.coin = CoinOf(member, draw);
      reveal.opening.path = crypto::MerklePath(CommitmentsOf(member), draw);
      Fill(sealed[i], member, Phase::kB, MessageType::kReveal, wire::Encode(reveal), draw);
    }
    return sealed;
  }
  static void Fill(SealedMessage& entry, const PeerId& sender, Phase phase, MessageType type,
                   base::Bytes body, std::uint32_t draw = 0) {
    const wire::Slot slot{.run_id = DigestOf(9),
                          .incarnation = 0,
                          .step = kStep,
                          .phase = phase,
                          .type = type,
                          .draw = draw,
                          .iteration = 0};
    for (std::uint32_t i = 0; i < kMembers; ++i) {
      if (KeyNumber(i)->id() != sender) continue;
      entry = {State::kPresent, wire::Share(wire::Seal({slot, DigestOf(2), sender, std::move(body)},
                                                       *KeyNumber(i)))};
    }
  }
  static void Absent(SealedMessage& entry) { entry = {}; }
  static void Garble(SealedMessage& entry) {
    wire::SignedEnvelope message = *entry.message;
    message.envelope.body = {1, 2, 3};
    message.body = wire::Unreadable{"PROOF: too short"};
    entry.message = wire::Share(std::move(message));
  }
  Block Decide() {
    const auto block = BlockOf(head_, manifest_, kDimension, input_, verifier_);
    EXPECT_TRUE(block);
    return block.value_or(Block{});
  }
  const wire::Removal* RemovalOf(const Block& block, std::size_t member) const {
    for (const wire::Removal& removal : block.removals) {
      if (removal.peer == head_.members[member]) return &removal;
    }
    return nullptr;
  }

  Manifest manifest_;
  Block head_;
  Roles roles_;
  SealedInput input_;
  crypto::PlainVerifier verifier_;
};

TEST_F(StepReadingTest, HonestStepRemovesNobodyAndDrawsTheCoin) {
  const Block block = Decide();
  EXPECT_EQ(block.step, kStep);
  EXPECT_EQ(block.decision, input_.decision_c);
  EXPECT_FALSE(block.randomness.is_zero());
  for (const wire::Removal& removal : block.removals) ADD_FAILURE() << wire::TextOf(removal.reason);
  EXPECT_EQ(block.members, head_.members);
}

TEST_F(StepReadingTest, SameSealedMessagesGiveTheSameBlock) {
  Absent(input_.a[1]);
  input_.b = {Reveals(0, {1, 2}), Reveals(1, {1, 2})};
  const Block once = Decide();
  EXPECT_EQ(wire::EncodeBlock(once), wire::EncodeBlock(Decide()));

  // Seal by seal, as a member reads them.
  StepReading reading(head_, manifest_, kDimension);
  reading.ReadSealA(head_, input_.a);
  EXPECT_FALSE(reading.ReadSealB(head_, manifest_, input_.b[0]));
  EXPECT_TRUE(reading.ReadSealB(head_, manifest_, input_.b[1]));
  reading.ReadSealC(head_, input_.c);
  reading.ReadEvidence(manifest_, verifier_);
  std::vector<ColumnFate> fates = JudgeWithoutAggregates(reading.sealed, head_);
  const Block block = reading.Judge(head_, manifest_, input_.decision_c, input_.results, fates);
  EXPECT_EQ(wire::EncodeBlock(once), wire::EncodeBlock(block));
}

TEST_F(StepReadingTest, AbsentCommitDropsAndOwesNothingMore) {
  FillAggregates({1});
  Absent(input_.a[1]);
  input_.b = {Reveals(0, {1})};
  Absent(input_.c[1]);
  const Block block = Decide();
  ASSERT_NE(RemovalOf(block, 1), nullptr);
  EXPECT_FALSE(wire::IsBan(RemovalOf(block, 1)->kind));
  EXPECT_EQ(wire::TextOf(RemovalOf(block, 1)->reason), "sealed absent: its COMMIT did not come");
  EXPECT_EQ(block.removals.size(), 1u);
}

TEST_F(StepReadingTest, TwoCommitsBan) {
  input_.a[1] = {State::kEquivocated, nullptr};
  input_.b = {Reveals(0, {1})};
  Absent(input_.c[1]);
  const Block block = Decide();
  ASSERT_NE(RemovalOf(block, 1), nullptr);
  EXPECT_TRUE(wire::IsBan(RemovalOf(block, 1)->kind));
}

TEST_F(StepReadingTest, MalformedMessageBansItsSignerAndProvesItself) {
  Garble(input_.a[0]);
  Garble(input_.c[2]);
  StepReading reading(head_, manifest_, kDimension);
  reading.ReadSealA(head_, input_.a);
  EXPECT_FALSE(reading.MustReveal(head_.members[0]));
  input_.b = {Reveals(0, {0})};
  EXPECT_TRUE(reading.ReadSealB(head_, manifest_, input_.b[0]));
  reading.ReadSealC(head_, input_.c);
  EXPECT_EQ(reading.unreadable.size(), 2u);
  const Block block = Decide();
  for (const std::size_t member : {0, 2}) {
    ASSERT_NE(RemovalOf(block, member), nullptr);
    EXPECT_TRUE(wire::IsBan(RemovalOf(block, member)->kind));
  }
}

TEST_F(StepReadingTest, FalseRevealBansAndTheNextDrawGoesOnWithoutIt) {
  SealedMessages first = Reveals(0, {});
  first[3] = Reveals(1, {})[3];  // the coin of another draw
  input_.b = {first, Reveals(1, {3})};
  StepReading reading(head_, manifest_, kDimension);
  reading.ReadSealA(head_, input_.a);
  EXPECT_FALSE(reading.ReadSealB(head_, manifest_, input_.b[0]));
  EXPECT_EQ(reading.false_reveals.size(), 1u);
  EXPECT_EQ(reading.draw, 1u);
  EXPECT_EQ(reading.RevealersLeft(head_), kMembers - 1);
  const Block block = Decide();
  ASSERT_NE(RemovalOf(block, 3), nullptr);
  EXPECT_TRUE(wire::IsBan(RemovalOf(block, 3)->kind));
  EXPECT_EQ(block.removals.size(), 1u);
}

TEST_F(StepReadingTest, NoCoinNoBlock) {
  for (std::size_t i = 0; i < kMembers; ++i) Absent(input_.a[i]);
  input_.b = {Reveals(0, {})};
  EXPECT_FALSE(BlockOf(head_, manifest_, kDimension, input_, verifier_));
}

TEST_F(StepReadingTest, GradientOfANonWorkerOrMissingCoinsAreMalformed) {
  StepReading reading(head_, manifest_, kDimension);
  wire::Commit commit = CommitOf(head_.members[0]);
  EXPECT_TRUE(reading.IsComplete(head_.members[0], commit));
  commit.coin_count = kMembers - 1;
  EXPECT_FALSE(reading.IsComplete(head_.members[0], commit));
  commit = CommitOf(head_.members[0]);
  commit.gradient_root.reset();
  EXPECT_EQ(reading.IsComplete(head_.members[0], commit), !roles_.IsWorker(head_.members[0]));
}

// --- profile exact/1: the parameters that COMMITs name -------------------------------------------

class ExactReadingTest : public StepReadingTest {
 protected:
  ExactReadingTest() {
    manifest_.compute_profile = kExact;
    manifest_.eps_g = 0;
    for (std::size_t i = 0; i < kMembers; ++i) Name(i, DigestOf(8));
    FillAggregates({});
  }
  void Name(std::size_t i, std::optional<Digest> parameters) {
    wire::Commit commit = CommitOf(head_.members[i]);
    commit.parameters_root = parameters;
    Fill(input_.a[i], head_.members[i], Phase::kA, MessageType::kCommit, wire::Encode(commit));
  }
  StepReading Read() {
    StepReading reading(head_, manifest_, kDimension);
    reading.ReadSealA(head_, input_.a);
    return reading;
  }
};

TEST_F(ExactReadingTest, EveryCommitNamesParametersAndNoneDoesInOtherProfiles) {
  Name(2, std::nullopt);
  EXPECT_NE(wire::TextOf(RemovalOf(Decide(), 2)->reason).find("malformed"), std::string::npos);
  manifest_.compute_profile = kTolerant;
  const Block block = Decide();
  EXPECT_EQ(RemovalOf(block, 2), nullptr);
  EXPECT_NE(wire::TextOf(RemovalOf(block, 3)->reason).find("malformed"), std::string::npos);
}

TEST_F(ExactReadingTest, MemberWithOtherParametersIsDroppedAndItsGradientUsedNowhere) {
  Name(3, DigestOf(9));
  FillAggregates({3});
  const StepReading reading = Read();
  EXPECT_EQ(reading.sealed.parameters_root, DigestOf(8));
  EXPECT_EQ(reading.sealed.astray, std::set<PeerId>{head_.members[3]});
  EXPECT_TRUE(reading.sealed.faulty_in_a.contains(head_.members[3])) << "b is lower by it";
  const Block block = Decide();
  ASSERT_EQ(block.removals.size(), 1u);
  EXPECT_EQ(RemovalOf(block, 3)->kind, wire::RemovalKind::kDrop);
  EXPECT_EQ(wire::TextOf(RemovalOf(block, 3)->reason),
            "its COMMIT names other parameters than the run's");
  EXPECT_FALSE(IsMember(block.proven, head_.members[3])) << "no validator can judge it";
  EXPECT_TRUE(block.disputes.empty()) << "its owners were right to leave it out";
  for (std::size_t j = 0; j < block.columns.size(); ++j) {
    if (block.aggregated[j].owner == head_.members[3]) continue;
    EXPECT_NE(block.columns[j], ColumnFate::kTooFewSenders);
    EXPECT_NE(block.columns[j], ColumnFate::kBadSenders);
  }
}

TEST_F(ExactReadingTest, OwnerThatIncludesItIsCountedAndTheColumnIsVoid) {
  Name(3, DigestOf(9));
  FillAggregates({});
  const Block block = Decide();
  for (const ColumnFate fate : block.columns) EXPECT_EQ(fate, ColumnFate::kBadSenders);
  EXPECT_EQ(block.voids.size(), kMembers - 1) << "all owners but the one that is dropped";
}

// F may all name one root, and so may as many honest members as the seal shows.
TEST_F(ExactReadingTest, AsManyAsMayBeAtFaultDecideNothing) {
  const std::size_t faults = FaultBound(head_.thresholds);
  for (std::size_t i = 0; i < kMembers; ++i) Name(i, DigestOf(100 + i));
  for (std::size_t i = 0; i < faults; ++i) Name(i, DigestOf(9));
  EXPECT_FALSE(Read().sealed.parameters_root);
  EXPECT_TRUE(Read().sealed.astray.empty());
  Name(faults, DigestOf(9));
  EXPECT_EQ(Read().sealed.parameters_root, DigestOf(9));
  EXPECT_EQ(Read().sealed.astray.size(), kMembers - faults - 1);
}

// All liars name what one damaged member names, so more than F do.
TEST_F(ExactReadingTest, TwoThatAreNamedAsOftenDecideNothing) {
  static_assert(kMembers % 2 == 0);
  for (std::size_t i = 0; i < kMembers; ++i) Name(i, DigestOf(i < kMembers / 2 ? 1 : 9));
  ASSERT_GT(kMembers / 2, FaultBound(head_.thresholds));
  EXPECT_FALSE(Read().sealed.parameters_root);
  EXPECT_TRUE(Read().sealed.astray.empty());
}

}  // namespace
}  // namespace ostraka::protocol::step_reading_test
