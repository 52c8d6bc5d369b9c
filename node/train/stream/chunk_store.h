// Training rows that are fetched in chunks, from a disk, from servers, or from a cache of both.
//
// Promises:
//   S1  a row is what the index promises: each chunk is checked by its leaf, wherever it came from.
//   S2  a source that sends other bytes is named and not asked again; one that does not answer is
//       asked again after 1, 2, 4 ... 60 seconds, meanwhile the others.
//   S3  no chunk is fetched that the cache has.
//   S4  a thread of a source that is elsewhere asks members before it. Members borrow what this
//       machine has in memory, in the cache or in a folder. A member that sends other bytes is
//       named and not asked again.
// Memory: the chunks of the batch at hand, and others up to kMostChunkMemory.
// What an attacker can do here: a source learns which chunks this machine asks for, and when. It
// can send nothing, or garbage, which costs its own connections.
//
// Thread safety: as RowStore; a thread for each connection.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "node/base/chunk_lending.h"
#include "node/base/range_reader.h"
#include "node/base/status.h"
#include "node/train/dataset.h"
#include "node/train/stream/chunk_cache.h"
#include "node/train/stream/stream_index.h"

namespace ostraka::train {

inline constexpr std::size_t kMostChunkMemory = std::size_t{64} << 20;

// One place.
struct Source {
  // As many as chunks may come from it at a time. REQUIRES: at least one.
  std::vector<std::unique_ptr<base::RangeReader>> readers;
  // Of a place on this machine: one more, for what members borrow. Null: it is elsewhere.
  std::unique_ptr<base::RangeReader> lent_from = nullptr;
};

// `notices` are the first of TakeNotices. `members` may be null. REQUIRES: at least one source.
std::shared_ptr<RowStore> FetchChunks(StreamIndex index, std::vector<Source> sources,
                                      ChunkCache cache, std::vector<std::string> notices = {},
                                      std::shared_ptr<base::ChunkLenders> members = nullptr);

}  // namespace ostraka::train
