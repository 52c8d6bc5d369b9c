#include "node/store/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <optional>
#include <thread>

#include "node/store/ledger_reader.h"
#include "node/wire/evidence_codec.h"
#include "tests/unit/store/ledger_fixture.h"

// Counts syncs: these functions replace the C library's, also for libsqlite3.
namespace {
std::atomic<int> syncs{0};
}
extern "C" int fsync(int fd) {
  ++syncs;
  return static_cast<int>(syscall(SYS_fsync, fd));
}
extern "C" int fdatasync(int fd) {
  ++syncs;
  return static_cast<int>(syscall(SYS_fdatasync, fd));
}

namespace ostraka::store::ledger_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// --- what readers see ---------------------------------------------------------------------------

// A closed ledger with a record of every kind, and a reader of it.
class FullLedgerTest : public LedgerTest {
 protected:
  void SetUp() override {
    LedgerTest::SetUp();
    genesis_ = BlockOf(0);
    genesis_.genesis = true;
    first_ = BlockOf(0);
    first_.state_root = DigestOf(77);
    second_ = BlockOf(1);
    second_.members = {PeerOf(1), PeerOf(3)};
    second_.removals = {
        {PeerOf(2), wire::RemovalKind::kVerdict, 1, {.old_text = "3 of 5 found it guilty"}}};
    wire::EvidenceFile evidence;
    evidence.kind = wire::EvidenceKind::kEquivocation;
    evidence.accused = PeerOf(2);
    evidence.slot.step = 1;
    evidence.slot.phase = wire::Phase::kA;
    evidence.slot.type = wire::MessageType::kCommit;
    evidence.frames = {base::Bytes(100, 1), base::Bytes(100, 2)};
    file_ = wire::EncodeEvidence(evidence);
    WriteAll();
    auto reader = LedgerReader::Open(Options().data_dir);
    ASSERT_TRUE(reader.ok()) << reader.status();
    reader_.emplace(*std::move(reader));
  }

  void WriteAll() {
    LedgerOptions options = Options();
    options.names = {{PeerOf(1), "anna"}, {PeerOf(3), "cem"}};
    auto ledger = MustOpen(options);
    ledger->Start({.committed = [](std::vector<StoreId>) {}, .failed = [](base::Status) {}});
    ASSERT_TRUE(ledger->Append(StoreOf(1, {BlockRecord(genesis_), Slot(0, 9)})).ok());
    ASSERT_TRUE(ledger->Append(StoreOf(2, {BlockRecord(first_), BlockRecord(second_)})).ok());
    const base::Bytes name(name_.bytes.begin(), name_.bytes.end());
    ASSERT_TRUE(ledger->Append(StoreOf(3, {{RecordKind::kEvidence, name, file_}})).ok());
    ASSERT_TRUE(ledger->AppendMetric(1, "accuracy", 0.75).ok());
    ASSERT_TRUE(ledger->Close("finished at step 1").ok());
  }

  wire::Block genesis_, first_, second_;
  base::Bytes file_;  // evidence
  const Digest name_ = DigestOf(5);
  std::optional<LedgerReader> reader_;
};

TEST_F(FullLedgerTest, SummaryHasTheOwnerAndTheOutcome) {
  const auto summary = reader_->Summary();
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->run_id, DigestOf(1));
  EXPECT_EQ(summary->peer, PeerOf(1));
  EXPECT_EQ(summary->outcome, "finished at step 1");
  EXPECT_EQ(summary->created_utc.size(), std::string("2026-01-01T00:00:00Z").size());
  EXPECT_EQ(summary->slots, 1u);
  EXPECT_EQ(summary->blocks, 3u);
}

TEST_F(FullLedgerTest, SummaryHasTheNamesOfTheMembersThatHaveOne) {
  const std::map<PeerId, std::string> names = {{PeerOf(1), "anna"}, {PeerOf(3), "cem"}};
  EXPECT_EQ(reader_->Summary()->names, names);
}

