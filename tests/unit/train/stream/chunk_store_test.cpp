// Chunks from sources that fail, lie and come back.
#include "node/train/stream/chunk_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "node/train/batch.h"
#include "node/train/exact/exact_trainer.h"
#include "node/train/exact/graph_file.h"
#include "node/train/stream/open_stream.h"
#include "tests/unit/os/temp_folder.h"
#include "tests/unit/train/stream/stream_files.h"

namespace ostraka::train::chunk_store_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MemoryReader;
using testing::SourceLog;
using testing::StreamFiles;
using testing::StreamRow;

constexpr std::uint32_t kChunks = 20;
constexpr std::uint32_t kRows = 8;

// Members of a run, by whom a chunk may be had.
class Members final : public base::ChunkLenders {
 public:
  std::optional<base::LentChunk> Borrow(std::uint64_t chunk, std::size_t size,
                                        const std::function<bool()>& /*unwanted*/) override {
    ++asked;
    if (chunk % 2 == 1 && !has_all) return std::nullopt;  // they have every other one
    base::Bytes bytes;
    for (std::uint32_t i = 0; i < kRows; ++i) {
      const base::Bytes row = StreamRow(static_cast<std::uint32_t>(chunk) * kRows + i);
      bytes.insert(bytes.end(), row.begin(), row.end());
    }
    EXPECT_EQ(bytes.size(), size);
    if (lies) bytes[5] ^= 1;
    return base::LentChunk{bytes, {}};
  }
  void Distrust(const base::PeerId& /*lender*/) override { ++distrusted; }
  void LendFrom(base::ChunkShelf& from, std::size_t chunk_bytes) override {
    shelf = &from;
    EXPECT_EQ(chunk_bytes, kRows * StreamRow(0).size());
  }
  void EndLending() override { shelf = nullptr; }

  std::atomic<int> asked = 0;
  std::atomic<int> distrusted = 0;
  bool lies = false;
  std::atomic<bool> has_all = false;
  base::ChunkShelf* shelf = nullptr;
};

class ChunkStoreTest : public os::TempFolderTest {
 protected:
  std::shared_ptr<RowStore> Make(int sources, std::uint64_t cache_bytes = 0, int connections = 1) {
    std::vector<Source> readers(static_cast<std::size_t>(sources));
    for (std::size_t i = 0; i < readers.size(); ++i) {
      for (int k = 0; k < connections; ++k) {
        readers[i].readers.push_back(
            std::make_unique<MemoryReader>(files_, logs_[i], "source " + std::to_string(i)));
      }
    }
    return FetchChunks(ParseStreamIndex(files_.at(kIndexFile)).value(), std::move(readers),
                       ChunkCache::Open(dir_ + "/cache", cache_bytes).value(), {}, members_);
  }
  int reads() const { return logs_[0].reads + logs_[1].reads; }

  std::map<std::string, base::Bytes> files_ = StreamFiles(kChunks, kRows, 6);
  SourceLog logs_[2];
  std::shared_ptr<Members> members_;
};

void ExpectRows(RowStore& store, const std::vector<std::uint32_t>& rows) {
  ASSERT_TRUE(store.Load(rows, nullptr).ok());
  for (const std::uint32_t row : rows) {
    const auto bytes = store.row(row);
    EXPECT_EQ(base::Bytes(bytes.begin(), bytes.end()), StreamRow(row));
  }
}

TEST_F(ChunkStoreTest, GivesEachRow) {
  const auto store = Make(2);
  EXPECT_EQ(store->size(), kChunks * kRows);
  std::vector<std::uint32_t> all(kChunks * kRows);
  std::iota(all.begin(), all.end(), 0U);
  ExpectRows(*store, all);
  EXPECT_EQ(reads(), static_cast<int>(kChunks)) << "each chunk once, whoever gave it";
  ExpectRows(*store, {3, 100});
  EXPECT_EQ(reads(), static_cast<int>(kChunks)) << "they are in memory";
}

TEST_F(ChunkStoreTest, FetchesWhatIsExpected) {
  const auto store = Make(1);
  store->Expect(std::vector<std::uint32_t>{1, 2, 90});
  while (logs_[0].reads < 2) std::this_thread::yield();
  ExpectRows(*store, {1, 2, 90});
  EXPECT_EQ(reads(), 2);
}

