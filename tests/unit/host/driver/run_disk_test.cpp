#include "node/host/driver/run_disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "node/store/ledger_reader.h"
#include "tests/unit/host/driver/node_driver_fixture.h"
#include "tests/unit/os/temp_folder.h"

namespace ostraka::host::run_disk_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RunDiskTest : public os::TempFolderTest {
 protected:
  void Open(std::optional<store::CheckpointWriterOptions> states = std::nullopt) {
    auto ledger = store::Ledger::Open({.data_dir = dir_, .run_id = {}, .peer = {}});
    ASSERT_TRUE(ledger.ok()) << ledger.status();
    disk_.emplace(inlet_, *std::move(ledger), std::move(states),
                  RunDiskEvents{.stored =
                                    [this](protocol::StoreId id) {
                                      stored_.push_back(id);
                                      if (throws_) throw std::runtime_error("no");
                                    },
                                .failed = [this](const base::Status& why) { failed_ = why; },
                                .checkpoint_failed = [](const base::Status&) {}});
    disk_->Start();
  }
  base::Status Append(protocol::StoreId id, std::uint64_t step, std::uint8_t digest) {
    return disk_->Append({id, {SlotRecord(step, digest)}});
  }

  boost::asio::io_context io_;
  const boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      io_.get_executor()};
  std::vector<std::string> thrown_;
  const Inlet inlet_{io_, [this](const std::string& what) { thrown_.push_back(what); }};
  std::vector<protocol::StoreId> stored_;
  std::optional<base::Status> failed_;
  bool throws_ = false;
  std::optional<RunDisk> disk_;
};

TEST_F(RunDiskTest, ReportsStoresInTheOrderOfAppendOnceTheyAreDurable) {
  Open();
  for (const protocol::StoreId id : {5, 3, 9}) ASSERT_TRUE(Append(id, id, 1).ok());
  EXPECT_TRUE(disk_->StoresInFlight());
  EXPECT_TRUE(stored_.empty()) << "within Append";
  while (disk_->StoresInFlight()) io_.run_one();
  EXPECT_THAT(stored_, ElementsAre(5, 3, 9));
  auto reader = store::LedgerReader::Open(dir_);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(reader->Summary()->slots, 3u);
}

TEST_F(RunDiskTest, AfterAFailureNoStoreIsReported) {
  Open();
  ASSERT_TRUE(Append(1, 1, 1).ok());
  while (stored_.empty()) io_.run_one();
  ASSERT_TRUE(Append(2, 1, 2).ok());  // the slot of step 1 was signed already
  while (!failed_) io_.run_one();
  EXPECT_THAT(base::MessageOf(*failed_), HasSubstr("was signed already"));
  EXPECT_THAT(stored_, ElementsAre(1));
  EXPECT_FALSE(Append(3, 3, 1).ok());
  EXPECT_EQ(disk_->CloseLedger("ended"), *failed_);
}

TEST_F(RunDiskTest, AReceiverThatThrewHearsOfNoFurtherStore) {
  Open();
  throws_ = true;
  ASSERT_TRUE(Append(1, 1, 1).ok());
  while (thrown_.empty()) io_.run_one();
  ASSERT_TRUE(Append(2, 2, 1).ok());
  ASSERT_TRUE(disk_->CloseLedger("ended").ok());
  io_.poll();
  EXPECT_THAT(stored_, ElementsAre(1));
  EXPECT_THAT(thrown_, ElementsAre("a library failed: no"));
}

TEST_F(RunDiskTest, FreesTheFolderAfterTheLastStateIsWritten) {
  Open(store::CheckpointWriterOptions{
      .data_dir = dir_, .layout = {{"x", {2}}}, .metadata = {}, .failed = {}});
  disk_->Offer(DoneWith(3, 1));
  disk_->Offer(DoneWith(4, 2));
  EXPECT_FALSE(store::DataFolder::Claim(dir_).ok());
  ASSERT_TRUE(disk_->CloseLedger("ended").ok());
  const auto file = disk_->Free();
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(*file, store::CheckpointPath(dir_, 4));
  EXPECT_TRUE(store::ReadCheckpoint(*file).ok());
  EXPECT_TRUE(store::DataFolder::Claim(dir_).ok());
}

TEST_F(RunDiskTest, WithoutStatesThereIsNoFile) {
  Open();
  disk_->Offer(DoneWith(3, 1));
  ASSERT_TRUE(disk_->CloseLedger("ended").ok());
  EXPECT_TRUE(absl::IsNotFound(disk_->Free().status()));
}

}  // namespace
}  // namespace ostraka::host::run_disk_test
