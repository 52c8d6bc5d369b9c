#include "sim/compare/engine/cell_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "sim/compare/cells/cell.h"

namespace ostraka::compare::cell_store_test {
namespace {

using testing::HasSubstr;

class CellStoreTest : public testing::Test {
 protected:
  CellStoreTest() {
    std::string name = (std::filesystem::temp_directory_path() / "cells-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~CellStoreTest() override { std::filesystem::remove_all(folder_); }

  std::string file() const { return folder_ + "/cells.jsonl"; }
  std::string Read() const {
    std::ifstream in(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void Write(const std::string& text) const {
    std::ofstream(file(), std::ios::binary | std::ios::trunc) << text;
  }
  static base::Digest Id(std::uint8_t number) {
    base::Digest id;
    id.bytes[0] = number;
    return id;
  }
  static Record Finished(double accuracy) {
    Record record;
    record.result = CellResult{{{10, accuracy, 0.5, accuracy, 0.5}}, {}, {}, 7};
    record.cost = {1.5, 1000};
    return record;
  }
  base::Status AddThree() const {
    ASSIGN_OR_RETURN(CellStore store, CellStore::Open(folder_, maker_));
    RETURN_IF_ERROR(store.Append(Id(1), Finished(0.25)));
    Record failed;
    failed.error = "step 3: \"quoted\"\nline";
    RETURN_IF_ERROR(store.Append(Id(2), failed));
    return store.Append(Id(3), Finished(0.75));
  }

  std::string folder_;
  Maker maker_{"1.0", "libtorch, numerics 5"};
};

TEST_F(CellStoreTest, KeepsRecords) {
  ASSERT_TRUE(AddThree().ok());
  const auto store = CellStore::Open(folder_, maker_);
  ASSERT_TRUE(store.ok()) << store.status().ToString();
  ASSERT_EQ(store->records().size(), 3u);
  EXPECT_EQ(store->records().at(Id(1)).result, Finished(0.25).result);
  EXPECT_EQ(store->records().at(Id(1)).cost.seconds, 1.5);
  EXPECT_FALSE(store->records().at(Id(2)).result);
  EXPECT_EQ(store->records().at(Id(2)).error, "step 3: \"quoted\"\nline");
}

// A kill -9 or a power cut can leave any beginning of the file.
TEST_F(CellStoreTest, TruncatedFileOpensWithItsWholeLines) {
  ASSERT_TRUE(AddThree().ok());
  const std::string whole = Read();
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    Write(whole.substr(0, size));
    const auto lines = static_cast<std::size_t>(
        std::count(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size), '\n'));
    const auto store = CellStore::Open(folder_, maker_);
    ASSERT_TRUE(store.ok()) << size << ": " << store.status().ToString();
    EXPECT_EQ(store->records().size(), lines == 0 ? 0 : lines - 1) << size;
  }
}

TEST_F(CellStoreTest, ContinuesAfterATornLine) {
  ASSERT_TRUE(AddThree().ok());
  const std::string whole = Read();
  Write(whole.substr(0, whole.size() - 10));
  {
    auto store = CellStore::Open(folder_, maker_);
    ASSERT_TRUE(store.ok());
    ASSERT_TRUE(store->Append(Id(3), Finished(0.75)).ok());
  }
  EXPECT_EQ(Read(), whole);
}

TEST_F(CellStoreTest, ChangedByteInTheMiddleIsDetected) {
  ASSERT_TRUE(AddThree().ok());
  const std::string whole = Read();
  const std::size_t second = whole.find('\n') + 1;
  for (const std::size_t at : {std::size_t{0}, std::size_t{20}, second + 3, second + 40}) {
    std::string changed = whole;
    changed[at] ^= 1;
    Write(changed);
    const auto store = CellStore::Open(folder_, maker_);
    ASSERT_FALSE(store.ok()) << at;
    EXPECT_THAT(base::MessageOf(store.status()), HasSubstr("is damaged"));
  }
}

TEST_F(CellStoreTest, TheNewestRecordOfACellCounts) {
  ASSERT_TRUE(AddThree().ok());
  {
    auto store = CellStore::Open(folder_, maker_);
    ASSERT_TRUE(store.ok());
    ASSERT_TRUE(store->Append(Id(2), Finished(0.5)).ok());
  }
  const auto cells = ReadCells(folder_);
  ASSERT_TRUE(cells.ok());
  EXPECT_EQ(cells->maker, maker_);
  EXPECT_EQ(cells->records.at(Id(2)).result, Finished(0.5).result);
}

TEST_F(CellStoreTest, RefusesAnotherMakersCells) {
  ASSERT_TRUE(AddThree().ok());
  const auto version = CellStore::Open(folder_, {"1.1", maker_.profile});
  EXPECT_THAT(base::MessageOf(version.status()),
              HasSubstr("written by 1.0, and this program is 1.1"));
  const auto profile = CellStore::Open(folder_, {"1.0", "other"});
  EXPECT_THAT(base::MessageOf(profile.status()),
              HasSubstr("numerics 5, and this program is other"));
}

TEST_F(CellStoreTest, MissingAndUnwritableFolders) {
  EXPECT_EQ(ReadCells(folder_ + "/none").status().code(), absl::StatusCode::kNotFound);
  Write("");
  EXPECT_EQ(ReadCells(folder_).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CellStore::Open("/proc/none", maker_).status().code(), absl::StatusCode::kUnavailable);
}

// The system's limit on file sizes stands for a full disk.
TEST_F(CellStoreTest, FullDiskIsReportedAndLeavesASoundFile) {
  ASSERT_TRUE(AddThree().ok());
  const std::string whole = Read();
  {
    auto store = CellStore::Open(folder_, maker_);
    ASSERT_TRUE(store.ok());
    const auto before = signal(SIGXFSZ, SIG_IGN);
    rlimit limit = {};
    getrlimit(RLIMIT_FSIZE, &limit);
    const rlimit small = {whole.size() + 20, limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    const base::Status status = store->Append(Id(4), Finished(0.5));
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, before);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(base::MessageOf(status), HasSubstr("free some space"));
  }
  EXPECT_EQ(CellStore::Open(folder_, maker_)->records().size(), 3u);
}

TEST(SealLine, RoundTrips) {
  EXPECT_EQ(OpenLine(SealLine("{}")), "{}");
  EXPECT_EQ(OpenLine(""), std::nullopt);
  EXPECT_EQ(OpenLine("0123456789abcdef {}"), std::nullopt);
}

}  // namespace
}  // namespace ostraka::compare::cell_store_test