TEST_F(ChunkStoreTest, MembersAreAskedBeforeTheSources) {
  members_ = std::make_shared<Members>();
  const auto store = Make(1, 1 << 20);
  std::vector<std::uint32_t> all(kChunks * kRows);
  std::iota(all.begin(), all.end(), 0U);
  ExpectRows(*store, all);
  EXPECT_EQ(reads(), static_cast<int>(kChunks / 2)) << "what no member has";
  EXPECT_EQ(members_->asked, static_cast<int>(kChunks));
  ExpectRows(*store, all);
  ExpectRows(*Make(1, 1 << 20), all);
  EXPECT_EQ(members_->asked, static_cast<int>(kChunks)) << "all are in the cache";
  EXPECT_THAT(store->TakeNotices(), IsEmpty());
}

TEST_F(ChunkStoreTest, MembersAreAskedWhileASourceRests) {
  members_ = std::make_shared<Members>();
  logs_[0].fails = 1 << 20;
  const auto store = Make(1);
  const auto has_failed_thrice = [&]() -> base::Status {
    if (logs_[0].reads >= 3) members_->has_all = true;
    return base::OkStatus();
  };
  ASSERT_TRUE(store->Load(std::vector<std::uint32_t>{kRows}, has_failed_thrice).ok());
  EXPECT_EQ(reads(), 3) << "the fourth would come after four seconds more";
  ExpectRows(*store, {3 * kRows});
  EXPECT_EQ(reads(), 3);
}

TEST_F(ChunkStoreTest, AMemberThatSendsOtherBytesIsNamedAndLeft) {
  members_ = std::make_shared<Members>();
  members_->lies = true;
  const auto store = Make(1);
  ExpectRows(*store, {3});
  EXPECT_EQ(reads(), 1) << "the source has it";
  EXPECT_EQ(members_->distrusted, 1);
  EXPECT_THAT(store->TakeNotices(),
              ::testing::ElementsAre(
                  ::testing::AllOf(HasSubstr("member "), HasSubstr("not asked for data again"))));
}

TEST_F(ChunkStoreTest, LendsWhatItHas) {
  members_ = std::make_shared<Members>();
  {
    const auto store = Make(1, 1 << 20);
    ASSERT_NE(members_->shelf, nullptr);
    EXPECT_FALSE(members_->shelf->Has(3));
    EXPECT_FALSE(members_->shelf->Lend(3));
    EXPECT_FALSE(members_->shelf->Has(kChunks)) << "the data end before";
    EXPECT_FALSE(members_->shelf->Lend(~std::uint64_t{0}));
    ExpectRows(*store, {3 * kRows});
    EXPECT_TRUE(members_->shelf->Has(3));
    EXPECT_EQ(members_->shelf->Lend(3)->size(), kRows * StreamRow(0).size());
  }
  EXPECT_EQ(members_->shelf, nullptr);
  const auto store = Make(1, 1 << 20);
  EXPECT_TRUE(members_->shelf->Has(3)) << "from the cache";
  std::filesystem::resize_file(dir_ + "/cache/3", 1);
  EXPECT_FALSE(members_->shelf->Lend(3)) << "a disk that changed it";
  EXPECT_FALSE(members_->shelf->Has(3));
}

TEST_F(ChunkStoreTest, ALyingSourceIsNamedAndLeft) {
  logs_[0].lies = true;
  logs_[1].fails = 1;  // so the liar is asked while this one waits
  const auto store = Make(2);
  ExpectRows(*store, {5, 100});
  EXPECT_EQ(logs_[0].reads, 1);
  EXPECT_THAT(store->TakeNotices(), Contains(::testing::AllOf(HasSubstr("source 0: chunk"),
                                                              HasSubstr("not asked again"))));
}

