#include "node/train/idx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/train/image_files.h"

namespace ostraka::train::idx_test {
namespace {

std::string ImagesError(const base::Bytes& bytes) {
  const auto images = ParseIdxImages(bytes);
  EXPECT_EQ(images.status().code(), absl::StatusCode::kInvalidArgument);
  return base::MessageOf(images.status());
}

std::string LabelsError(const base::Bytes& bytes) {
  const auto labels = ParseIdxLabels(bytes, 10);
  EXPECT_EQ(labels.status().code(), absl::StatusCode::kInvalidArgument);
  return base::MessageOf(labels.status());
}

TEST(Idx, ReadsImages) {
  const base::Bytes pixels = RandomBytes(1, 2 * 4 * 6);
  const base::Bytes file = Idx({2, 4, 6}, pixels);
  const IdxImages images = ParseIdxImages(file).value();
  EXPECT_EQ(images.count, 2u);
  EXPECT_EQ(images.height, 4u);
  EXPECT_EQ(images.width, 6u);
  EXPECT_EQ(base::Bytes(images.pixels.begin(), images.pixels.end()), pixels);
}

TEST(Idx, ReadsLabels) {
  const base::Bytes file = Idx({3}, {9, 0, 5});
  const base::ByteView labels = ParseIdxLabels(file, 10).value();
  EXPECT_EQ(base::Bytes(labels.begin(), labels.end()), (base::Bytes{9, 0, 5}));
  const base::Bytes none = Idx({0}, {});
  EXPECT_EQ(ParseIdxLabels(none, 10)->size(), 0u);
}

TEST(Idx, AnotherMagicIsRefused) {
  EXPECT_EQ(ImagesError(Idx({3}, {1, 2, 3})),
            "wrong magic number 2049, IDX images of bytes have 2051");
  EXPECT_EQ(LabelsError(Idx({1, 4, 4}, base::Bytes(16))),
            "wrong magic number 2051, IDX labels of bytes have 2049");
  base::Bytes floats = Idx({1, 4, 4}, base::Bytes(16));
  floats[2] = 0x0d;
  EXPECT_EQ(ImagesError(floats), "wrong magic number 3331, IDX images of bytes have 2051");
}

TEST(Idx, EveryPrefixIsCutShort) {
  const base::Bytes images = Idx({1, 4, 4}, base::Bytes(16));
  for (std::size_t size = 0; size < images.size(); ++size) {
    EXPECT_THAT(ImagesError({images.begin(), images.begin() + static_cast<std::ptrdiff_t>(size)}),
                ::testing::StartsWith("cut short: "));
  }
  const base::Bytes labels = Idx({3}, {1, 2, 3});
  for (std::size_t size = 0; size < labels.size(); ++size) {
    EXPECT_THAT(LabelsError({labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(size)}),
                ::testing::StartsWith("cut short: "));
  }
}

TEST(Idx, BytesAfterTheEndAreRefused) {
  EXPECT_EQ(ImagesError(Idx({1, 4, 4}, base::Bytes(17))),
            "too long: 17 bytes of data, its header says 16");
  EXPECT_EQ(LabelsError(Idx({2}, {1, 2, 3})), "too long: 3 bytes of data, its header says 2");
}

TEST(Idx, ImpossibleCountsAreRefused) {
  EXPECT_EQ(ImagesError(Idx({0xffffffff, 256, 256}, base::Bytes(16))),
            "cut short: 16 bytes of data, its header says 281474976645120");
  EXPECT_EQ(ImagesError(Idx({1, 0x80000000, 2}, base::Bytes(16))),
            "its images are 2147483648 x 2: sides must be 4 to 256");
  EXPECT_EQ(ImagesError(Idx({1, 4, 257}, base::Bytes(16))),
            "its images are 4 x 257: sides must be 4 to 256");
  EXPECT_EQ(ImagesError(Idx({1, 3, 4}, base::Bytes(12))),
            "its images are 3 x 4: sides must be 4 to 256");
  EXPECT_EQ(ImagesError(Idx({0, 4, 4}, {})), "it holds no images");
}

TEST(Idx, ALabelOutOfRangeIsNamed) {
  EXPECT_EQ(LabelsError(Idx({3}, {0, 10, 11})), "label 10 of image 1 is out of range: 0 to 9");
}

}  // namespace
}  // namespace ostraka::train::idx_test
