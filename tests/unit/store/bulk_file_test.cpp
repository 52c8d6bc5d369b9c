#include "node/store/bulk_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/os/temp_folder.h"

namespace ostraka::store::bulk_file_test {
namespace {

using base::Bytes;

class BulkFileTest : public os::TempFolderTest {
 protected:
  std::string Path() const { return dir_ + "/bulk"; }
  BulkFile MustOpen(std::vector<Extent> used = {}) const {
    auto file = BulkFile::Open(Path(), std::move(used));
    EXPECT_TRUE(file.ok()) << file.status();
    return *std::move(file);
  }
  static Extent MustWrite(BulkFile& file, const Bytes& data) {
    const auto extent = file.Write(data);
    EXPECT_TRUE(extent.ok()) << extent.status();
    return *extent;
  }
};

TEST_F(BulkFileTest, RoundTrips) {
  const Bytes first(100'000, 1);
  const Bytes second = {2, 3, 4};
  std::vector<Extent> extents;
  {
    BulkFile file = MustOpen();
    extents = {MustWrite(file, first), MustWrite(file, second)};
    EXPECT_TRUE(file.Sync().ok());
  }
  const BulkFile again = MustOpen(extents);
  EXPECT_EQ(*again.Read(extents[0]), first);
  EXPECT_EQ(*again.Read(extents[1]), second);
}

// Bytes that a crash left are unreferenced: the next opening does not name them.
TEST_F(BulkFileTest, OverwritesUnreferencedBytes) {
  BulkFile file = MustOpen();
  const Extent kept = MustWrite(file, Bytes(10, 1));
  const Extent lost = MustWrite(file, Bytes(10, 2));
  file = MustOpen({kept});
  EXPECT_EQ(MustWrite(file, Bytes(10, 3)), lost);
  EXPECT_EQ(*file.Read(kept), Bytes(10, 1));
}

// The row that named a freed extent may come back with a rollback, or a power cut.
TEST_F(BulkFileTest, KeepsFreedBytesUntilTheyAreReclaimed) {
  BulkFile file = MustOpen();
  const Extent old = MustWrite(file, Bytes(10, 1));
  file.Free(old);
  EXPECT_EQ(MustWrite(file, Bytes(10, 2)), (Extent{10, 10}));
  EXPECT_EQ(*file.Read(old), Bytes(10, 1));
  file.Reclaim();
  EXPECT_EQ(MustWrite(file, Bytes(4, 3)), (Extent{0, 4}));
  EXPECT_EQ(MustWrite(file, Bytes(4, 4)), (Extent{4, 4}));
  EXPECT_EQ(MustWrite(file, Bytes(4, 5)), (Extent{20, 4})) << "two bytes are too small a gap";
}

// Compared with a naive model: a map of the content of each extent.
TEST_F(BulkFileTest, NeverMixesExtentsAndStopsGrowing) {
  BulkFile file = MustOpen();
  std::mt19937 random(7);
  std::map<std::uint64_t, std::pair<Extent, Bytes>> model;
  std::uintmax_t early = 0;
  for (int round = 0; round < 2000; ++round) {
    const Bytes data(1 + random() % 5000, static_cast<std::uint8_t>(random()));
    const Extent extent = MustWrite(file, data);
    ASSERT_TRUE(model.emplace(extent.offset, std::pair{extent, data}).second);
    if (model.size() > 20) {
      auto at = model.begin();
      std::advance(at, random() % model.size());
      file.Free(at->second.first);
      model.erase(at);
    }
    if (random() % 3 == 0) file.Reclaim();
    if (round == 500) early = std::filesystem::file_size(Path());
    if (round % 100 != 0) continue;
    for (const auto& [offset, entry] : model) ASSERT_EQ(*file.Read(entry.first), entry.second);
  }
  EXPECT_LT(std::filesystem::file_size(Path()), 2 * early);
}

TEST_F(BulkFileTest, ReportsATruncatedFile) {
  BulkFile file = MustOpen();
  const Extent extent = MustWrite(file, Bytes(10, 1));
  std::filesystem::resize_file(Path(), 9);
  EXPECT_TRUE(absl::IsInvalidArgument(file.Read(extent).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(file.Read({~0ULL - 5, 10}).status()));
}

TEST_F(BulkFileTest, RefusesImpossiblePlacesAndAMissingFolder) {
  EXPECT_TRUE(absl::IsInvalidArgument(BulkFile::Open(Path(), {{0, 10}, {9, 10}}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(BulkFile::Open(Path(), {{5, ~0ULL}}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(BulkFile::Open(Path(), {{5, 0}}).status()));
  EXPECT_TRUE(absl::IsUnavailable(BulkFile::Open(dir_ + "/no/bulk", {}).status()));
}

}  // namespace
}  // namespace ostraka::store::bulk_file_test
