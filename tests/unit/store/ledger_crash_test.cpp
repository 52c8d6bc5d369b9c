// The contents of a ledger after a kill, on a full disk and on a slow one.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <future>
#include <thread>

#include "node/store/ledger.h"
#include "node/store/ledger_reader.h"
#include "tests/unit/store/ledger_fixture.h"

namespace ostraka::store::ledger_crash_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

using LedgerCrashTest = LedgerTest;

// Its content depends on the step, and its size fits no other record's place.
Record ResultOf(std::uint64_t step) {
  return {RecordKind::kResult,
          protocol::ResultKey(step, 0),
          {},
          crypto::MakeBlob(base::Bytes(1000 + step % 7 * 500, static_cast<std::uint8_t>(step)))};
}

Record StateAfter(std::uint64_t step) {
  return {RecordKind::kState,
          protocol::BlockKey(false, step),
          {},
          crypto::MakeBlob(base::Bytes(3000, static_cast<std::uint8_t>(step)))};
}

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
    // Several records in each Store, so that half a Store would be noticed.
    std::vector<Record> records = {Slot(id, 1), ResultOf(id), BlockRecord(BlockOf(id))};
    if (id % 16 == 0) records.push_back(StateAfter(id));
    if (!(*ledger)->Append(StoreOf(id, std::move(records))).ok()) ::_exit(4);
    while (id > (*ledger)->stats().stores + 8) std::this_thread::yield();
  }
}

TEST_F(LedgerCrashTest, HoldsEverythingReportedBeforeAKill) {
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

  // The lock ended with the process, and the next process finds its records.
  const auto again = MustOpen(Options());
  const auto restored = again->Restore();
  ASSERT_TRUE(restored.ok()) << restored.status();
  const std::uint64_t state = (expected - 1) / 16 * 16;
  ASSERT_TRUE((*restored)->state);
  EXPECT_EQ((*restored)->state->key, protocol::BlockKey(false, state));
  EXPECT_EQ((*restored)->state->blob->data, StateAfter(state).blob->data);
  EXPECT_EQ((*restored)->blocks.size(), expected - state);
  ASSERT_EQ((*restored)->results.size(), expected - state);
  for (std::uint64_t step = state; step < expected; ++step) {
    const Record& result = (*restored)->results[step - state];
    EXPECT_EQ(result.key, protocol::ResultKey(step, 0));
    EXPECT_EQ(result.blob->data, ResultOf(step).blob->data);
  }
}

// Fills it by rows in the database, or by bytes beside it.
void FillTheDisk(const LedgerOptions& options, Record (*record)(std::uint64_t)) {
  // A limit on file sizes stands for a full disk, in a child so that the limit ends with it.
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    auto ledger = Ledger::Open(options);
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
    for (StoreId id = 1; (*ledger)->Append(StoreOf(id, {record(id)})).ok(); ++id) {
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
}

TEST_F(LedgerCrashTest, FailsOnceTheDiskIsFull) {
  FillTheDisk(Options(), [](std::uint64_t id) { return Slot(id, id); });
  auto reader = LedgerReader::Open(Options().data_dir);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_GT(reader->Summary()->slots, 0u);
}

TEST_F(LedgerCrashTest, FailsOnceTheDiskIsFullOfResults) {
  FillTheDisk(Options(), ResultOf);
  ASSERT_TRUE(Write({Slot(1, 1)}).ok()) << "with room again it goes on";
  const auto ledger = MustOpen(Options());
  const auto restored = ledger->Restore();
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_GT((*restored)->results.size(), 10U);
}

TEST_F(LedgerCrashTest, BoundsTheRecordsThatWaitForTheDisk) {
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
}  // namespace ostraka::store::ledger_crash_test
