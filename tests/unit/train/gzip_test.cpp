#include "node/train/gzip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/train/image_files.h"

namespace ostraka::train {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::size_t kLimit = 1 << 20;

std::string ErrorOf(const base::Bytes& bytes, std::size_t limit = kLimit) {
  const auto out = Gunzip(bytes, limit);
  EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument);
  return base::MessageOf(out.status());
}

TEST(Gzip, ReadsWhatGzipWrites) {
  // Below, at and beyond the first buffer, which then grows.
  for (const std::size_t size : {0U, 1U, 65535U, 65536U, 65537U, 300'000U}) {
    const base::Bytes plain = RandomBytes(size, size, 7);
    const base::Bytes file = Gzipped(plain);
    EXPECT_TRUE(LooksLikeGzip(file));
    EXPECT_EQ(Gunzip(file, kLimit).value(), plain);
  }
  EXPECT_FALSE(LooksLikeGzip(Idx({0}, {})));
  EXPECT_FALSE(LooksLikeGzip({}));
}

TEST(Gzip, TheLimitIsExact) {
  for (const std::size_t size : {1000U, 65536U, 100'000U}) {
    const base::Bytes plain(size, 3);
    EXPECT_EQ(Gunzip(Gzipped(plain), size).value(), plain);
    EXPECT_EQ(ErrorOf(Gzipped(plain), size - 1),
              "holds more than " + std::to_string(size - 1) + " bytes when decompressed");
  }
}

TEST(Gzip, DecompressionBombStopsAtTheLimit) {
  const base::Bytes bomb = Gzipped(base::Bytes(100 << 20, 0));  // 100 KB of gzip
  EXPECT_LT(bomb.size(), std::size_t{1} << 17);
  EXPECT_THAT(ErrorOf(bomb), HasSubstr("holds more than 1048576 bytes"));
}

TEST(Gzip, EveryPrefixIsCutShort) {
  const base::Bytes file = Gzipped(RandomBytes(1, 300));
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_EQ(ErrorOf({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)}),
              "gzip: cut short")
        << size;
  }
}

TEST(Gzip, WrongByteIsFound) {
  const base::Bytes plain = RandomBytes(1, 300);
  const base::Bytes file = Gzipped(plain);
  for (std::size_t i = 0; i < file.size(); ++i) {
    base::Bytes wrong = file;
    wrong[i] ^= 0x10;
    const auto out = Gunzip(wrong, kLimit);
    // Time, flags and system in the header do not affect the content, nor do the padding bits in
    // the first byte after it (random bytes are stored, not compressed).
    if (i >= 3 && i <= 10 && out.ok()) {
      EXPECT_EQ(*out, plain);
    } else {
      EXPECT_THAT(ErrorOf(wrong), StartsWith("gzip: ")) << i;
    }
  }
}

TEST(Gzip, BytesAfterItsEndAreRefused) {
  base::Bytes file = Gzipped({1, 2, 3});
  file.push_back(0);
  EXPECT_EQ(ErrorOf(file), "gzip: bytes after its end");
}

}  // namespace
}  // namespace ostraka::train
