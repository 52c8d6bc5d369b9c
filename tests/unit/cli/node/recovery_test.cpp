#include "node/cli/node/recovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "node/config/origin.h"
#include "node/protocol/mail/signer.h"
#include "node/protocol/watch/fork_trial.h"
#include "node/store/checkpoint.h"
#include "node/store/ledger.h"
#include "node/wire/codec.h"
#include "proofs/evidence/evidence.h"
#include "tests/unit/os/temp_folder.h"

namespace ostraka::cli::recovery_test {
namespace {

using base::Digest;
using base::PeerId;
using protocol::Record;
using protocol::RecordKind;
using ::testing::HasSubstr;

constexpr std::size_t kMembers = 5;

Digest Filled(std::uint8_t byte) {
  Digest digest;
  digest.bytes.fill(byte);
  return digest;
}

const crypto::SigningKey& Key(std::size_t index) {
  static const std::vector<crypto::SigningKey> keys = [] {
    std::vector<crypto::SigningKey> made;
    for (std::uint8_t i = 0; i < kMembers; ++i) {
      made.push_back(crypto::SigningKey::FromSeed(Filled(static_cast<std::uint8_t>(i + 1)).bytes));
    }
    return made;
  }();
  return keys[index];
}

// Folders of members of one run of 20 steps, with blocks that the tests make.
class RecoveryTest : public os::TempFolderTest {
 protected:
  void SetUp() override {
    TempFolderTest::SetUp();
    manifest_.run_id = Filled(0xaa);
    manifest_.training.steps = 20;
    for (std::size_t i = 0; i < kMembers; ++i) manifest_.members.push_back({Key(i).id(), ""});
    std::sort(manifest_.members.begin(), manifest_.members.end(),
              [](const auto& a, const auto& b) { return a.id < b.id; });
  }

  // A folder with `count` blocks, each changed by `edit`.
  std::string Folder(
      const std::string& name, std::uint64_t count,
      const std::function<void(wire::Block&)>& edit = [](wire::Block&) {}) {
    std::vector<Record> records;
    for (std::uint64_t step = 0; step < count; ++step) {
      wire::Block block;
      block.step = step;
      for (const auto& member : manifest_.members) block.members.push_back(member.id);
      block.thresholds = {kMembers, 1, 1};
      edit(block);
      records.push_back(
          {RecordKind::kBlock, protocol::BlockKey(false, step), wire::EncodeBlock(block)});
    }
    return Write(name, std::move(records));
  }
  std::string Write(const std::string& name, std::vector<Record> records) {
    const std::string folder = dir_ + "/" + name;
    auto ledger =
        store::Ledger::Open({.data_dir = folder, .run_id = manifest_.run_id, .peer = Key(0).id()});
    EXPECT_TRUE(ledger.ok()) << ledger.status();
    (*ledger)->Start({.committed = [](auto) {}, .failed = [](auto) {}});
    EXPECT_TRUE((*ledger)->Append({1, std::move(records)}).ok());
    EXPECT_TRUE((*ledger)->Close("").ok());
    return folder;
  }
  // Two different COMMITs of one slot.
  Record Equivocation(std::size_t culprit) const {
    const auto commit = [&](std::uint8_t body) {
      const wire::Slot slot{manifest_.run_id,           0, 9, wire::Phase::kA,
                            wire::MessageType::kCommit, 0, 0};
      return wire::Seal({slot, {}, Key(culprit).id(), {body}}, Key(culprit)).frame;
    };
    const auto file = evidence::MakeEquivocation(*commit(1), *commit(2));
    EXPECT_TRUE(file.ok()) << file.status();
    const Digest id = evidence::IdOf(*file);
    return {RecordKind::kEvidence, {id.bytes.begin(), id.bytes.end()}, *file};
  }
  void Checkpoint(const std::string& folder, std::uint64_t step) {
    const auto values = std::make_shared<const std::vector<float>>(12, static_cast<float>(step));
    const base::Status written = store::WriteCheckpoint(
        folder,
        {step, kLayout, {values, {{"velocity", values}}}, {{"run_id", manifest_.run_id.Hex()}}});
    ASSERT_TRUE(written.ok()) << written;
  }
  std::string ErrorOf(const std::vector<std::string>& folders,
                      const std::vector<PeerId>& without = {}) const {
    const auto plan = PlanRecovery(manifest_, folders, without);
    EXPECT_FALSE(plan.ok());
    return plan.ok() ? "" : base::MessageOf(plan.status());
  }

