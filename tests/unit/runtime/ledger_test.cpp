#include "node/runtime/ledger.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "node/protocol/signer.h"
#include "node/runtime/ledger_reader.h"
#include "node/runtime/ledger_schema.h"
#include "node/wire/evidence_codec.h"

// Counts what reaches the disk: these stand before the C library's own, also for libsqlite3.
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

namespace ostraka::runtime {
namespace {

using protocol::Record;
using protocol::RecordKind;
using protocol::Store;
using protocol::StoreId;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Digest DigestOf(std::uint64_t n) {
  Digest digest;
  for (int i = 0; i < 8; ++i) digest.bytes[i] = static_cast<std::uint8_t>(n >> (8 * i));
  digest.bytes[31] = 1;
  return digest;
}
PeerId PeerOf(std::uint64_t n) { return PeerId{DigestOf(n).bytes}; }

Record Slot(std::uint64_t step, std::uint64_t signed_digest, wire::Phase phase = wire::Phase::kA) {
  wire::Slot slot;
  slot.step = step;
  slot.phase = phase;
  slot.type =
      phase == wire::Phase::kGenesis ? wire::MessageType::kBoot : wire::MessageType::kCommit;
  const Digest digest = DigestOf(signed_digest);
  return {RecordKind::kSlot, protocol::SlotKey(slot), {digest.bytes.begin(), digest.bytes.end()}};
}

wire::Block BlockOf(std::uint64_t step) {
  wire::Block block;
  block.step = step;
  block.decision = DigestOf(1000 + step);
  block.members = {PeerOf(1), PeerOf(2), PeerOf(3)};
  block.thresholds = {.n = 3, .t_s = 1, .t_a = 0};
  block.tau = 0.5;
  block.columns = {wire::ColumnFate::kApplied, wire::ColumnFate::kSumCheck};
  return block;
}

Record BlockRecord(const wire::Block& block) {
  return {RecordKind::kBlock, protocol::BlockKey(block.genesis, block.step),
          wire::EncodeBlock(block)};
}

Store StoreOf(StoreId id, std::vector<Record> records) { return {id, std::move(records)}; }

class LedgerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "ostraka-ledger-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  LedgerOptions Options(std::uint64_t run = 1, std::uint64_t peer = 1) const {
    return {.data_dir = root_ + "/node", .run_id = DigestOf(run), .peer = PeerOf(peer)};
  }

  static std::unique_ptr<Ledger> MustOpen(LedgerOptions options) {
    auto ledger = Ledger::Open(std::move(options));
    EXPECT_TRUE(ledger.ok()) << ledger.status();
    return ledger.ok() ? *std::move(ledger) : nullptr;
  }

  // Opens, stores `records` as one Store, closes.
  base::Status Write(std::vector<Record> records) const {
    auto ledger = MustOpen(Options());
    ledger->Start({.committed = [](std::vector<StoreId>) {}, .failed = [](base::Status) {}});
    const base::Status appended = ledger->Append(StoreOf(1, std::move(records)));
    EXPECT_TRUE(appended.ok()) << appended;
    return ledger->Close("finished");
  }

  // Why a second opening with `options` is refused.
  static base::Status Refusal(LedgerOptions options) {
    return Ledger::Open(std::move(options)).status();
  }

  std::string root_;
};

bool IsOneLine(const base::Status& status) {
  const std::string message = base::MessageOf(status);
  return !message.empty() && message.find('\n') == std::string::npos;
}

// --- storing ------------------------------------------------------------------------------------

