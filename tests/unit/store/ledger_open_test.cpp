// The folders that a ledger refuses, and the reasons that it gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "node/store/ledger.h"
#include "node/store/ledger_reader.h"
#include "node/store/ledger_schema.h"
#include "tests/unit/store/ledger_fixture.h"

namespace ostraka::store::ledger_open_test {
namespace {

using ::testing::HasSubstr;

class LedgerOpenTest : public LedgerTest {
 protected:
  void Execute(const char* sql) const {
    const std::string path = Options().data_dir + "/" + kLedgerFileName;
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &raw), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(raw, sql, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(raw);
  }
};

TEST_F(LedgerOpenTest, RefusesAFolderInUseAndNamesTheProcess) {
  const auto ledger = MustOpen(Options());
  const base::Status refusal = Refusal(Options());
  EXPECT_TRUE(absl::IsFailedPrecondition(refusal)) << refusal;
  EXPECT_TRUE(IsOneLine(refusal));
  EXPECT_THAT(base::MessageOf(refusal),
              HasSubstr("in use by process " + std::to_string(::getpid())));
}

TEST_F(LedgerOpenTest, RefusesAFolderOfAnotherRun) {
  MustOpen(Options(1, 1));
  const base::Status refusal = Refusal(Options(2, 1));
  EXPECT_TRUE(absl::IsFailedPrecondition(refusal)) << refusal;
  EXPECT_TRUE(IsOneLine(refusal));
  EXPECT_THAT(base::MessageOf(refusal), HasSubstr("belongs to run " + DigestOf(1).Short()));
}

TEST_F(LedgerOpenTest, RefusesAFolderOfAnotherKey) {
  MustOpen(Options(1, 1));
  const base::Status refusal = Refusal(Options(1, 2));
  EXPECT_TRUE(absl::IsFailedPrecondition(refusal)) << refusal;
  EXPECT_TRUE(IsOneLine(refusal));
  EXPECT_THAT(base::MessageOf(refusal), HasSubstr("belongs to the key of " + PeerOf(1).Short()));
}

// In a folder that others may enter, and where an older version left its files open to all.
TEST_F(LedgerOpenTest, ItsFilesAreTheOwnersAlone) {
  namespace fs = std::filesystem;
  constexpr auto kOwner = fs::perms::owner_read | fs::perms::owner_write;
  constexpr auto kAll = kOwner | fs::perms::group_read | fs::perms::others_read;
  const mode_t before = umask(0);
  fs::create_directories(Options().data_dir);
  ASSERT_TRUE(Write({Slot(3, 2), BlockRecord(BlockOf(3))}).ok());
  for (const bool was_open : {false, true}) {
    if (was_open) {
      for (const auto& file : fs::directory_iterator(Options().data_dir)) {
        fs::permissions(file.path(), kAll);
      }
    }
    const auto ledger = MustOpen(Options());
    std::size_t files = 0;
    for (const auto& file : fs::directory_iterator(Options().data_dir)) {
      EXPECT_EQ(file.status().permissions(), kOwner) << file.path();
      ++files;
    }
    EXPECT_GE(files, 5U) << "lock, ledger.sqlite, its -wal and -shm, bulk";
  }
  umask(before);
}

TEST_F(LedgerOpenTest, RestoresNothingAtFirst) {
  const auto ledger = MustOpen(Options());
  const auto restored = ledger->Restore();
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_EQ(*restored, nullptr);
}

// The messages that the key signed in the newest sealed step and the open one, to the byte; none
// from before.
TEST_F(LedgerOpenTest, RestoresSlotsSignedSinceTheNewestBlocksStep) {
  const Record sealed = Slot(2, 1);
  const Record open = Slot(3, 2);
  ASSERT_TRUE(Write({sealed, BlockRecord(BlockOf(3)), open}).ok());
  const auto ledger = MustOpen(Options());
  const auto restored = ledger->Restore();
  ASSERT_TRUE(restored.ok()) << restored.status();
  ASSERT_NE(*restored, nullptr);
  ASSERT_EQ((*restored)->slots.size(), 1U);
  EXPECT_EQ((*restored)->slots[0].key, open.key);
  EXPECT_EQ((*restored)->slots[0].value, open.value);
  ASSERT_EQ((*restored)->blocks.size(), 1U);
  EXPECT_FALSE((*restored)->member) << "nothing says that this store began with the run";
}

// A stored result may be spoilt, or its AGG never said: the right result is stored under its key.
TEST_F(LedgerOpenTest, GivesBackTheLastResultOfAColumn) {
  const auto result = [](std::uint8_t tag) {
    return Record{
        RecordKind::kResult, protocol::ResultKey(3, 0), {}, crypto::MakeBlob({tag, 2, 3})};
  };
  ASSERT_TRUE(Write({BlockRecord(BlockOf(3)), result(1), result(1), result(2)}).ok());
  const auto restored = MustOpen(Options())->Restore();
  ASSERT_TRUE(restored.ok()) << restored.status();
  ASSERT_EQ((*restored)->results.size(), 1U);
  EXPECT_EQ((*restored)->results[0].blob->data, result(2).blob->data);
}

// Of a state that is being fetched: the last bytes of each part, of the newest state alone, until a
// state of that height is stored.
TEST_F(LedgerOpenTest, GivesBackThePartsOfAStateUntilItIsWhole) {
  const auto part = [](std::uint64_t height, std::uint32_t number, std::uint8_t tag) {
    return Record{RecordKind::kStatePart,
                  protocol::StatePartKey(height, number),
                  {},
                  crypto::MakeBlob({tag, 2, 3})};
  };
  ASSERT_TRUE(Write({part(30, 0, 1), part(10, 0, 1), part(10, 1, 2)}).ok());
  ASSERT_TRUE(Write({part(20, 0, 3), part(20, 2, 4), part(20, 2, 5), part(20, 2, 5)}).ok());
  {
    const auto restored = MustOpen(Options())->Restore();
    ASSERT_TRUE(restored.ok()) << restored.status();
    ASSERT_NE(*restored, nullptr) << "a store with nothing else";
    ASSERT_EQ((*restored)->state_parts.size(), 2U);
    EXPECT_EQ((*restored)->state_parts[0].key, protocol::StatePartKey(20, 0));
    EXPECT_EQ((*restored)->state_parts[0].blob->data, part(20, 0, 3).blob->data);
    EXPECT_EQ((*restored)->state_parts[1].key, protocol::StatePartKey(20, 2));
    EXPECT_EQ((*restored)->state_parts[1].blob->data, part(20, 2, 5).blob->data);
  }
  const Record state{RecordKind::kState, protocol::BlockKey(false, 19), {}, crypto::MakeBlob({9})};
  ASSERT_TRUE(Write({state}).ok());
  const auto restored = MustOpen(Options())->Restore();
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_TRUE(*restored == nullptr || (*restored)->state_parts.empty());
}

// The newest state and the results after it; older ones are superfluous.
TEST_F(LedgerOpenTest, RestoresTheNewestStateAndLaterResults) {
  const auto blob = [](std::uint8_t byte) { return crypto::MakeBlob({byte, byte}); };
  const auto state = [&](std::uint64_t step, std::uint8_t byte) {
    return Record{RecordKind::kState, protocol::BlockKey(false, step), {}, blob(byte)};
  };
  const auto result = [&](std::uint64_t step, std::uint8_t byte) {
    return Record{RecordKind::kResult, protocol::ResultKey(step, 0), {}, blob(byte)};
  };
  const Record member{RecordKind::kMember, protocol::BlockKey(true, 0), {}};
  const Record asks{RecordKind::kAsks, protocol::BlockKey(false, 7), {}};
  ASSERT_TRUE(Write({member, asks, result(2, 4), BlockRecord(BlockOf(3)), result(3, 1), state(3, 2),
                     BlockRecord(BlockOf(4)), result(4, 3)})
                  .ok());
  const auto ledger = MustOpen(Options());
  const auto restored = ledger->Restore();
  ASSERT_TRUE(restored.ok()) << restored.status();
  ASSERT_TRUE((*restored)->state);
  EXPECT_EQ((*restored)->state->key, protocol::BlockKey(false, 3));
  EXPECT_EQ((*restored)->state->blob->data, blob(2)->data);
  ASSERT_EQ((*restored)->results.size(), 2U) << "those of the state's block are for who is behind";
  EXPECT_EQ((*restored)->results[0].key, protocol::ResultKey(3, 0));
  EXPECT_EQ((*restored)->results[1].key, protocol::ResultKey(4, 0));
  EXPECT_EQ((*restored)->results[1].blob->data, blob(3)->data);
  EXPECT_EQ((*restored)->blocks.size(), 2U);
  EXPECT_TRUE((*restored)->member);
  EXPECT_EQ((*restored)->asks_since, 8U);
  EXPECT_FALSE((*restored)->fork);
}

// Either the bytes are those that were written, or no node starts from them.
TEST_F(LedgerOpenTest, RefusesBulkThatIsDamagedOrMissing) {
  const Record member{RecordKind::kMember, protocol::BlockKey(true, 0), {}};
  const Record state{
      RecordKind::kState, protocol::BlockKey(false, 3), {}, crypto::MakeBlob(base::Bytes(1000, 1))};
  ASSERT_TRUE(Write({member, BlockRecord(BlockOf(3)), state}).ok());
  const std::string path = Options().data_dir + "/" + kBulkFileName;
  const auto refusal = [&] { return MustOpen(Options())->Restore().status(); };
  EXPECT_TRUE(refusal().ok()) << refusal();
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(999).put(2);
  }
  EXPECT_TRUE(absl::IsInvalidArgument(refusal())) << refusal();
  EXPECT_TRUE(IsOneLine(refusal()));
  EXPECT_THAT(base::MessageOf(refusal()), HasSubstr("damaged"));
  std::filesystem::remove(path);
  EXPECT_TRUE(absl::IsInvalidArgument(refusal())) << refusal();
}

// A ledger of an older version has no table for them: a reader finds none, and a node makes it.
TEST_F(LedgerOpenTest, RestoresTheNewestHandover) {
  const auto handover = [](std::uint64_t step, std::uint8_t byte) {
    return Record{RecordKind::kHandover, protocol::BlockKey(false, step), {byte, byte}};
  };
  ASSERT_TRUE(Write({BlockRecord(BlockOf(3)), handover(2, 7), handover(3, 8)}).ok());
  const auto restored = MustOpen(Options())->Restore();
  ASSERT_TRUE(restored.ok()) << restored.status();
  ASSERT_TRUE((*restored)->handover);
  EXPECT_EQ((*restored)->handover->key, protocol::BlockKey(false, 3));
  EXPECT_EQ((*restored)->handover->value, (base::Bytes{8, 8}));
  EXPECT_EQ(LedgerReader::Open(Options().data_dir)->Handovers()->size(), 2U);
  Execute("DROP TABLE handovers");
  EXPECT_EQ(LedgerReader::Open(Options().data_dir)->Handovers()->size(), 0U);
  EXPECT_FALSE((*MustOpen(Options())->Restore())->handover);
  EXPECT_TRUE(Write({handover(4, 9)}).ok());
}

// A node that has seen a fork stays frozen, however often it is restarted.
TEST_F(LedgerOpenTest, RemembersAFork) {
  const std::string first = "the run has split";
  const std::string line = "the run has split, and this one is named";
  base::Bytes key = protocol::BlockKey(false, 3);
  key.push_back(0);
  base::Bytes last = key;
  last.back() = 1;
  ASSERT_TRUE(Write({BlockRecord(BlockOf(3)),
                     {RecordKind::kFork, key, {first.begin(), first.end()}},
                     {RecordKind::kFork, last, {line.begin(), line.end()}}})
                  .ok());
  const auto restored = MustOpen(Options())->Restore();
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_EQ((*restored)->fork, line);
}

TEST_F(LedgerOpenTest, RefusesAFileThatIsNoLedger) {
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

TEST_F(LedgerOpenTest, RefusesADatabaseOfAnotherProgramAndAnotherSchema) {
  MustOpen(Options());
  Execute("PRAGMA user_version = 1");
  EXPECT_TRUE(absl::IsFailedPrecondition(Refusal(Options()))) << Refusal(Options());
  EXPECT_TRUE(absl::IsFailedPrecondition(LedgerReader::Open(Options().data_dir).status()));
  Execute("PRAGMA application_id = 1");
  EXPECT_TRUE(absl::IsInvalidArgument(Refusal(Options()))) << Refusal(Options());
  EXPECT_TRUE(absl::IsInvalidArgument(LedgerReader::Open(Options().data_dir).status()));
}

TEST_F(LedgerOpenTest, RefusesAFolderThatCannotBeMade) {
  std::ofstream(root_ + "/file") << "not a folder";
  LedgerOptions options = Options();
  options.data_dir = root_ + "/file/node";
  const base::Status refusal = Refusal(options);
  EXPECT_TRUE(absl::IsUnavailable(refusal)) << refusal;
  EXPECT_TRUE(IsOneLine(refusal));
}

TEST_F(LedgerOpenTest, ReaderReportsAMissingLedger) {
  const base::Status refusal = LedgerReader::Open(root_ + "/nowhere").status();
  EXPECT_TRUE(absl::IsNotFound(refusal)) << refusal;
  EXPECT_FALSE(std::filesystem::exists(root_ + "/nowhere"));
}

}  // namespace
}  // namespace ostraka::store::ledger_open_test
