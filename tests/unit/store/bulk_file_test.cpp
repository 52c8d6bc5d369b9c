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
    const Extent extent = file.Take(data.size());
    const base::Status written = file.Put(extent, 0, data);
    EXPECT_TRUE(written.ok()) << written;
    return extent;
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

// A slow peer may read for long what was lent.
TEST_F(BulkFileTest, WhatWasLentStaysUntilNobodyHasIt) {
  BulkFile file = MustOpen();
  const Extent old = MustWrite(file, {1, 2, 3, 4});
  ASSERT_TRUE(file.Sync().ok());
  auto first = file.Lend(old);
  auto second = file.Lend(old);
  file.Free(old);
  file.Reclaim();
  EXPECT_EQ(MustWrite(file, Bytes(4, 9)), (Extent{4, 4}));
  first.reset();
  file.Reclaim();
  EXPECT_EQ(MustWrite(file, Bytes(4, 9)), (Extent{8, 4}));

  Bytes middle(2);
  EXPECT_EQ(second->size(), 4U);
  ASSERT_TRUE(second->Read(1, middle).ok());
  EXPECT_EQ(middle, (Bytes{2, 3}));
  EXPECT_DEATH(static_cast<void>(second->Read(3, middle)), "CHECK failed");

  second.reset();
  file.Reclaim();
  EXPECT_EQ(MustWrite(file, Bytes(4, 9)), old);
}

// A slow reader of one piece must not keep a model's size on the disk.
TEST_F(BulkFileTest, OfWhatWasLentOnlySlicesThatAreHeldStay) {
  BulkFile file = MustOpen();
  const Extent old = MustWrite(file, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  ASSERT_TRUE(file.Sync().ok());
  auto whole = file.Lend(old);
  auto slice = whole->Slice(2, 3);
  auto within = slice->Slice(1, 2);
  auto last = whole->Slice(8, 2);
  file.Free(old);
  whole.reset();
  file.Reclaim();
  EXPECT_EQ(MustWrite(file, Bytes(2, 9)), (Extent{0, 2}));
  EXPECT_EQ(MustWrite(file, Bytes(3, 9)), (Extent{5, 3}));
  EXPECT_EQ(MustWrite(file, Bytes(1, 9)), (Extent{10, 1}));
  Bytes read(2);
  ASSERT_TRUE(within->Read(0, read).ok());
  EXPECT_EQ(read, (Bytes{3, 4}));
  slice.reset();
  file.Reclaim();
  EXPECT_EQ(MustWrite(file, Bytes(1, 9)), (Extent{2, 1}));
  ASSERT_TRUE(within->Read(0, read).ok());
  EXPECT_EQ(read, (Bytes{3, 4}));
  within.reset();
  last.reset();
  file.Reclaim();
  EXPECT_EQ(MustWrite(file, Bytes(2, 9)), (Extent{3, 2}));
  EXPECT_EQ(MustWrite(file, Bytes(2, 9)), (Extent{8, 2}));
  EXPECT_TRUE(file.fault().ok());
}

// A peer that asks for one piece again and again, while nothing is stored, leaves nothing behind.
TEST_F(BulkFileTest, WhatNobodyHoldsIsForgotten) {
  BulkFile file = MustOpen();
  const Extent extent = MustWrite(file, Bytes(10, 1));
  ASSERT_TRUE(file.Sync().ok());
  const auto whole = file.Lend(extent);
  for (int request = 0; request < 1000; ++request) whole->Slice(2, 3);
  const auto held = whole->Slice(2, 3);
  EXPECT_EQ(file.lent_count(), 2U);
}

TEST_F(BulkFileTest, ItsOwnerLearnsWhatReadersMeet) {
  BulkFile file = MustOpen();
  const Extent extent = MustWrite(file, {1, 2, 3});
  ASSERT_TRUE(file.Sync().ok());
  const auto lent = file.Lend(extent);
  EXPECT_TRUE(file.fault().ok());
  EXPECT_EQ(base::MessageOf(lent->Slice(1, 2)->Spoilt()),
            Path() + ": has other bytes than were written: check the disk's health");
  std::filesystem::resize_file(Path(), 1);
  Bytes all(3);
  EXPECT_FALSE(lent->Read(0, all).ok());
  EXPECT_EQ(base::MessageOf(file.fault()),
            Path() + ": has other bytes than were written: check the disk's health")
      << "the first";
}

TEST_F(BulkFileTest, WhatWasLentIsReadAfterTheFileIsClosed) {
  std::shared_ptr<const crypto::BulkSource> lent;
  {
    BulkFile file = MustOpen();
    const Extent extent = MustWrite(file, {1, 2, 3});
    ASSERT_TRUE(file.Sync().ok());
    lent = file.Lend(extent);
  }
  Bytes all(3);
  ASSERT_TRUE(lent->Read(0, all).ok());
  EXPECT_EQ(all, (Bytes{1, 2, 3}));
  std::filesystem::resize_file(Path(), 1);
  EXPECT_TRUE(absl::IsInvalidArgument(lent->Read(0, all))) << "a status, no signal";
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