TEST_F(LedgerTest, KeepsEveryKindOfRecordForReaders) {
  wire::Block genesis = BlockOf(0);
  genesis.genesis = true;
  wire::Block first = BlockOf(0);
  first.state_root = DigestOf(77);
  wire::Block second = BlockOf(1);
  second.members = {PeerOf(1), PeerOf(3)};
  second.removals = {{PeerOf(2), wire::RemovalKind::kVerdict, 1, "3 of 5 found it guilty"}};
  wire::EvidenceFile evidence;
  evidence.kind = wire::EvidenceKind::kEquivocation;
  evidence.accused = PeerOf(2);
  evidence.slot.step = 1;
  evidence.slot.phase = wire::Phase::kA;
  evidence.slot.type = wire::MessageType::kCommit;
  evidence.frames = {base::Bytes(100, 1), base::Bytes(100, 2)};
  const base::Bytes file = wire::EncodeEvidence(evidence);
  const Digest name = DigestOf(5);

  auto ledger = MustOpen(Options());
  ledger->Start({.committed = [](std::vector<StoreId>) {}, .failed = [](base::Status) {}});
  ASSERT_TRUE(ledger->Append(StoreOf(1, {BlockRecord(genesis), Slot(0, 9)})).ok());
  ASSERT_TRUE(ledger->Append(StoreOf(2, {BlockRecord(first), BlockRecord(second)})).ok());
  ASSERT_TRUE(ledger
                  ->Append(StoreOf(
                      3, {{RecordKind::kEvidence, {name.bytes.begin(), name.bytes.end()}, file}}))
                  .ok());
  ASSERT_TRUE(ledger->AppendMetric(1, "accuracy", 0.75).ok());
  ASSERT_TRUE(ledger->Close("finished at step 1").ok());

  auto reader = LedgerReader::Open(Options().data_dir);
  ASSERT_TRUE(reader.ok()) << reader.status();
  const auto summary = reader->Summary();
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->run_id, DigestOf(1));
  EXPECT_EQ(summary->peer, PeerOf(1));
  EXPECT_EQ(summary->outcome, "finished at step 1");
  EXPECT_EQ(summary->created_utc.size(), std::string("2026-01-01T00:00:00Z").size());
  EXPECT_EQ(summary->slots, 1u);
  EXPECT_EQ(summary->blocks, 3u);

  std::vector<base::Bytes> blocks;
  ASSERT_TRUE(reader
                  ->ForEachBlock(0,
                                 [&](const wire::Block& block) {
                                   blocks.push_back(wire::EncodeBlock(block));
                                   return true;
                                 })
                  .ok());
  EXPECT_THAT(blocks, ElementsAre(wire::EncodeBlock(genesis), wire::EncodeBlock(first),
                                  wire::EncodeBlock(second)));
  EXPECT_EQ(reader->LastBlock()->decision, second.decision);

  const auto removals = reader->Removals(PeerOf(2));
  ASSERT_TRUE(removals.ok()) << removals.status();
  ASSERT_EQ(removals->size(), 1u);
  EXPECT_EQ(removals->front().kind, wire::RemovalKind::kVerdict);
  EXPECT_EQ(removals->front().step, 1u);
  EXPECT_EQ(removals->front().reason, "3 of 5 found it guilty");
  EXPECT_THAT(*reader->Removals(PeerOf(1)), IsEmpty());

  const auto against = reader->Evidence(PeerOf(2));
  ASSERT_TRUE(against.ok()) << against.status();
  ASSERT_EQ(against->size(), 1u);
  EXPECT_EQ(against->front().kind, "equivocation");
  EXPECT_EQ(against->front().step, 1u);
  EXPECT_THAT(*reader->Evidence(PeerOf(1)), IsEmpty());
  EXPECT_EQ(*reader->EvidenceFile(name), file);
  EXPECT_TRUE(absl::IsNotFound(reader->EvidenceFile(DigestOf(6)).status()));

  const auto metrics = reader->Metrics("accuracy");
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  ASSERT_EQ(metrics->size(), 1u);
  EXPECT_EQ(metrics->front().value, 0.75);
}

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

