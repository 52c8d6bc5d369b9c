// Which folders a ledger refuses, and with which words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "node/runtime/ledger.h"
#include "node/runtime/ledger_reader.h"
#include "node/runtime/ledger_schema.h"
#include "tests/unit/runtime/ledger_fixture.h"

namespace ostraka::runtime {
namespace {

using ::testing::HasSubstr;

using LedgerOpenTest = LedgerTest;

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

TEST_F(LedgerOpenTest, RefusesAFolderInWhichTheKeySigned) {
  ASSERT_TRUE(Write({Slot(1, 1)}).ok());
  const base::Status refusal = Refusal(Options());
  EXPECT_TRUE(absl::IsFailedPrecondition(refusal)) << refusal;
  EXPECT_TRUE(IsOneLine(refusal));
  EXPECT_THAT(base::MessageOf(refusal), HasSubstr("not built yet"));
  EXPECT_THAT(base::MessageOf(refusal), HasSubstr("do NOT use this key in a new folder"));
}

TEST_F(LedgerOpenTest, StartsAgainWhenOnlyGenesisSlotsWereSigned) {
  ASSERT_TRUE(Write({Slot(0, 1, wire::Phase::kGenesis)}).ok());
  // A new boot has a new id: the same slot with another digest must be free again.
  ASSERT_TRUE(Write({Slot(0, 2, wire::Phase::kGenesis)}).ok());
  ASSERT_TRUE(Write({BlockRecord(BlockOf(0))}).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(Refusal(Options())));
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

TEST_F(LedgerOpenTest, RefusesAFolderThatCannotBeMade) {
  std::ofstream(root_ + "/file") << "not a folder";
  LedgerOptions options = Options();
  options.data_dir = root_ + "/file/node";
  const base::Status refusal = Refusal(options);
  EXPECT_TRUE(absl::IsUnavailable(refusal)) << refusal;
  EXPECT_TRUE(IsOneLine(refusal));
}

TEST_F(LedgerOpenTest, AReaderSaysThatNoLedgerIsThere) {
  const base::Status refusal = LedgerReader::Open(root_ + "/nowhere").status();
  EXPECT_TRUE(absl::IsNotFound(refusal)) << refusal;
  EXPECT_FALSE(std::filesystem::exists(root_ + "/nowhere"));
}

}  // namespace
}  // namespace ostraka::runtime