TEST_F(ChunkStoreTest, ASourceMayHaveSeveralConnections) {
  std::vector<std::uint32_t> all(kChunks * kRows);
  std::iota(all.begin(), all.end(), 0U);
  ExpectRows(*Make(1, 0, 3), all);
  EXPECT_EQ(reads(), static_cast<int>(kChunks)) << "each chunk once";
  logs_[0].reads = 0;
  logs_[0].lies = true;
  logs_[1].fails = 3;  // so the liar is asked while these connections wait
  const auto store = Make(2, 0, 3);
  ExpectRows(*store, all);
  EXPECT_GE(logs_[0].reads, 1);
  EXPECT_LE(logs_[0].reads, 3) << "each of its connections once";
  int named = 0;
  for (const std::string& line : store->TakeNotices()) {
    named += line.find("source 0: chunk") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(named, 1);
}

TEST_F(ChunkStoreTest, WhatThisMachineCannotReadIsLeftToOthers) {
  logs_[0].lacks = true;
  logs_[1].fails = 1;  // so the other is asked while this one waits
  const auto store = Make(2);
  ExpectRows(*store, {5, 100});
  EXPECT_EQ(logs_[0].reads, 1);
  EXPECT_THAT(store->TakeNotices(), Contains(HasSubstr("source 0: there are no authorities here")));
  const auto alone = Make(1);
  EXPECT_THAT(base::MessageOf(alone->Load(std::vector<std::uint32_t>{5}, nullptr)),
              HasSubstr("no authorities here"));
}

TEST_F(ChunkStoreTest, WithoutAnHonestSourceSaysSo) {
  logs_[0].lies = true;
  const auto store = Make(1);
  const base::Status status = store->Load(std::vector<std::uint32_t>{5}, nullptr);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(base::MessageOf(status), HasSubstr("no other source of the data is left"));
  EXPECT_EQ(store->Load(std::vector<std::uint32_t>{5}, nullptr), status);
}

TEST_F(ChunkStoreTest, AsksASourceAgainThatDidNotAnswer) {
  logs_[0].fails = 1;
  const auto store = Make(1);
  ExpectRows(*store, {5});
  EXPECT_EQ(reads(), 2);
  const auto notices = store->TakeNotices();
  EXPECT_THAT(notices, Contains(HasSubstr("no answer: source 0 is asked again")));
  EXPECT_THAT(notices, Contains(HasSubstr("data come from source 0 again")));
}

TEST_F(ChunkStoreTest, EndsWhereTheRowsAreNotWanted) {
  logs_[0].fails = 1 << 20;
  const auto store = Make(1);
  const auto unwanted = [] { return base::Cancelled("nobody"); };
  EXPECT_EQ(store->Load(std::vector<std::uint32_t>{5}, unwanted), unwanted());
  store->Abandon();
  EXPECT_EQ(store->Load(std::vector<std::uint32_t>{5}, nullptr).code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(ChunkStoreTest, WhatTheCacheHasIsNotFetchedAgain) {
  std::vector<std::uint32_t> all(kChunks * kRows);
  std::iota(all.begin(), all.end(), 0U);
  ExpectRows(*Make(1, 1 << 20), all);
  EXPECT_EQ(reads(), static_cast<int>(kChunks));
  ExpectRows(*Make(1, 1 << 20), all);
  EXPECT_EQ(reads(), static_cast<int>(kChunks)) << "as after a kill";
  // One chunk of the cache is damaged: it alone comes anew.
  std::filesystem::resize_file(dir_ + "/cache/7", 3);
  ExpectRows(*Make(1, 1 << 20), all);
  EXPECT_EQ(reads(), static_cast<int>(kChunks) + 1);
}

constexpr char kGraph[] =
    "ostraka-graph 1\n"
    "parameter a f32[201,3] normal 1e-01\n"
    "input x i32[2,2] 0 201\n"
    "input targets i32[2] 0 3\n"
    "%1 f32[2,2,3] = embedding a x\n"
    "%2 f32[2,3] = sum %1 axis=1\n"
    "%3 f32[] = cross_entropy %2 targets\n"
    "loss %3\n";

class StreamedTrainerTest : public ChunkStoreTest {
 protected:
  void WriteFolder(const std::string& folder) {
    std::filesystem::create_directories(folder);
    for (const auto& [name, bytes] : files_) {
      std::ofstream(folder + "/" + name, std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
    }
  }
  static std::unique_ptr<Trainer> Trained(Dataset data) {
    TrainerOptions options{.model = std::string(kGraphModel), .batch_size = 6, .exact = true};
    options.graph = kGraph;
    return MakeExactTrainer(options, std::move(data)).value();
  }
};

TEST_F(StreamedTrainerTest, GivesTheGradientOfTheRowsThatTheSeedDraws) {
  WriteFolder(dir_ + "/data");
  const Dataset streamed = OpenStream(dir_ + "/data", {}, {}).value();
  const auto trainer = Trained(streamed);
  // The same rows in memory.
  Dataset whole = streamed;
  whole.training.store = nullptr;
  for (std::uint32_t i = 0; i < kChunks * kRows; ++i) {
    const base::Bytes row = StreamRow(i);
    whole.training.values.insert(whole.training.values.end(), row.begin(), row.end());
    whole.training.labels.push_back(0);
  }
  const auto in_memory = Trained(whole);
  const std::vector<float> x = trainer->InitialParameters({});
  for (std::uint8_t i = 0; i < 10; ++i) {
    base::Digest seed;
    seed.bytes[3] = i;
    trainer->Expect(seed);
    EXPECT_EQ(trainer->Gradient(x, seed).value(),
              in_memory->GradientOfRows(x, DrawFromChunks(seed, kChunks, kRows, 6), seed).value());
  }
  EXPECT_EQ(trainer->Evaluate(x)->loss, in_memory->Evaluate(x)->loss);
  EXPECT_THAT(trainer->TakeNotices(), IsEmpty());
}

TEST_F(StreamedTrainerTest, OtherDataAreRefusedBeforeTheyAreUsed) {
  WriteFolder(dir_ + "/data");
  const base::Digest hash = HashOf(OpenStream(dir_ + "/data", {}, {}).value());
  EXPECT_TRUE(OpenStream(dir_ + "/data", {}, hash).ok());
  files_ = StreamFiles(kChunks, kRows + 1, 6);
  WriteFolder(dir_ + "/other");
  const auto refused = OpenStream(dir_ + "/other", {}, hash);
  EXPECT_THAT(base::MessageOf(refused.status()),
              HasSubstr("give a place that has those of the other members"));
  // Beside a good place the wrong one is left.
  const Dataset data = OpenStream(dir_ + "/other," + dir_ + "/data", {}, hash).value();
  EXPECT_THAT(data.training.store->TakeNotices(), Contains(HasSubstr("/other has")));
  EXPECT_TRUE(data.training.store->Load(std::vector<std::uint32_t>{3}, nullptr).ok());
}

TEST_F(StreamedTrainerTest, AFolderServesWhereAddressesCannotBeOpened) {
  for (const auto& [name, bytes] : files_) {
    std::ofstream(dir_ + "/" + name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  const StreamAccess access{.open = [](const std::string&) {
    return base::FailedPrecondition("there is no libcurl here");
  }};
  const std::string address = "https://example.org/a";
  EXPECT_EQ(base::MessageOf(OpenStream(address, access, {}).status()), "there is no libcurl here");
  const Dataset data = OpenStream(address + "," + dir_, access, {}).value();
  ASSERT_TRUE(data.training.store->Load(std::vector<std::uint32_t>{3}, nullptr).ok());
  EXPECT_THAT(data.training.store->TakeNotices(),
              ::testing::ElementsAre(HasSubstr(address + ": there is no libcurl here")));
}

TEST_F(StreamedTrainerTest, AFolderIsLentFromAndAsksNoMember) {
  WriteFolder(dir_ + "/data");
  const auto members = std::make_shared<Members>();
  StreamAccess access;
  access.members = members;
  const Dataset data = OpenStream(dir_ + "/data", access, {}).value();
  ASSERT_TRUE(data.training.store->Load(std::vector<std::uint32_t>{3}, nullptr).ok());
  EXPECT_EQ(members->asked, 0);
  EXPECT_TRUE(members->shelf->Has(9));
  EXPECT_EQ(members->shelf->Lend(9)->front(), StreamRow(9 * kRows)[0]);
  std::filesystem::remove(dir_ + "/data/stream.00001");
  EXPECT_FALSE(members->shelf->Lend(9)) << "the folder has changed";
}

TEST_F(StreamedTrainerTest, AnAddressNeedsWhoOpensIt) {
  EXPECT_THAT(base::MessageOf(OpenStream("https://example.org/a", {}, {}).status()),
              HasSubstr("can only be read from a folder here"));
  StreamAccess access{.open =
                          [this](const std::string& place) {
                            EXPECT_EQ(place, "https://example.org/a");
                            return std::make_unique<MemoryReader>(files_, logs_[0], place);
                          },
                      .cache_root = dir_ + "/kept",
                      .cache_bytes = 1 << 20};
  const Dataset data = OpenStream("https://example.org/a", access, {}).value();
  const base::Digest hash = HashOf(data);
  ASSERT_TRUE(data.training.store->Load(std::vector<std::uint32_t>{3}, nullptr).ok());
  const int reads = logs_[0].reads;
  EXPECT_EQ(reads, 2) << "the index and a chunk";
  logs_[0].fails = 1 << 20;
  const Dataset again = OpenStream("https://example.org/a", access, hash).value();
  ASSERT_TRUE(again.training.store->Load(std::vector<std::uint32_t>{4}, nullptr).ok());
  EXPECT_EQ(logs_[0].reads, reads) << "both are kept";
}

}  // namespace
}  // namespace ostraka::train::chunk_store_test