TEST_F(LedgerTest, RefusesRecordsThatOnlyABugCanMake) {
  wire::Block other = BlockOf(3);
  other.tau = 0.25;
  Record short_slot = Slot(1, 1);
  short_slot.value.pop_back();
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

// --- crashes ------------------------------------------------------------------------------------

// The child: stores slots for ever and writes each reported id to `pipe_fd`.
[[noreturn]] void StoreUntilKilled(LedgerOptions options, int pipe_fd) {
  auto ledger = Ledger::Open(std::move(options));
  if (!ledger.ok()) ::_exit(1);
  (*ledger)->Start({.committed =
                        [pipe_fd](std::vector<StoreId> ids) {
                          const auto size = ids.size() * sizeof ids[0];
                          if (::write(pipe_fd, ids.data(), size) < 0) ::_exit(2);
                        },
                    .failed = [](base::Status) { ::_exit(3); }});
  for (StoreId id = 1;; ++id) {
    // Two records a Store, so that half a Store would show.
    if (!(*ledger)->Append(StoreOf(id, {Slot(id, 1), BlockRecord(BlockOf(id))})).ok()) ::_exit(4);
    while (id > (*ledger)->stats().stores + 8) std::this_thread::yield();
  }
}

TEST_F(LedgerTest, HoldsEverythingReportedBeforeAKill) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) StoreUntilKilled(Options(), ends[1]);
  ::close(ends[1]);

  StoreId id = 0;
  StoreId last = 0;
  while (::read(ends[0], &id, sizeof id) == sizeof id) {
    last = id;
    if (id == 300) {
      ASSERT_EQ(::kill(child, SIGKILL), 0);
    }
  }
  ::close(ends[0]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself with " << WEXITSTATUS(status);
  ASSERT_GE(last, 300u);

  auto reader = LedgerReader::Open(Options().data_dir);
  ASSERT_TRUE(reader.ok()) << reader.status();
  std::uint64_t expected = 1;
  ASSERT_TRUE(reader
                  ->ForEachBlock(0,
                                 [&](const wire::Block& block) {
                                   EXPECT_EQ(block.step, expected++);
                                   return true;
                                 })
                  .ok());
  EXPECT_GT(expected, last) << "a reported Store is gone";
  EXPECT_EQ(reader->Summary()->slots, reader->Summary()->blocks) << "half a Store is there";
  EXPECT_THAT(reader->Summary()->outcome, IsEmpty());

  // The lock went with the process: what stops a restart is what was signed.
  const base::Status refusal = Refusal(Options());
  EXPECT_THAT(base::MessageOf(refusal), HasSubstr("already signed"));
}

// --- opening rules ------------------------------------------------------------------------------

TEST_F(LedgerTest, RefusesAFolderInUseAndNamesTheProcess) {
  const auto ledger = MustOpen(Options());
  const base::Status refusal = Refusal(Options());
  EXPECT_TRUE(absl::IsFailedPrecondition(refusal)) << refusal;
  EXPECT_TRUE(IsOneLine(refusal));
  EXPECT_THAT(base::MessageOf(refusal),
              HasSubstr("in use by process " + std::to_string(::getpid())));
}

TEST_F(LedgerTest, RefusesAFolderOfAnotherRun) {
  MustOpen(Options(1, 1));
  const base::Status refusal = Refusal(Options(2, 1));
  EXPECT_TRUE(absl::IsFailedPrecondition(refusal)) << refusal;
  EXPECT_TRUE(IsOneLine(refusal));
  EXPECT_THAT(base::MessageOf(refusal), HasSubstr("belongs to run " + DigestOf(1).Short()));
}

TEST_F(LedgerTest, RefusesAFolderOfAnotherKey) {
  MustOpen(Options(1, 1));
  const base::Status refusal = Refusal(Options(1, 2));
  EXPECT_TRUE(absl::IsFailedPrecondition(refusal)) << refusal;
  EXPECT_TRUE(IsOneLine(refusal));
  EXPECT_THAT(base::MessageOf(refusal), HasSubstr("belongs to the key of " + PeerOf(1).Short()));
}

TEST_F(LedgerTest, RefusesAFolderInWhichTheKeySigned) {
  ASSERT_TRUE(Write({Slot(1, 1)}).ok());
  const base::Status refusal = Refusal(Options());
  EXPECT_TRUE(absl::IsFailedPrecondition(refusal)) << refusal;
  EXPECT_TRUE(IsOneLine(refusal));
  EXPECT_THAT(base::MessageOf(refusal), HasSubstr("not built yet"));
  EXPECT_THAT(base::MessageOf(refusal), HasSubstr("do NOT use this key in a new folder"));
}

TEST_F(LedgerTest, StartsAgainWhenOnlyGenesisSlotsWereSigned) {
  ASSERT_TRUE(Write({Slot(0, 1, wire::Phase::kGenesis)}).ok());
  // A new boot has a new id: the same slot with another digest must be free again.
  ASSERT_TRUE(Write({Slot(0, 2, wire::Phase::kGenesis)}).ok());
  ASSERT_TRUE(Write({BlockRecord(BlockOf(0))}).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(Refusal(Options())));
}

TEST_F(LedgerTest, RefusesAFileThatIsNoLedger) {
  std::filesystem::create_directories(Options().data_dir);
  const std::string path = Options().data_dir + "/" + kLedgerFileName;
  std::ofstream(path) << "This is a text file, and it is longer than the header of a database is: "
                         "SQLite looks at the first hundred bytes.";
  for (const base::Status& refusal :
       {Refusal(Options()), LedgerReader::Open(Options().data_dir).status()}) {
    EXPECT_TRUE(absl::IsInvalidArgument(refusal)) << refusal;
    EXPECT_TRUE(IsOneLine(refusal));
  }
}

