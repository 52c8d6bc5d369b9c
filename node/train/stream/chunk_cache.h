// Chunks on the disk of this machine, up to a limit, the least recently used removed first.
//
// A chunk is a file of its own that appears whole, so a node that is killed finds all that it had.
// Several processes may share a folder: what one has removed, another fetches again. What is read
// is checked by its reader, as a disk may be as wrong as a stranger.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>

#include "node/base/bytes.h"
#include "node/base/status.h"

namespace ostraka::train {

// A file of the folder, which appears whole. Unavailable.
base::Status WriteWhole(const std::string& folder, const std::string& name, base::ByteView bytes);

class ChunkCache {
 public:
  // Makes the folder if there is none. Unavailable: it cannot be used. `most_bytes` 0: nothing is
  // kept.
  static base::StatusOr<ChunkCache> Open(const std::string& folder, std::uint64_t most_bytes);

  bool Has(std::uint64_t chunk) const { return kept_.contains(chunk); }
  // Nullopt: it is not there, or has another size.
  std::optional<base::Bytes> Get(std::uint64_t chunk, std::size_t size);
  // What a disk refuses is not kept: the status says why.
  base::Status Put(std::uint64_t chunk, base::ByteView bytes);
  // What is wrong is not offered again.
  void Remove(std::uint64_t chunk);

  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Kept {
    std::uint64_t bytes = 0;
    std::list<std::uint64_t>::iterator place;  // in used_
  };
  ChunkCache(std::string folder, std::uint64_t most_bytes)
      : folder_(std::move(folder)), most_bytes_(most_bytes) {}
  std::string PathOf(std::uint64_t chunk) const;
  void Forget(std::map<std::uint64_t, Kept>::iterator kept);

  std::string folder_;
  std::uint64_t most_bytes_ = 0;
  std::list<std::uint64_t> used_;       // the longest unused first
  std::map<std::uint64_t, Kept> kept_;  // the chunks of used_
  std::uint64_t bytes_ = 0;             // of kept_; <= most_bytes_ after each call
};

}  // namespace ostraka::train