TEST_F(FullLedgerTest, ReadersSeeTheBlocksInOrder) {
  std::vector<base::Bytes> blocks;
  ASSERT_TRUE(reader_
                  ->ForEachBlock(0,
                                 [&](const wire::Block& block) {
                                   blocks.push_back(wire::EncodeBlock(block));
                                   return true;
                                 })
                  .ok());
  EXPECT_THAT(blocks, ElementsAre(wire::EncodeBlock(genesis_), wire::EncodeBlock(first_),
                                  wire::EncodeBlock(second_)));
  EXPECT_EQ(reader_->LastBlock()->decision, second_.decision);
}

TEST_F(FullLedgerTest, ReadersSeeRemovalsAndReasons) {
  const auto removals = reader_->Removals(PeerOf(2));
  ASSERT_TRUE(removals.ok()) << removals.status();
  ASSERT_EQ(removals->size(), 1u);
  EXPECT_EQ(removals->front().kind, wire::RemovalKind::kVerdict);
  EXPECT_EQ(removals->front().step, 1u);
  EXPECT_EQ(wire::TextOf(removals->front().reason), "3 of 5 found it guilty");
  EXPECT_THAT(*reader_->Removals(PeerOf(1)), IsEmpty());
}

TEST_F(FullLedgerTest, ReadersSeeEvidenceByAccusedAndByName) {
  const auto against = reader_->Evidence(PeerOf(2));
  ASSERT_TRUE(against.ok()) << against.status();
  ASSERT_EQ(against->size(), 1u);
  EXPECT_EQ(against->front().kind, "equivocation");
  EXPECT_EQ(against->front().step, 1u);
  EXPECT_THAT(*reader_->Evidence(PeerOf(1)), IsEmpty());
  EXPECT_EQ(*reader_->EvidenceFile(name_), file_);
  EXPECT_TRUE(absl::IsNotFound(reader_->EvidenceFile(DigestOf(6)).status()));
}

TEST_F(FullLedgerTest, ReadersSeeMetrics) {
  const auto metrics = reader_->Metrics("accuracy");
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  ASSERT_EQ(metrics->size(), 1u);
  EXPECT_EQ(metrics->front().value, 0.75);
}

// --- storing ------------------------------------------------------------------------------------

TEST_F(LedgerTest, ReportsInOrderOfAppendAndSharesCommits) {
  constexpr StoreId kCount = 2000;
  std::vector<StoreId> reported;
  std::promise<void> all;
  auto ledger = MustOpen(Options());
  ledger->Start({.committed =
                     [&](std::vector<StoreId> ids) {
                       reported.insert(reported.end(), ids.begin(), ids.end());
                       if (reported.size() == kCount) all.set_value();
                     },
                 .failed = [](base::Status status) { ADD_FAILURE() << status; }});
  for (StoreId id = 1; id <= kCount; ++id) {
    ASSERT_TRUE(ledger->Append(StoreOf(id, {Slot(id, id)})).ok());
  }
  all.get_future().wait();
  for (StoreId id = 1; id <= kCount; ++id) ASSERT_EQ(reported[id - 1], id);
  const LedgerStats stats = ledger->stats();
  EXPECT_EQ(stats.stores, kCount);
  EXPECT_LT(stats.commits, kCount / 2) << "stores that wait for the disk should share a commit";
}

TEST_F(LedgerTest, AReaderSeesAStoreWhenItIsReported) {
  auto ledger = MustOpen(Options());
  std::promise<void> committed;
  ledger->Start({.committed = [&](std::vector<StoreId>) { committed.set_value(); },
                 .failed = [](base::Status status) { ADD_FAILURE() << status; }});
  auto reader = LedgerReader::Open(Options().data_dir);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_TRUE(absl::IsNotFound(reader->LastBlock().status()));
  ASSERT_TRUE(ledger->Append(StoreOf(1, {BlockRecord(BlockOf(4))})).ok());
  committed.get_future().wait();
  const auto last = reader->LastBlock();
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_EQ(last->step, 4u);
}

