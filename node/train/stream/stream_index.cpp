#include "node/train/stream/stream_index.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "crypto/merkle.h"
#include "crypto/stream.h"
#include "node/base/check.h"
#include "node/train/batch.h"
#include "node/train/columns.h"

namespace ostraka::train {
namespace {

using base::InvalidArgument;

constexpr std::string_view kMagic = "ostraka-stream 1 ";
constexpr std::size_t kLeafBytes = sizeof(base::Digest::bytes);
constexpr std::size_t kFileDigits = 5;
constexpr std::uint64_t kMostRows = std::numeric_limits<std::uint32_t>::max();
// Of the bytes of a batch's rows that may be fetched for them.
constexpr std::uint64_t kMostOverhead = 4;

struct Counts {
  std::uint64_t columns = 0;
  std::uint64_t training = 0;
  std::uint64_t validation = 0;
  std::uint64_t test = 0;
  std::uint64_t chunk_rows = 0;
  std::uint64_t file_chunks = 0;
};

base::StatusOr<Counts> CountsOf(std::string_view line) {
  const auto numbers = CountsIn(line, kMagic);
  if (!numbers || numbers->size() != 6) {
    return InvalidArgument("its first line is not '" + std::string(kMagic) +
                           "COLUMNS TRAINING VALIDATION TEST ROWS CHUNKS', none of them 0");
  }
  const Counts counts = {(*numbers)[0], (*numbers)[1], (*numbers)[2],
                         (*numbers)[3], (*numbers)[4], (*numbers)[5]};
  if (counts.columns > kMostColumns || counts.training > kMostRows ||
      counts.chunk_rows > counts.training || counts.training % counts.chunk_rows != 0) {
    return InvalidArgument("its first line has more than " + std::to_string(kMostColumns) +
                           " columns, or training rows that are no whole chunks of fewer than "
                           "2^32 rows");
  }
  return counts;
}

// `count` rows from the beginning of `rest`, which are taken from it.
base::Status TakeRows(std::uint64_t count, const StreamIndex& index, std::uint64_t first,
                      base::ByteView& rest, Examples& part) {
  const std::size_t bytes = count * index.row_bytes;
  const base::ByteView rows = rest.first(bytes);
  for (std::uint64_t i = 0; i < count; ++i) {
    RETURN_IF_ERROR(
        CheckRow(rows.subspan(i * index.row_bytes, index.row_bytes), index.columns, first + i));
  }
  part.value_count = index.row_bytes;
  part.values.assign(rows.begin(), rows.end());
  part.labels.resize(count);
  rest = rest.subspan(bytes);
  return base::OkStatus();
}

}  // namespace

std::string StreamIndex::FileOf(std::uint64_t chunk) const {
  std::string number = std::to_string(chunk / file_chunks);
  if (number.size() < kFileDigits) number.insert(0, kFileDigits - number.size(), '0');
  return std::string(kStream) + "." + number;
}

std::uint64_t StreamIndex::OffsetOf(std::uint64_t chunk) const {
  return chunk % file_chunks * chunk_bytes();
}

base::StatusOr<StreamIndex> ParseStreamIndex(base::ByteView file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  std::string_view rest = text;
  const auto line = TakeLine(rest);
  if (!line || !line->starts_with(kMagic)) {
    return InvalidArgument("is no index of streamed data: it does not begin with '" +
                           std::string(kMagic) + "'");
  }
  ASSIGN_OR_RETURN(const Counts counts, CountsOf(*line));
  StreamIndex index{.chunk_rows = static_cast<std::uint32_t>(counts.chunk_rows),
                    .file_chunks = counts.file_chunks};
  ASSIGN_OR_RETURN(index.columns, ParseColumns(counts.columns, rest));
  index.lines = text.substr(0, text.size() - rest.size());
  index.row_bytes =
      static_cast<std::uint32_t>(index.columns.back().at + index.columns.back().row_bytes());
  if (counts.chunk_rows > kMostChunkBytes / index.row_bytes) {
    return InvalidArgument("its chunks have more than " + std::to_string(kMostChunkBytes) +
                           " bytes");
  }
  const std::uint64_t chunks = counts.training / counts.chunk_rows;
  // Each below the size of the file, so that their sum does not wrap.
  const bool is_short = counts.validation > rest.size() || counts.test > rest.size() ||
                        chunks > rest.size() / kLeafBytes;
  if (is_short ||
      rest.size() != (counts.validation + counts.test) * index.row_bytes + chunks * kLeafBytes) {
    return InvalidArgument(
        "has " + std::to_string(rest.size()) + " bytes after its lines, not those of " +
        std::to_string(counts.validation) + " and " + std::to_string(counts.test) +
        " held-out rows and of " + std::to_string(chunks) + " chunks");
  }
  base::ByteView bytes = file.last(rest.size());
  RETURN_IF_ERROR(TakeRows(counts.validation, index, 0, bytes, index.validation));
  RETURN_IF_ERROR(TakeRows(counts.test, index, counts.validation, bytes, index.test));
  index.leaves.resize(chunks);
  for (base::Digest& leaf : index.leaves) {
    std::copy_n(bytes.begin(), kLeafBytes, leaf.bytes.begin());
    bytes = bytes.subspan(kLeafBytes);
  }
  return index;
}

base::Digest HashOfStream(const StreamIndex& index) {
  std::vector<base::Digest> held_out;
  for (const Examples* part : {&index.validation, &index.test}) {
    for (std::size_t i = 0; i < part->size(); ++i) {
      held_out.push_back(crypto::ChunkLeaf(part->image(i)));
    }
  }
  return crypto::Hasher(crypto::kDomainData)
      .UpdateU64(std::numeric_limits<std::uint64_t>::max())
      .UpdateSized(base::AsBytes(std::span<const char>(index.lines)))
      .Update(crypto::MerkleRoot(held_out))
      .Update(crypto::MerkleRoot(index.leaves))
      .Finish();
}

base::Status CheckChunk(const StreamIndex& index, std::uint64_t chunk, base::ByteView bytes) {
  OSTRAKA_CHECK(chunk < index.leaves.size());
  if (bytes.size() != index.chunk_bytes() || crypto::ChunkLeaf(bytes) != index.leaves[chunk]) {
    return InvalidArgument("chunk " + std::to_string(chunk) + " is not the one of the index");
  }
  for (std::uint64_t i = 0; i < index.chunk_rows; ++i) {
    const base::Status row = CheckRow(bytes.subspan(i * index.row_bytes, index.row_bytes),
                                      index.columns, chunk * index.chunk_rows + i);
    if (!row.ok()) {
      return base::FailedPrecondition("the data themselves are damaged, whoever sends them: " +
                                      base::MessageOf(row));
    }
  }
  return base::OkStatus();
}

std::uint32_t ChunksOfBatch(std::uint32_t chunks, std::uint32_t chunk_rows,
                            std::uint32_t batch_size) {
  const std::uint64_t wanted = kMostOverhead * batch_size / chunk_rows;
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(wanted, 1, std::min(chunks, batch_size)));
}

std::vector<std::uint32_t> DrawFromChunks(const base::Digest& batch_seed, std::uint32_t chunks,
                                          std::uint32_t chunk_rows, std::uint32_t batch_size) {
  OSTRAKA_CHECK(batch_size > 0 && batch_size <= std::uint64_t{chunks} * chunk_rows);
  crypto::Stream stream("batch chunks", batch_seed);
  const std::uint32_t count = ChunksOfBatch(chunks, chunk_rows, batch_size);
  std::vector<std::uint32_t> rows;
  std::uint32_t k = 0;
  for (const std::uint32_t chunk : DrawDistinct(stream, chunks, count)) {
    const std::uint32_t own = batch_size / count + (k++ < batch_size % count ? 1 : 0);
    for (const std::uint32_t row : DrawDistinct(stream, chunk_rows, own)) {
      rows.push_back(chunk * chunk_rows + row);
    }
  }
  return rows;
}

}  // namespace ostraka::train
