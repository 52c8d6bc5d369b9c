#include "node/train/stream/folder_reader.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/os/temp_folder.h"

namespace ostraka::train::folder_reader_test {
namespace {

using FolderReaderTest = os::TempFolderTest;

TEST_F(FolderReaderTest, ReadsPiecesAndWholeFiles) {
  std::ofstream(dir_ + "/file") << "0123456789";
  const auto reader = ReadFolder(dir_);
  EXPECT_EQ(reader->place(), dir_);
  EXPECT_EQ(reader->Read("file", 3, 4, nullptr).value(), (base::Bytes{'3', '4', '5', '6'}));
  EXPECT_EQ(reader->Read("file", 9, 1, nullptr).value(), base::Bytes{'9'});
  EXPECT_EQ(reader->ReadWhole("file", 10, nullptr)->size(), 10u);
  for (const auto& [begin, size] : {std::pair(9, 2), {10, 1}, {11, 1}}) {
    EXPECT_EQ(reader->Read("file", begin, size, nullptr).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(reader->Read("file", 1, UINT64_MAX, nullptr).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(reader->ReadWhole("file", 9, nullptr).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(reader->ReadWhole("none", 9, nullptr).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace ostraka::train::folder_reader_test
