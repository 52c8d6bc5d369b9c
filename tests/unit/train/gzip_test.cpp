#include "node/train/gzip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/train/image_files.h"

namespace ostraka::train::gzip_test {
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

base::Bytes Joined(const std::vector<base::Bytes>& parts) {
  base::Bytes all;
  for (const base::Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// As `cat a.gz b.gz`, bgzip (whose last member is empty) and tapes make them; zcat reads all.
TEST(Gzip, ReadsAllMembersAndThePaddingAfterThem) {
  const base::Bytes a = RandomBytes(1, 300);
  const base::Bytes b = RandomBytes(2, 65536);
  const base::Bytes empty = Gzipped({});
  for (const base::Bytes& padding : {base::Bytes(), base::Bytes(1), base::Bytes(10240)}) {
    EXPECT_EQ(Gunzip(Joined({Gzipped(a), padding}), kLimit).value(), a);
    EXPECT_EQ(Gunzip(Joined({Gzipped(a), Gzipped(b), padding}), kLimit).value(), Joined({a, b}));
    EXPECT_EQ(
        Gunzip(Joined({empty, Gzipped(b), empty, Gzipped(a), empty, padding}), kLimit).value(),
        Joined({b, a}));
  }
}

TEST(Gzip, TheLimitHoldsForAllMembersTogether) {
  const base::Bytes part(1000, 3);
  const base::Bytes file = Joined({Gzipped(part), Gzipped(part), Gzipped({})});
  EXPECT_EQ(Gunzip(file, 2000).value(), Joined({part, part}));
  EXPECT_THAT(ErrorOf(file, 1999), HasSubstr("holds more than 1999 bytes"));
}

TEST(Gzip, ASecondMemberIsCheckedAsTheFirst) {
  const base::Bytes first = Gzipped({1, 2, 3});
  const base::Bytes second = Gzipped(RandomBytes(1, 300));
  for (std::size_t size = 1; size < second.size(); ++size) {
    base::Bytes file = Joined({first, second});
    file.resize(first.size() + size);
    EXPECT_EQ(ErrorOf(file), "gzip: cut short") << size;
  }
  base::Bytes wrong = Joined({first, second});
  wrong.back() ^= 0x10;
  EXPECT_THAT(ErrorOf(wrong), StartsWith("gzip: damaged"));
}

TEST(Gzip, OtherBytesAfterItsEndAreRefused) {
  for (const base::Bytes& after :
       {base::Bytes{1}, base::Bytes{0, 0, 7}, base::Bytes{'t', 'a', 'r'}}) {
    EXPECT_EQ(ErrorOf(Joined({Gzipped({1, 2, 3}), after})),
              "gzip: bytes after its end, which are no gzip member");
  }
  // Padding is at the end only: zcat stops there, too.
  EXPECT_EQ(ErrorOf(Joined({Gzipped({1}), base::Bytes(4), Gzipped({2})})),
            "gzip: bytes after its end, which are no gzip member");
}

}  // namespace
}  // namespace ostraka::train::gzip_test
