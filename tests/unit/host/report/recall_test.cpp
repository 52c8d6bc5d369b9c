#include "node/host/report/recall.h"

#include <gmock/gmock.h>
#include <sqlite3.h>

#include <cmath>
#include <limits>

#include "tests/unit/store/ledger_fixture.h"

namespace ostraka::host::recall_test {
namespace {

using store::BlockOf;
using store::PeerOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint64_t kSteps = 6;

// A ledger of six steps: member 2 is dropped in step 1, returns in step 3 and is banned in step 4;
// members 1 and 3 work in each step, and 3 checks 1.
class RecallTest : public store::LedgerTest {
 protected:
  static wire::Block Block(std::uint64_t step) {
    wire::Block block = BlockOf(step);
    block.columns = {wire::ColumnFate::kApplied};
    block.aggregated = {{PeerOf(1), {PeerOf(1), PeerOf(3)}}};
    block.proven = {PeerOf(1), PeerOf(3)};
    block.drawn = {{PeerOf(3), PeerOf(1), step + 1, {}}};
    if (step == 2) block.state_root = store::DigestOf(77);
    if (step == 1) {
      block.removals = {{PeerOf(2), wire::RemovalKind::kDrop, 1, {.old_text = "silent"}}};
      block.standings = {{PeerOf(2), false, 1, 1, 0}};
    }
    if (step == 3) block.joined = {PeerOf(2)};
    if (step == 4)
      block.removals = {{PeerOf(2), wire::RemovalKind::kVerdict, 4, {.old_text = "it lied"}}};
    return block;
  }
  void WriteRun() {
    std::vector<store::Record> records;
    wire::Block genesis = BlockOf(0);
    genesis.genesis = true;
    genesis.columns.clear();
    records.push_back(store::BlockRecord(genesis));
    for (std::uint64_t step = 0; step < kSteps; ++step)
      records.push_back(store::BlockRecord(Block(step)));
    wire::EvidenceFile file;
    file.accused = PeerOf(2);
    file.kind = wire::EvidenceKind::kVerdict;
    file.frames = {base::Bytes{1}, base::Bytes{2}};
    const base::Digest name = store::DigestOf(5);
    records.push_back({store::RecordKind::kEvidence,
                       {name.bytes.begin(), name.bytes.end()},
                       wire::EncodeEvidence(file)});
    auto ledger = MustOpen(Options());
    ledger->Start({.committed = [](const std::vector<store::StoreId>&) {},
                   .failed = [](const base::Status&) {}});
    ASSERT_TRUE(ledger->Append(store::StoreOf(1, std::move(records))).ok());
    for (const std::uint64_t step : {0U, 2U, 4U}) {
      ASSERT_TRUE(ledger->AppendMetric(step, "compute_seconds", 7).ok());
      ASSERT_TRUE(ledger->AppendMetric(step, "accuracy", 0.25).ok());
      const double loss = step == 4 ? std::numeric_limits<double>::quiet_NaN() : 2;
      ASSERT_TRUE(ledger->AppendMetric(step, "loss", loss).ok());
    }
    ASSERT_TRUE(ledger->Close("stopped").ok());
  }
  void Sql(const std::string& statement) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((Options().data_dir + "/ledger.sqlite").c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, statement.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(database);
  }
};

TEST_F(RecallTest, BringsBackTheCurveTheWorkTheRemovalsAndTheEvidence) {
  WriteRun();
  const RunHistory history = RecallHistory(Options().data_dir);
  EXPECT_EQ(history.unread(), "");
  EXPECT_EQ(history.metric(), "accuracy");
  const auto points = history.curve().Points();
  ASSERT_THAT(points, SizeIs(3));
  EXPECT_EQ(points[1], (CurvePoint{2, 2, 0.25}));
  EXPECT_TRUE(std::isnan(points[2].loss)) << "SQLite has no such number: it keeps NULL";
  EXPECT_EQ(history.counted_from(), 0u);
  EXPECT_EQ(history.work().at(PeerOf(1)),
            (MemberWork{.steps = kSteps, .checked = kSteps - 1, .checks = 0}));
  EXPECT_EQ(history.work().at(PeerOf(3)),
            (MemberWork{.steps = kSteps, .checked = 0, .checks = kSteps - 1}));
  ASSERT_TRUE(history.root().has_value());
  EXPECT_EQ(history.root()->root, store::DigestOf(77));
  EXPECT_EQ(history.root()->step, 2u);
  ASSERT_THAT(history.removals(), SizeIs(2));
  EXPECT_EQ(history.removals()[0].returned, 3u);
  EXPECT_EQ(wire::TextOf(history.removals()[1].removal.reason), "it lied");
  EXPECT_EQ(history.removals()[1].returned, std::nullopt);
  ASSERT_THAT(history.proofs(), SizeIs(1));
  EXPECT_EQ(history.proofs()[0].id, store::DigestOf(5));
  EXPECT_EQ(history.proofs()[0].accused, PeerOf(2));
  EXPECT_EQ(history.proofs()[0].frames, 2u);
}

TEST_F(RecallTest, ReadsTheNewestBlocksAndEveryRemoval) {
  WriteRun();
  const std::uint64_t two =
      wire::EncodeBlock(Block(kSteps - 1)).size() + wire::EncodeBlock(Block(kSteps - 2)).size();
  const RunHistory history = RecallHistory(Options().data_dir, two);
  EXPECT_EQ(history.counted_from(), kSteps - 2);
  EXPECT_EQ(history.work().at(PeerOf(1)).steps, 2u);
  EXPECT_EQ(history.work().at(PeerOf(1)).checked, 1u);
  EXPECT_THAT(history.removals(), SizeIs(2));
  const RunHistory none = RecallHistory(Options().data_dir, 0);
  EXPECT_EQ(none.counted_from(), std::nullopt);
  EXPECT_THAT(none.work(), IsEmpty());
  EXPECT_THAT(none.removals(), SizeIs(2));
  EXPECT_THAT(none.curve().Points(), SizeIs(3));
}

// Pruned blocks leave a gap, over which nothing may be counted.
TEST_F(RecallTest, BeginsAboveWhatIsPruned) {
  WriteRun();
  Sql("INSERT INTO meta VALUES ('pruned_below', '3'); DELETE FROM blocks WHERE height IN (1, 3)");
  const RunHistory history = RecallHistory(Options().data_dir);
  EXPECT_EQ(history.counted_from(), 3u);
  EXPECT_EQ(history.work().at(PeerOf(1)).steps, kSteps - 3);
  EXPECT_THAT(history.removals(), SizeIs(2));
}

// A member that was away has no block of some steps, and so does not know who checked after them.
TEST_F(RecallTest, CountsNoChecksOverAGap) {
  WriteRun();
  Sql("DELETE FROM blocks WHERE height = 4");
  const RunHistory history = RecallHistory(Options().data_dir);
  EXPECT_EQ(history.work().at(PeerOf(1)),
            (MemberWork{.steps = kSteps - 1, .checked = 3, .checks = 0}));
}

TEST_F(RecallTest, ALedgerThatIsDamagedLeavesTheHistoryEmptyAndSaysSo) {
  WriteRun();
  Sql("UPDATE blocks SET block = x'00' WHERE height = 3");
  const RunHistory damaged = RecallHistory(Options().data_dir);
  EXPECT_THAT(damaged.unread(), HasSubstr("block 3"));
  EXPECT_TRUE(damaged.curve().empty());
  EXPECT_THAT(damaged.removals(), IsEmpty());
  Sql("UPDATE blocks SET block = (SELECT block FROM blocks WHERE height = 5) WHERE height = 3");
  EXPECT_THAT(RecallHistory(Options().data_dir).unread(), HasSubstr("not in the order of steps"));
  EXPECT_THAT(RecallHistory(root_ + "/nowhere").unread(), HasSubstr("nowhere"));
}

TEST_F(RecallTest, ALedgerWithoutABlockHasNoHistory) {
  ASSERT_TRUE(Write({store::Slot(0, 9)}).ok());
  const RunHistory history = RecallHistory(Options().data_dir);
  EXPECT_EQ(history.unread(), "");
  EXPECT_EQ(history.counted_from(), std::nullopt);
}

}  // namespace
}  // namespace ostraka::host::recall_test
