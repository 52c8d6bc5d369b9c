#include "node/train/stream/stream_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/unit/train/stream/stream_files.h"

namespace ostraka::train::stream_index_test {
namespace {

using ::testing::HasSubstr;
using testing::StreamFiles;

base::Digest SeedOf(std::uint8_t number) {
  base::Digest seed;
  seed.bytes[0] = number;
  return seed;
}

TEST(StreamIndex, SaysWhereChunksLie) {
  const auto files = StreamFiles(7, 4, 3);
  const StreamIndex index = ParseStreamIndex(files.at(kIndexFile)).value();
  EXPECT_EQ(index.training(), 28u);
  EXPECT_EQ(index.row_bytes, 3u);
  EXPECT_EQ(index.validation.size(), 3u);
  EXPECT_EQ(index.test.size(), 2u);
  ASSERT_EQ(index.leaves.size(), 7u);
  EXPECT_EQ(index.FileOf(2), "stream.00000");
  EXPECT_EQ(index.FileOf(3), "stream.00001");
  EXPECT_EQ(index.OffsetOf(5), 2u * 12);
  for (std::uint64_t chunk = 0; chunk < 7; ++chunk) {
    const base::Bytes& file = files.at(index.FileOf(chunk));
    const base::ByteView bytes =
        base::ByteView(file).subspan(index.OffsetOf(chunk), index.chunk_bytes());
    EXPECT_TRUE(CheckChunk(index, chunk, bytes).ok());
    base::Bytes other(bytes.begin(), bytes.end());
    other[5] ^= 4;
    EXPECT_THAT(base::MessageOf(CheckChunk(index, chunk, other)),
                HasSubstr("is not the one of the index"));
    other.pop_back();
    EXPECT_FALSE(CheckChunk(index, chunk, other).ok());
  }
}

TEST(StreamIndex, WhatItPromisesMayBeWrong) {
  auto files = StreamFiles(2, 4, 3);
  files.at("stream.00000")[0] = 201;
  StreamIndex index = ParseStreamIndex(files.at(kIndexFile)).value();
  const base::ByteView bytes = base::ByteView(files.at("stream.00000")).first(12);
  index.leaves[0] = crypto::ChunkLeaf(bytes);
  const base::Status damaged = CheckChunk(index, 0, bytes);
  EXPECT_EQ(damaged.code(), absl::StatusCode::kFailedPrecondition) << "no source is to blame";
  EXPECT_THAT(base::MessageOf(damaged), HasSubstr("row 0, column x has a value beyond 200"));
}

// tests/python/data_test.py has the same data and the hash of the second verifier.
TEST(StreamIndex, HasTheHashOfTheSecondVerifier) {
  EXPECT_EQ(HashOfStream(ParseStreamIndex(StreamFiles(7, 4, 3).at(kIndexFile)).value()).Hex(),
            "9509618c014017b354e478848517e9bd56076206839132be99843d6362269d15");
}

std::string Refusal(const std::string& old, const std::string& replacement) {
  const base::Bytes file = StreamFiles(7, 4, 3).at(kIndexFile);
  std::string text(file.begin(), file.end());
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos);
  text.replace(at, old.size(), replacement);
  const auto index = ParseStreamIndex(base::AsBytes(std::span<const char>(text)));
  return index.ok() ? "accepted" : base::MessageOf(index.status());
}

TEST(StreamIndex, RefusesWhatIsNotCanonical) {
  EXPECT_EQ(Refusal(" 28 ", " 28 "), "accepted");
  EXPECT_THAT(Refusal("ostraka-stream 1", "ostraka-stream 2"), HasSubstr("is no index"));
  EXPECT_THAT(Refusal(" 28 ", " 29 "), HasSubstr("no whole chunks"));
  EXPECT_THAT(Refusal(" 28 ", " 24 "), HasSubstr("and of 6 chunks"));
  EXPECT_THAT(Refusal(" 28 ", " 4294967296 "), HasSubstr("fewer than 2^32"));
  EXPECT_THAT(Refusal(" 4 3\n", " 4 0\n"), HasSubstr("its first line is not"));
  EXPECT_THAT(Refusal(" 4 3\n", " 4\n"), HasSubstr("its first line is not"));
  EXPECT_THAT(Refusal("x u8[2]", "x u8[8388609]"), HasSubstr("more than"));
  EXPECT_THAT(Refusal("targets", "x"), HasSubstr("two columns 'x'"));
  EXPECT_THAT(Refusal("0 201", "0 4"), HasSubstr("a value beyond 3"));
}

TEST(DrawFromChunks, TakesDistinctRowsOfFewChunks) {
  for (const auto& [chunks, chunk_rows, batch] : {std::tuple{100U, 64U, 32U},
                                                  {100U, 64U, 8U},
                                                  {3U, 64U, 150U},
                                                  {1U, 10U, 10U},
                                                  {1000U, 1U, 16U},
                                                  {1000U, 2U, 16U},
                                                  {2U, 5U, 9U},
                                                  {4'000'000U, 1000U, 256U}}) {
    for (std::uint8_t i = 0; i < 20; ++i) {
      const std::vector<std::uint32_t> rows = DrawFromChunks(SeedOf(i), chunks, chunk_rows, batch);
      ASSERT_EQ(rows.size(), batch);
      EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
      EXPECT_EQ(std::set(rows.begin(), rows.end()).size(), batch);
      EXPECT_LT(rows.back(), std::uint64_t{chunks} * chunk_rows);
      std::set<std::uint32_t> drawn;
      for (const std::uint32_t row : rows) drawn.insert(row / chunk_rows);
      EXPECT_EQ(drawn.size(), ChunksOfBatch(chunks, chunk_rows, batch));
      if (4 * batch >= chunk_rows) {
        EXPECT_LE(drawn.size() * chunk_rows, 4 * std::uint64_t{batch})
            << chunks << " of " << chunk_rows;
      }
    }
  }
}

TEST(DrawFromChunks, IsAFunctionOfItsArguments) {
  const auto rows = DrawFromChunks(SeedOf(1), 50, 16, 12);
  EXPECT_EQ(DrawFromChunks(SeedOf(1), 50, 16, 12), rows);
  EXPECT_NE(DrawFromChunks(SeedOf(2), 50, 16, 12), rows);
  // By the second verifier (tests/python/data_test.py).
  EXPECT_EQ(rows, (std::vector<std::uint32_t>{593, 595, 598, 600, 643, 645, 646, 650, 674, 675, 680,
                                              683}));
}

// Each row comes as often as any other.
TEST(DrawFromChunks, IsFair) {
  std::vector<int> seen(6 * 8);
  for (int i = 0; i < 4000; ++i) {
    base::Digest seed;
    seed.bytes[0] = static_cast<std::uint8_t>(i);
    seed.bytes[1] = static_cast<std::uint8_t>(i >> 8);
    for (const std::uint32_t row : DrawFromChunks(seed, 6, 8, 6)) ++seen[row];
  }
  for (const int times : seen) {
    EXPECT_GT(times, 400);  // 500 is expected, with a deviation of 21
    EXPECT_LT(times, 600);
  }
}

}  // namespace
}  // namespace ostraka::train::stream_index_test