TEST_F(LedgerTest, SyncsTheDiskBeforeItReports) {
  auto ledger = MustOpen(Options());
  std::atomic<int> before{0};
  std::promise<int> during;
  ledger->Start({.committed = [&](std::vector<StoreId>) { during.set_value(syncs - before); },
                 .failed = [](base::Status status) { ADD_FAILURE() << status; }});
  before = syncs.load();
  ASSERT_TRUE(ledger->Append(StoreOf(1, {Slot(1, 1)})).ok());
  EXPECT_GE(during.get_future().get(), 1);
}

TEST_F(LedgerTest, SyncsTheBytesOfAResultToo) {
  auto ledger = MustOpen(Options());
  std::promise<int> counts[3];
  ledger->Start({.committed = [&](std::vector<StoreId> ids) { counts[ids[0]].set_value(syncs); },
                 .failed = [](base::Status status) { ADD_FAILURE() << status; }});
  const auto syncs_after = [&](StoreId id, Record record) {
    EXPECT_TRUE(ledger->Append(StoreOf(id, {std::move(record)})).ok());
    return counts[id].get_future().get();
  };
  const int first = syncs_after(0, Slot(1, 1));  // the log begins
  const int slot = syncs_after(1, Slot(2, 1)) - first;
  const Record result{
      RecordKind::kResult, protocol::ResultKey(1, 0), {}, crypto::MakeBlob({1, 2, 3})};
  EXPECT_EQ(syncs_after(2, result) - first - slot, slot + 1);
}

base::Bytes ReadAll(const crypto::BulkSource& source) {
  base::Bytes all(source.size());
  EXPECT_TRUE(source.Read(0, all).ok());
  return all;
}

// A blob that is read piece by piece.
crypto::SharedBlob InPieces(const base::Bytes& bytes) {
  auto blob = std::make_shared<crypto::Blob>();
  blob->source = crypto::SourceOf(crypto::MakeBlob(bytes));
  return blob;
}

Record With(RecordKind kind, base::Bytes key, crypto::SharedBlob blob) {
  return {kind, std::move(key), {}, std::move(blob), std::make_shared<crypto::DiskCopy>()};
}

// Its owner forgets what it had in memory, and a peer may read it long after the next state took
// the place of this one.
TEST_F(LedgerTest, SaysWhereAStateAndAResultAreAndKeepsThemForWhoReadsThem) {
  base::Bytes state(3 * crypto::kChunkBytes + 5, 1);
  const Record first = With(RecordKind::kState, protocol::BlockKey(false, 1), InPieces(state));
  const Record result =
      With(RecordKind::kResult, protocol::ResultKey(1, 0), crypto::MakeBlob({1, 2, 3}));
  auto ledger = MustOpen(Options());
  std::promise<void> stored[3];
  ledger->Start({.committed =
                     [&](std::vector<StoreId> ids) {
                       for (const StoreId id : ids) stored[id].set_value();
                     },
                 .failed = [](base::Status status) { ADD_FAILURE() << status; }});
  const auto store = [&](StoreId id, std::vector<Record> records) {
    EXPECT_TRUE(ledger->Append(StoreOf(id, std::move(records))).ok());
    stored[id].get_future().get();
  };
  EXPECT_EQ(first.copy->place(), nullptr);
  store(0, {first, result});
  ASSERT_NE(first.copy->place(), nullptr);
  EXPECT_EQ(ReadAll(*first.copy->place()), state);
  EXPECT_EQ(ReadAll(*result.copy->place()), (base::Bytes{1, 2, 3}));

  // Both are superfluous now, and their places are not taken.
  const base::Bytes other(state.size(), 2);
  store(1, {With(RecordKind::kState, protocol::BlockKey(false, 9), crypto::MakeBlob(other))});
  store(2, {With(RecordKind::kState, protocol::BlockKey(false, 19), crypto::MakeBlob(other))});
  EXPECT_EQ(ReadAll(*first.copy->place()), state);
  EXPECT_EQ(ReadAll(*result.copy->place()), (base::Bytes{1, 2, 3}));
  ASSERT_TRUE(ledger->Close("finished").ok());
}