  const base::TensorLayout kLayout = {{"x", {12}}};
  protocol::Manifest manifest_;
};

void FromStep7(wire::Block& block, std::uint8_t history) {
  if (block.step >= 7) block.randomness = Filled(history);
}

TEST_F(RecoveryTest, ContinuesFromTheNewestStateThatBothSidesHave) {
  const std::string left = Folder("left", 12, [](auto& block) { FromStep7(block, 1); });
  const std::string right = Folder("right", 15, [](auto& block) { FromStep7(block, 2); });
  Checkpoint(left, 3);
  Checkpoint(left, 9);  // of one side only
  Checkpoint(right, 5);
  const auto plan = PlanRecovery(manifest_, {left, right}, {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->parted_at, 7u);
  EXPECT_EQ(plan->checkpoint, store::CheckpointPath(right, 5));
  ASSERT_TRUE(plan->manifest.origin);
  EXPECT_EQ(plan->manifest.origin->run_id, manifest_.run_id);
  EXPECT_EQ(plan->manifest.origin->step, 5u);
  EXPECT_EQ(plan->manifest.training.steps, 14u) << "what was left of 20";
  EXPECT_EQ(plan->manifest.training.earlier_updates, 6u);
  EXPECT_EQ(plan->manifest.members.size(), kMembers);
  EXPECT_TRUE(plan->left_out.empty());
  const auto state = config::ReadOrigin(plan->manifest, plan->checkpoint, kLayout);
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(*state->parameters, std::vector<float>(12, 5.0F));
}

TEST_F(RecoveryTest, ABrokenNewestStateNamesTheOneBefore) {
  const std::string left = Folder("left", 12);
  const std::string right = Folder("right", 12);
  Checkpoint(left, 3);
  Checkpoint(left, 9);
  const std::string newest = store::CheckpointPath(left, 9);
  std::filesystem::resize_file(newest, std::filesystem::file_size(newest) - 1);
  EXPECT_THAT(ErrorOf({left, right}), HasSubstr("; move it away, and `ostraka run recover` takes " +
                                                store::CheckpointPath(left, 3)));
  Checkpoint(right, 9);  // a copy, which comes second
  EXPECT_THAT(ErrorOf({left, right}), HasSubstr(" takes " + store::CheckpointPath(right, 9)));
  std::filesystem::remove(newest);
  const auto plan = PlanRecovery(manifest_, {left, right}, {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->checkpoint, store::CheckpointPath(right, 9));
  std::filesystem::resize_file(store::CheckpointPath(right, 9), 7);
  std::filesystem::remove(store::CheckpointPath(left, 3));
  EXPECT_THAT(ErrorOf({left, right}), HasSubstr("there is no other state"));
}

// Members go behind a NAT, and come from behind one, in the course of a run.
TEST_F(RecoveryTest, WhoOnlyDialsIsWhatTheLastCommonBlockSays) {
  manifest_.members[0].only_dials = true;
  const PeerId behind = manifest_.members[1].id;
  const PeerId later = manifest_.members[2].id;
  const auto with_reach = [&](std::uint8_t history) {
    return [=](wire::Block& block) {
      FromStep7(block, history);
      if (block.step >= 5) block.reach = {{behind, true, 105}};
      if (block.step >= 7) block.reach = {{later, true, 107}};
    };
  };
  const std::string left = Folder("left", 9, with_reach(1));
  const std::string right = Folder("right", 9, with_reach(2));
  Checkpoint(left, 3);
  const auto plan = PlanRecovery(manifest_, {left, right}, {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->parted_at, 7u);
  for (const protocol::Member& member : plan->manifest.members) {
    EXPECT_EQ(member.only_dials, member.id == behind) << member.id.Short();
  }
}

TEST_F(RecoveryTest, LeavesOutMembersProvenGuiltyByTheirSignatures) {
  const std::string left = Folder("left", 9, [](auto& block) { FromStep7(block, 1); });
  Checkpoint(left, 6);
  const std::string right = Write("right", {Equivocation(2)});
  const auto plan = PlanRecovery(manifest_, {left, right}, {Key(4).id()});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_FALSE(plan->parted_at);
  ASSERT_EQ(plan->left_out.size(), 2u);
  EXPECT_THAT(plan->left_out.at(Key(2).id()), HasSubstr("two different messages"));
  EXPECT_THAT(plan->left_out.at(Key(4).id()), HasSubstr("--without"));
  EXPECT_EQ(plan->manifest.members.size(), kMembers - 2);
}

// Two sides of a split run with five members. Two colluders locked w in iteration 1 with one side
// and voted for v in iteration 2 with the other. An honest member locked w as well, and moved to v
// by a higher certificate. One side's member found it, and the other side's folder holds no file.
TEST_F(RecoveryTest, LeavesOutVotersAgainstTheirLockButNotForAHigherOne) {
  const auto say = [&](std::size_t who, wire::MessageType type, std::uint32_t iteration,
                       base::Bytes body) {
    const wire::Slot slot{manifest_.run_id, 0, 7, wire::Phase::kC, type, 0, iteration};
    return wire::Seal({slot, Filled(1), Key(who).id(), std::move(body)}, Key(who)).frame;
  };
  const auto lock = [&](std::size_t who, std::uint32_t iteration, std::uint8_t value) {
    return say(who, wire::MessageType::kLock, iteration, wire::Encode(wire::Lock{Filled(value)}));
  };
  const auto vote = [&](std::size_t who, std::uint32_t rank) {
    return say(who, wire::MessageType::kVote, 2, wire::Encode(wire::SealVote{Filled(5), rank}));
  };
  protocol::Fork fork{{7, wire::Phase::kC, 0}, Filled(1), {}, {}, {}, {}};
  for (std::size_t i = 0; i < kMembers; ++i) fork.unmuted.insert(Key(i).id());
  for (const std::size_t i : {0, 2, 3}) fork.ours.push_back(lock(i, 2, 5));
  for (const std::size_t i : {1, 2, 3}) fork.theirs.push_back(lock(i, 1, 6));
  fork.others = {vote(0, 0), vote(2, 0), vote(3, 0), vote(1, 2)};
  const protocol::ForkTrial trial(fork, Key(0).id());
  std::vector<Record> records;
  for (const auto& [peer, culprit] : trial.culprits()) {
    const Digest id = evidence::IdOf(culprit.file);
    records.push_back({RecordKind::kEvidence, {id.bytes.begin(), id.bytes.end()}, culprit.file});
  }
  const std::string left = Folder("left", 9, [](auto& block) { FromStep7(block, 1); });
  const std::string right = Folder("right", 9, [](auto& block) { FromStep7(block, 2); });
  Checkpoint(left, 6);
  const auto before = PlanRecovery(manifest_, {left, right}, {});
  ASSERT_TRUE(before.ok()) << before.status();
  EXPECT_EQ(before->parted_at, 7u);
  EXPECT_EQ(before->guilty, 0u) << "nothing in either ledger names anybody";
  const std::string found = Write("found", records);
  const auto plan = PlanRecovery(manifest_, {left, right, found}, {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->guilty, 2u);
  ASSERT_EQ(plan->left_out.size(), 2u);
  for (const std::size_t colluder : {2, 3}) {
    EXPECT_EQ(plan->left_out.at(Key(colluder).id()),
              "proven guilty: voted against an earlier lock of its own");
  }
}

// The majority of one side of a split run may be attackers: their bans must not count in the run
// that follows.
TEST_F(RecoveryTest, BansOfOneSideOnlyDoNotCount) {
  const auto ban = [](wire::Block& block, std::uint64_t from, std::size_t who) {
    if (block.step >= from) block.standings = {{.peer = Key(who).id(), .banned = true}};
  };
  const std::string left = Folder("left", 9, [&](auto& block) { ban(block, 7, 0); });
  const std::string right = Folder("right", 9, [&](auto& block) { ban(block, 7, 1); });
  Checkpoint(left, 6);
  const auto plan = PlanRecovery(manifest_, {left, right}, {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_TRUE(plan->left_out.empty());
  const std::string before = Folder("before", 9, [&](auto& block) { ban(block, 2, 1); });
  Checkpoint(before, 6);
  const auto one = PlanRecovery(manifest_, {before}, {});
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->left_out.size(), 1u) << "banned before the ledgers part";
}

TEST_F(RecoveryTest, ErrorsNameWhatIsMissing) {
  const std::string left = Folder("left", 9);
  EXPECT_THAT(ErrorOf({left}), HasSubstr("--checkpoint-every"));
  Checkpoint(left, 6);
  EXPECT_THAT(ErrorOf({left, dir_ + "/nobody"}), HasSubstr("nobody"));
  EXPECT_THAT(ErrorOf({left}, {Key(0).id(), Key(1).id(), Key(2).id()}),
              HasSubstr("at least 3 members"));
  const Digest run = manifest_.run_id;
  manifest_.run_id = Filled(0xbb);
  EXPECT_THAT(ErrorOf({left}), HasSubstr("belongs to run"));
  manifest_.run_id = run;
}

}  // namespace
}  // namespace ostraka::cli::recovery_test
