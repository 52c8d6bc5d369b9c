// The records that the ledger forgets, and those that it never forgets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>

#include "node/store/ledger_reader.h"
#include "tests/unit/store/ledger_fixture.h"

namespace ostraka::store::ledger_prune_test {
namespace {

using ::testing::HasSubstr;

class LedgerPruneTest : public LedgerTest {
 protected:
  static constexpr std::uint64_t kKeep = 128;

  LedgerOptions Pruning() const {
    LedgerOptions options = Options();
    options.keep_steps = kKeep;
    return options;
  }

  // The records of a node in `step`: some slots, a block, a result, metrics.
  static std::vector<Record> StepRecords(std::uint64_t step) {
    wire::Block block = BlockOf(step);
    block.members.clear();
    for (std::uint64_t i = 1; i <= 16; ++i) block.members.push_back(PeerOf(i));
    block.thresholds.n = 16;
    if (step == 100) {
      wire::Case open;
      open.id = {wire::CaseKind::kGradient, PeerOf(3), PeerOf(2), 99, 0};
      open.opened_step = 100;
      block.cases = {open};
    }
    if (step == 101)
      block.removals = {{PeerOf(2), wire::RemovalKind::kVerdict, 101, {.old_text = "guilty"}}};
    std::vector<Record> records;
    for (const auto phase : {wire::Phase::kA, wire::Phase::kB, wire::Phase::kC}) {
      records.push_back(Slot(step, step, phase));
    }
    records.push_back(BlockRecord(block));
    const auto blob = crypto::MakeBlob(base::Bytes(2000 + step % 100, 1));
    records.push_back({RecordKind::kResult, protocol::ResultKey(step, 0), {}, blob});
    if (step % 16 == 0) {
      records.push_back({RecordKind::kState, protocol::BlockKey(false, step), {}, blob});
    }
    return records;
  }

  // Writes `steps` steps, a few at a time, as a node does that waits for its disk. Returns the size
  // of the database, its log included, after each 500.
  std::vector<std::uintmax_t> Run(std::uint64_t steps) {
    auto ledger = Ledger::Open(Pruning());
    EXPECT_TRUE(ledger.ok()) << ledger.status();
    std::mutex mutex;
    std::condition_variable wake;
    std::uint64_t committed = 0;
    bool failed = false;
    const auto tell = [&](const auto& change) {
      const std::lock_guard lock(mutex);
      change();
      wake.notify_one();
    };
    (*ledger)->Start(
        {.committed = [&](std::vector<StoreId> ids) { tell([&] { committed += ids.size(); }); },
         .failed =
             [&](base::Status why) {
               ADD_FAILURE() << why;
               tell([&] { failed = true; });
             }});
    std::vector<std::uintmax_t> sizes;
    for (std::uint64_t step = 0; step < steps; ++step) {
      auto records = StepRecords(step);
      if (step == 0) {
        wire::Block genesis = BlockOf(0);
        genesis.genesis = true;
        records.insert(records.begin(), BlockRecord(genesis));
      }
      EXPECT_TRUE((*ledger)->Append(StoreOf(step, std::move(records))).ok());
      EXPECT_TRUE((*ledger)->AppendMetric(step, "loss", 0.5).ok());
      if ((step + 1) % 20 != 0) continue;
      std::unique_lock lock(mutex);
      wake.wait(lock, [&] { return failed || committed == step + 1; });
      if ((step + 1) % 500 == 0) sizes.push_back(Size());
    }
    EXPECT_TRUE((*ledger)->Close("done").ok());
    return sizes;
  }

  std::uintmax_t Size() const {
    std::uintmax_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(Options().data_dir)) {
      std::error_code gone;  // SQLite may remove its log at any time
      const std::uintmax_t size = entry.file_size(gone);
      if (!gone) bytes += size;
    }
    return bytes;
  }

  LedgerReader MustRead() const {
    auto reader = LedgerReader::Open(Options().data_dir);
    EXPECT_TRUE(reader.ok()) << reader.status();
    return *std::move(reader);
  }
  std::set<std::uint64_t> KeptSteps() const {
    std::set<std::uint64_t> steps;
    LedgerReader reader = MustRead();
    EXPECT_TRUE(reader
                    .ForEachBlock(1,
                                  [&](const wire::Block& block) {
                                    steps.insert(block.step);
                                    return true;
                                  })
                    .ok());
    return steps;
  }
};

TEST_F(LedgerPruneTest, TheFileStopsGrowing) {
  const std::vector<std::uintmax_t> sizes = Run(4000);
  ASSERT_EQ(sizes.size(), 8u);
  const auto early = *std::max_element(sizes.begin(), sizes.begin() + 4);
  const auto late = *std::max_element(sizes.begin() + 4, sizes.end());
  EXPECT_LE(late, early + early / 4);
  EXPECT_LT(late, 8u << 20);
}

TEST_F(LedgerPruneTest, KeepsAWindowAndEarlierRemovals) {
  Run(1025);
  const std::set<std::uint64_t> kept = KeptSteps();
  const std::uint64_t below = 1024 - kKeep;
  for (std::uint64_t step = below; step < 1025; ++step) EXPECT_TRUE(kept.contains(step)) << step;
  EXPECT_EQ(kept.size(), 1025 - below + 2);
  EXPECT_TRUE(kept.contains(100)) << "a case was open";
  EXPECT_TRUE(kept.contains(101)) << "somebody was removed";
  LedgerReader reader = MustRead();
  const auto summary = reader.Summary();
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->pruned_below, below);
  EXPECT_EQ(summary->slots, 3u * 1025) << "pruned ones count";
  EXPECT_EQ(reader.Removals(std::nullopt)->size(), 1u);
  EXPECT_EQ(reader.Metrics("loss")->front().step, below);
  EXPECT_EQ(reader.LastBlock()->step, 1024u);
  bool genesis = false;
  ASSERT_TRUE(reader
                  .ForEachBlock(0,
                                [&](const wire::Block& block) {
                                  genesis = block.genesis;
                                  return false;
                                })
                  .ok());
  EXPECT_TRUE(genesis);
}

TEST_F(LedgerPruneTest, NothingIsPrunedBeforeTheWindowIsFull) {
  Run(kKeep + 1);
  EXPECT_EQ(KeptSteps().size(), kKeep + 1);
  EXPECT_EQ(MustRead().Summary()->pruned_below, 0u);
}

// The ledger no longer knows what was signed there, so nothing may be signed there again.
TEST_F(LedgerPruneTest, ASlotBelowTheWindowIsNeverSigned) {
  auto ledger = Ledger::Open(Pruning());
  ASSERT_TRUE(ledger.ok());
  base::Status failed;
  (*ledger)->Start({.committed = [](std::vector<StoreId>) {},
                    .failed = [&failed](base::Status why) { failed = std::move(why); }});
  for (std::uint64_t step = 0; step <= 512; ++step) {
    ASSERT_TRUE((*ledger)->Append(StoreOf(step, StepRecords(step))).ok());
  }
  ASSERT_TRUE(
      (*ledger)->Append(StoreOf(1000, {Slot(512 - kKeep, 9999, wire::Phase::kGenesis)})).ok())
      << "a new slot of the oldest step that is remembered";
  const base::Status queued = (*ledger)->Append(StoreOf(1001, {Slot(512 - kKeep - 1, 7)}));
  const base::Status closed = (*ledger)->Close("done");
  EXPECT_FALSE(queued.ok() && closed.ok());
  EXPECT_THAT(base::MessageOf(failed), HasSubstr("is forgotten"));
}

}  // namespace
}  // namespace ostraka::store::ledger_prune_test