// A member that found that its state differed fetches that of the same block.
TEST_F(LedgerTest, OfTwoStatesOfAHeightTheLastCounts) {
  const auto state = [](std::uint8_t byte) {
    return With(RecordKind::kState, protocol::BlockKey(false, 1), crypto::MakeBlob({byte}));
  };
  const Record first = state(1);
  const Record last = state(2);
  const Record block{RecordKind::kBlock, protocol::BlockKey(false, 1),
                     wire::EncodeBlock(BlockOf(1))};
  ASSERT_TRUE(Write({block, first, last}).ok());
  EXPECT_EQ(ReadAll(*last.copy->place()), (base::Bytes{2}));
  auto ledger = MustOpen(Options());
  const auto restored = ledger->Restore();
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_EQ((*restored)->state->blob->data, (base::Bytes{2}));
  EXPECT_EQ(ReadAll(*(*restored)->state->copy->place()), (base::Bytes{2}));
}

// A disk that spoils what is to be sent may spoil what was signed.
TEST_F(LedgerTest, EndsWhenAReaderFindsItsBytesChanged) {
  auto ledger = MustOpen(Options());
  std::promise<void> stored;
  std::promise<std::string> failed;
  ledger->Start({.committed = [&](std::vector<StoreId>) { stored.set_value(); },
                 .failed = [&](base::Status why) { failed.set_value(base::MessageOf(why)); }});
  const Record result =
      With(RecordKind::kResult, protocol::ResultKey(1, 0), crypto::MakeBlob({1, 2, 3}));
  ASSERT_TRUE(ledger->Append(StoreOf(1, {result})).ok());
  stored.get_future().get();
  EXPECT_FALSE(result.copy->place()->Spoilt().ok());
  ASSERT_TRUE(ledger->Append(StoreOf(2, {Slot(1, 1)})).ok());
  EXPECT_THAT(failed.get_future().get(), HasSubstr("has other bytes than were written"));
}

// What was read in pieces is whole and has its root; what a member kept it can leave to the disk at
// once when it starts again.
TEST_F(LedgerTest, RestoresWhatCameInPiecesAndSaysWhereResultsAre) {
  base::Bytes state(40 * crypto::kChunkBytes + 5);
  for (std::size_t i = 0; i < state.size(); ++i) state[i] = static_cast<std::uint8_t>(i * i >> 7);
  ASSERT_TRUE(
      Write({{RecordKind::kBlock, protocol::BlockKey(false, 1), wire::EncodeBlock(BlockOf(1))},
             With(RecordKind::kState, protocol::BlockKey(false, 1), InPieces(state)),
             With(RecordKind::kResult, protocol::ResultKey(2, 0), crypto::MakeBlob({1, 2, 3}))})
          .ok());
  auto ledger = MustOpen(Options());
  const auto restored = ledger->Restore();
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_EQ((*restored)->state->blob->data, state);
  EXPECT_EQ((*restored)->state->blob->root, crypto::MerkleRootOfData(state));
  ASSERT_EQ((*restored)->results.size(), 1U);
  const Record& result = (*restored)->results[0];
  EXPECT_EQ(result.blob->data, (base::Bytes{1, 2, 3}));
  EXPECT_EQ(ReadAll(*result.copy->place()), (base::Bytes{1, 2, 3}));
}

