#include "node/train/stream/chunk_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/os/temp_folder.h"

namespace ostraka::train::chunk_cache_test {
namespace {

class ChunkCacheTest : public os::TempFolderTest {
 protected:
  base::Bytes Chunk(std::uint8_t value) { return base::Bytes(10, value); }
  std::string folder() { return dir_ + "/a/cache"; }
};

TEST_F(ChunkCacheTest, KeepsTheMostRecentlyUsed) {
  ChunkCache cache = ChunkCache::Open(folder(), 35).value();
  for (std::uint8_t i = 0; i < 3; ++i) ASSERT_TRUE(cache.Put(i, Chunk(i)).ok());
  EXPECT_EQ(cache.Get(0, 10), Chunk(0)) << "now the longest unused is 1";
  ASSERT_TRUE(cache.Put(7, Chunk(7)).ok());
  EXPECT_EQ(cache.Get(1, 10), std::nullopt);
  for (const std::uint8_t i : {0, 2, 7}) EXPECT_EQ(cache.Get(i, 10), Chunk(i));
  EXPECT_EQ(cache.bytes(), 30u);
}

TEST_F(ChunkCacheTest, IsThereAgainAfterAnEnd) {
  {
    ChunkCache cache = ChunkCache::Open(folder(), 100).value();
    for (std::uint8_t i = 0; i < 5; ++i) ASSERT_TRUE(cache.Put(i, Chunk(i)).ok());
  }
  // Of a process that was killed, and of people.
  std::ofstream(folder() + "/9.part77-0") << "half";
  std::filesystem::last_write_time(
      folder() + "/9.part77-0",
      std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  std::ofstream(folder() + "/notes") << "mine";
  ChunkCache cache = ChunkCache::Open(folder(), 40).value();
  EXPECT_EQ(cache.bytes(), 40u);
  int found = 0;
  for (std::uint8_t i = 0; i < 5; ++i) found += cache.Get(i, 10) ? 1 : 0;
  EXPECT_EQ(found, 4) << "the new limit is lower";
  EXPECT_TRUE(std::filesystem::exists(folder() + "/notes"));
  EXPECT_FALSE(std::filesystem::exists(folder() + "/9.part77-0"));
}

TEST_F(ChunkCacheTest, DoesNotOfferWhatChanged) {
  ChunkCache cache = ChunkCache::Open(folder(), 100).value();
  ASSERT_TRUE(cache.Put(1, Chunk(1)).ok());
  ASSERT_TRUE(cache.Put(2, Chunk(2)).ok());
  std::filesystem::resize_file(folder() + "/1", 4);
  std::filesystem::remove(folder() + "/2");
  EXPECT_EQ(cache.Get(1, 10), std::nullopt);
  EXPECT_EQ(cache.Get(2, 10), std::nullopt);
  EXPECT_EQ(cache.bytes(), 0u);
  ASSERT_TRUE(cache.Put(1, Chunk(3)).ok());
  EXPECT_EQ(cache.Get(1, 10), Chunk(3));
  EXPECT_EQ(cache.Get(1, 9), std::nullopt) << "of another size";
}

TEST_F(ChunkCacheTest, WithoutRoomKeepsNothing) {
  ChunkCache none = ChunkCache::Open("", 0).value();
  EXPECT_TRUE(none.Put(1, Chunk(1)).ok());
  EXPECT_EQ(none.Get(1, 10), std::nullopt);
  ChunkCache small = ChunkCache::Open(folder(), 9).value();
  EXPECT_TRUE(small.Put(1, Chunk(1)).ok());
  EXPECT_EQ(small.Get(1, 10), std::nullopt);
}

TEST_F(ChunkCacheTest, SaysWhyItCannotBeUsed) {
  std::ofstream(dir_ + "/file") << "x";
  EXPECT_EQ(ChunkCache::Open(dir_ + "/file/cache", 10).status().code(),
            absl::StatusCode::kUnavailable);
  ChunkCache cache = ChunkCache::Open(folder(), 100).value();
  std::filesystem::remove_all(dir_ + "/a");
  EXPECT_EQ(cache.Put(1, Chunk(1)).code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace ostraka::train::chunk_cache_test
