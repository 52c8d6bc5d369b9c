// The index of data that are fetched in chunks: what their rows are, the rows that are held out,
// and a hash of each chunk of the training rows.
//
// The file `stream.index` is lines, the rows of validation and of test, and a leaf for each chunk:
//   ostraka-stream 1 COLUMNS TRAINING VALIDATION TEST ROWS CHUNKS
//   one line for each column (node/train/columns.h)
// A chunk is ROWS rows, and TRAINING is a multiple of ROWS, so that all chunks are equally long.
// Chunk c lies in the file `stream.NNNNN`, of the number floor(c / CHUNKS) in at least five digits,
// from (c mod CHUNKS) times its length on. The leaf of its bytes is that of crypto/merkle.h.
//
// The hash of the data is H(kDomainData, u64 2^64 - 1 | sized lines | Merkle root of the leaves of
// the held-out rows | Merkle root of the chunks' leaves).
//
// What an attacker can do here: a file is an organiser's or a stranger's. Its size must be the one
// that its lines state, and the lengths of all that follows from it are bounded.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/train/dataset.h"

namespace ostraka::train {

// The name of such data, and of their index.
inline constexpr char kStream[] = "stream";
inline constexpr char kIndexFile[] = "stream.index";
inline constexpr std::size_t kMostIndexBytes = std::size_t{1} << 30;
inline constexpr std::size_t kMostChunkBytes = std::size_t{8} << 20;

struct StreamIndex {
  std::string lines;  // all of them, as they stand in the file
  std::vector<Column> columns;
  std::uint32_t row_bytes = 0;
  std::uint32_t chunk_rows = 0;
  std::uint64_t file_chunks = 0;  // of each file but the last
  Examples validation;
  Examples test;
  std::vector<base::Digest> leaves;  // of chunks

  std::uint32_t training() const { return static_cast<std::uint32_t>(leaves.size()) * chunk_rows; }
  std::size_t chunk_bytes() const { return std::size_t{chunk_rows} * row_bytes; }
  // Where a chunk lies. REQUIRES: chunk < leaves.size().
  std::string FileOf(std::uint64_t chunk) const;
  std::uint64_t OffsetOf(std::uint64_t chunk) const;
};

// InvalidArgument: another form, or held-out rows with values out of their range.
base::StatusOr<StreamIndex> ParseStreamIndex(base::ByteView file);
base::Digest HashOfStream(const StreamIndex& index);
// Whether the bytes are the chunk's, and their values in range. InvalidArgument: they are not. The
// leaf is looked at first, so that a source is not blamed for what the index promises.
base::Status CheckChunk(const StreamIndex& index, std::uint64_t chunk, base::ByteView bytes);

// The rows of a batch: of few chunks, so that fetching them costs at most four times the rows'
// bytes where these are a quarter of a chunk or more. A function of the arguments alone
// (docs/numerics.md, 8). Ascending. REQUIRES: 0 < batch_size <= chunks * chunk_rows < 2^32.
std::vector<std::uint32_t> DrawFromChunks(const base::Digest& batch_seed, std::uint32_t chunks,
                                          std::uint32_t chunk_rows, std::uint32_t batch_size);
// How many chunks that takes.
std::uint32_t ChunksOfBatch(std::uint32_t chunks, std::uint32_t chunk_rows,
                            std::uint32_t batch_size);

}  // namespace ostraka::train