TEST_F(LedgerTest, WritesMetricsWithoutAStore) {
  auto ledger = MustOpen(Options());
  ledger->Start({.committed = [](std::vector<StoreId>) {}, .failed = [](base::Status) {}});
  ASSERT_TRUE(ledger->AppendMetric(3, "loss", 1.5).ok());
  ASSERT_TRUE(ledger->Close("interrupted").ok());
  auto reader = LedgerReader::Open(Options().data_dir);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(reader->Metrics("loss")->size(), 1u);
}

// --- a key never gets a second value ------------------------------------------------------------

TEST_F(LedgerTest, RefusesASecondDigestForASlotAndThenEverything) {
  std::vector<StoreId> reported;
  std::promise<base::Status> failed;
  auto ledger = MustOpen(Options());
  ledger->Start({.committed =
                     [&](std::vector<StoreId> ids) {
                       reported.insert(reported.end(), ids.begin(), ids.end());
                     },
                 .failed = [&](base::Status status) { failed.set_value(status); }});
  ASSERT_TRUE(ledger->Append(StoreOf(1, {Slot(1, 1), Slot(2, 2)})).ok());
  while (ledger->stats().stores == 0) std::this_thread::yield();
  ASSERT_TRUE(ledger->Append(StoreOf(2, {Slot(3, 3), Slot(2, 99)})).ok());

  const base::Status why = failed.get_future().get();
  EXPECT_TRUE(absl::IsFailedPrecondition(why)) << why;
  EXPECT_TRUE(IsOneLine(why)) << why;
  EXPECT_THAT(base::MessageOf(why), HasSubstr("was signed already for other bytes"));
  EXPECT_EQ(ledger->Append(StoreOf(3, {Slot(4, 4)})), why);
  EXPECT_EQ(ledger->Close("x"), why);
  EXPECT_THAT(reported, ElementsAre(1));

  auto reader = LedgerReader::Open(Options().data_dir);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(reader->Summary()->slots, 2u) << "the refused Store left part of itself behind";
}

TEST_F(LedgerTest, TakesTheSameValueAgain) {
  const Record block = BlockRecord(BlockOf(3));
  EXPECT_TRUE(Write({Slot(1, 1), Slot(1, 1), block, block}).ok());
}

TEST_F(LedgerTest, RefusesImpossibleRecords) {
  wire::Block other = BlockOf(3);
  other.tau = 0.25;
  Record short_slot = Slot(1, 1);
  short_slot.value.clear();
  Record wrong_key = BlockRecord(BlockOf(3));
  wrong_key.key = protocol::BlockKey(false, 4);
  const std::vector<std::vector<Record>> cases = {
      {BlockRecord(BlockOf(3)), BlockRecord(other)},
      {short_slot},
      {wrong_key},
      {{RecordKind::kBlock, protocol::BlockKey(false, 1), {1, 2, 3}}},
      {{RecordKind::kEvidence, {1}, {2}}},
  };
  for (const std::vector<Record>& records : cases) {
    const base::Status status = Write(records);
    EXPECT_TRUE(absl::IsInternal(status)) << status;
    EXPECT_TRUE(IsOneLine(status)) << status;
    std::filesystem::remove_all(Options().data_dir);
  }
}

TEST_F(LedgerTest, KeepsEvidenceThatItCannotRead) {
  const Digest name = DigestOf(5);
  ASSERT_TRUE(
      Write({{RecordKind::kEvidence, {name.bytes.begin(), name.bytes.end()}, {1, 2}}}).ok());
  auto reader = LedgerReader::Open(Options().data_dir);
  ASSERT_TRUE(reader.ok()) << reader.status();
  const auto all = reader->Evidence(std::nullopt);
  ASSERT_TRUE(all.ok()) << all.status();
  ASSERT_EQ(all->size(), 1u);
  EXPECT_FALSE(all->front().step.has_value());
  EXPECT_FALSE(all->front().accused.has_value());
}

}  // namespace
}  // namespace ostraka::store::ledger_test
