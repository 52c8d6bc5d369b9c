// A ledger whose files are moved, deleted or replaced while it is open.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <future>

#include "node/store/ledger.h"
#include "node/store/ledger_reader.h"
#include "tests/unit/store/ledger_fixture.h"

namespace ostraka::store::ledger_moved_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LedgerMovedTest : public LedgerTest {
 protected:
  // Stores a first slot, does `harm` to the folder, and stores a second: the ids that were reported
  // committed, and the failure.
  void Run(const std::function<void(const std::string& dir)>& harm) {
    committed_.clear();
    std::promise<void> first;
    std::promise<base::Status> failed;
    auto ledger = MustOpen(Options());
    ledger->Start({.committed =
                       [&](std::vector<StoreId> ids) {
                         committed_.insert(committed_.end(), ids.begin(), ids.end());
                         if (ids.front() == 1) first.set_value();
                       },
                   .failed = [&](base::Status why) { failed.set_value(std::move(why)); }});
    ASSERT_TRUE(ledger->Append(StoreOf(1, {Slot(1, 1)})).ok());
    first.get_future().wait();
    harm(Options().data_dir);
    ASSERT_TRUE(ledger->Append(StoreOf(2, {Slot(2, 1)})).ok());
    auto told = failed.get_future();
    ASSERT_EQ(told.wait_for(std::chrono::seconds(60)), std::future_status::ready);
    why_ = told.get();
    EXPECT_FALSE(ledger->Append(StoreOf(3, {Slot(3, 1)})).ok());
    closed_ = ledger->Close("x");
  }
  void ExpectRefused(const std::string& file) {
    EXPECT_THAT(committed_, ElementsAre(1)) << "a slot may be signed that nobody remembers";
    EXPECT_TRUE(absl::IsUnavailable(why_)) << why_;
    EXPECT_TRUE(IsOneLine(why_)) << why_;
    EXPECT_THAT(base::MessageOf(why_),
                HasSubstr("data folder " + Options().data_dir + " was moved"));
    EXPECT_THAT(base::MessageOf(why_), HasSubstr("(" + file + " there"));
    EXPECT_EQ(closed_, why_);
  }

  std::vector<StoreId> committed_;
  base::Status why_, closed_;
};

TEST_F(LedgerMovedTest, AMovedFolderKeepsWhatWasStoredAndReportsNothingMore) {
  Run([this](const std::string& dir) { fs::rename(dir, root_ + "/moved"); });
  ExpectRefused("ledger.sqlite");
  auto reader = LedgerReader::Open(root_ + "/moved");
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(reader->Summary()->slots, 2U) << "the one that was not reported is recorded, too";
  EXPECT_FALSE(fs::exists(Options().data_dir)) << "nothing took its place";
}

TEST_F(LedgerMovedTest, ADeletedFolder) {
  Run([](const std::string& dir) { fs::remove_all(dir); });
  ExpectRefused("ledger.sqlite");
}

TEST_F(LedgerMovedTest, AFolderThatWasReplacedByAnEmptyOneOrByItsCopy) {
  Run([this](const std::string& dir) {
    fs::rename(dir, root_ + "/moved");
    fs::create_directory(dir);
  });
  ExpectRefused("ledger.sqlite");
  fs::remove_all(Options().data_dir);
  fs::remove_all(root_ + "/moved");
  Run([this](const std::string& dir) {
    fs::rename(dir, root_ + "/moved");
    fs::copy(root_ + "/moved", dir);
  });
  ExpectRefused("ledger.sqlite");
}

// SQLite finds what it needs in the log until it is closed: without it the newest slots are lost.
TEST_F(LedgerMovedTest, ALogOrBytesThatWereDeletedBesideTheDatabase) {
  for (const char* const file : {"ledger.sqlite-wal", "bulk"}) {
    Run([&](const std::string& dir) { fs::remove(dir + "/" + file); });
    ExpectRefused(file);
    fs::remove_all(Options().data_dir);
  }
}

TEST_F(LedgerMovedTest, AFolderThatVanishesBeforeTheEndIsToldAtTheEnd) {
  auto ledger = MustOpen(Options());
  ledger->Start({.committed = [](std::vector<StoreId>) {}, .failed = [](base::Status) {}});
  fs::remove_all(Options().data_dir);
  EXPECT_THAT(base::MessageOf(ledger->Close("x")), HasSubstr("was moved, deleted or replaced"));
}

TEST_F(LedgerMovedTest, ALinkInTheOldPlaceIsAsGood) {
  auto ledger = MustOpen(Options());
  ledger->Start({.committed = [](std::vector<StoreId>) {}, .failed = [](base::Status) {}});
  fs::rename(Options().data_dir, root_ + "/moved");
  fs::create_directory_symlink(root_ + "/moved", Options().data_dir);
  ASSERT_TRUE(ledger->Append(StoreOf(1, {Slot(1, 1)})).ok());
  EXPECT_TRUE(ledger->Close("x").ok());
}

}  // namespace
}  // namespace ostraka::store::ledger_moved_test
