#include "sim/compare/cells/zip.h"

#include <gtest/gtest.h>

#include <string>

namespace ostraka::compare::zip_test {
namespace {

std::uint32_t U32(const base::Bytes& bytes, std::size_t at) {
  return bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 |
         static_cast<std::uint32_t>(bytes[at + 3]) << 24;
}

// Python's zipfile and NumPy read what we write in tests/e2e/compare_test.py.
TEST(Zip, HasTheFieldsOfTheFormat) {
  const std::string text = "123456789";
  const base::Bytes zip = ZipOf({{"a.txt", {text.begin(), text.end()}}, {"empty", {}}});
  EXPECT_EQ(U32(zip, 0), 0x04034b50u);
  EXPECT_EQ(U32(zip, 14), 0xcbf43926u);  // the check value of CRC-32
  EXPECT_EQ(U32(zip, 18), text.size());
  EXPECT_EQ(std::string(zip.begin() + 30, zip.begin() + 35), "a.txt");
  EXPECT_EQ(std::string(zip.begin() + 35, zip.begin() + 44), text);
  const std::size_t end = zip.size() - 22;
  EXPECT_EQ(U32(zip, end), 0x06054b50u);
  const std::size_t directory = U32(zip, end + 16);
  EXPECT_EQ(U32(zip, directory), 0x02014b50u);
  EXPECT_EQ(directory + U32(zip, end + 12), end);
}

TEST(Zip, EqualFilesGiveEqualBytes) {
  const std::vector<ZipFile> files = {{"x", {1, 2, 3}}};
  EXPECT_EQ(ZipOf(files), ZipOf(files));
}

}  // namespace
}  // namespace ostraka::compare::zip_test