TEST_F(LedgerTest, RefusesADatabaseOfAnotherProgramAndAnotherSchema) {
  MustOpen(Options());
  const auto execute = [&](const char* sql) {
    const std::string path = Options().data_dir + "/" + kLedgerFileName;
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &raw), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(raw, sql, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(raw);
  };
  execute("PRAGMA user_version = 2");
  EXPECT_TRUE(absl::IsFailedPrecondition(Refusal(Options()))) << Refusal(Options());
  EXPECT_TRUE(absl::IsFailedPrecondition(LedgerReader::Open(Options().data_dir).status()));
  execute("PRAGMA application_id = 1");
  EXPECT_TRUE(absl::IsInvalidArgument(Refusal(Options()))) << Refusal(Options());
  EXPECT_TRUE(absl::IsInvalidArgument(LedgerReader::Open(Options().data_dir).status()));
}

TEST_F(LedgerTest, RefusesAFolderThatCannotBeMade) {
  std::ofstream(root_ + "/file") << "not a folder";
  LedgerOptions options = Options();
  options.data_dir = root_ + "/file/node";
  const base::Status refusal = Refusal(options);
  EXPECT_TRUE(absl::IsUnavailable(refusal)) << refusal;
  EXPECT_TRUE(IsOneLine(refusal));
}

TEST_F(LedgerTest, AReaderSaysThatNoLedgerIsThere) {
  const base::Status refusal = LedgerReader::Open(root_ + "/nowhere").status();
  EXPECT_TRUE(absl::IsNotFound(refusal)) << refusal;
  EXPECT_FALSE(std::filesystem::exists(root_ + "/nowhere"));
}

TEST_F(LedgerTest, FailsOnceTheDiskIsFull) {
  // A limit on file sizes stands for a full disk, in a child so that the limit ends with it.
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    auto ledger = Ledger::Open(Options());
    if (!ledger.ok()) ::_exit(1);
    std::atomic<bool> failed{false};
    base::Status why;
    (*ledger)->Start({.committed = [](std::vector<StoreId>) {},
                      .failed =
                          [&](base::Status status) {
                            why = status;
                            failed = true;
                          }});
    const rlimit limit{256 * 1024, 256 * 1024};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(2);
    for (StoreId id = 1; (*ledger)->Append(StoreOf(id, {Slot(id, id)})).ok(); ++id) {
      if (id > 1'000'000) ::_exit(3);
      while (id > (*ledger)->stats().stores + 8 && !failed) std::this_thread::yield();
    }
    const bool told = absl::IsUnavailable((*ledger)->Close("x")) && IsOneLine(why);
    ::_exit(told ? 0 : 4);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);

  auto reader = LedgerReader::Open(Options().data_dir);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_GT(reader->Summary()->slots, 0u);
}

TEST_F(LedgerTest, BoundsWhatWaitsForTheDisk) {
  // The writer thread is held in its callback while the queue fills.
  std::promise<void> hold;
  std::shared_future<void> released(hold.get_future());
  LedgerOptions options = Options();
  options.max_queued_bytes = 1 << 20;
  auto ledger = MustOpen(options);
  ledger->Start({.committed = [released](std::vector<StoreId>) { released.wait(); },
                 .failed = [](base::Status status) { ADD_FAILURE() << status; }});
  ASSERT_TRUE(ledger->Append(StoreOf(1, {Slot(1, 1)})).ok());
  while (ledger->stats().stores == 0) std::this_thread::yield();
  const Digest name = DigestOf(1);
  const Record big{RecordKind::kEvidence,
                   {name.bytes.begin(), name.bytes.end()},
                   base::Bytes(options.max_queued_bytes / 2, 0)};
  ASSERT_TRUE(ledger->Append(StoreOf(2, {big})).ok());
  const base::Status refused = ledger->Append(StoreOf(3, {big}));
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
  EXPECT_THAT(base::MessageOf(refused), HasSubstr("too slow"));
  hold.set_value();
  EXPECT_TRUE(ledger->Close("x").ok());
}

}  // namespace
}  // namespace ostraka::runtime
