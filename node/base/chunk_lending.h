// Chunks of a run's data that its members lend each other: who borrows knows nothing of networks,
// who carries them nothing of data.
//
// What an attacker can do here: a lender may answer late, with other bytes, or not at all. Who
// borrows checks what comes by its hash, and says so where it is wrong; an implementation bounds
// size and time.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "node/base/bytes.h"
#include "node/base/ids.h"

namespace ostraka::base {

// What this machine has to lend.
class ChunkShelf {
 public:
  virtual ~ChunkShelf() = default;

  virtual bool Has(std::uint64_t chunk) = 0;
  // The chunk, checked by its hash; nullopt: it is not here. May wait for the disk.
  virtual std::optional<Bytes> Lend(std::uint64_t chunk) = 0;
};

struct LentChunk {
  Bytes bytes;  // as many as were asked for, nothing else is sure
  PeerId lender;
};

class ChunkLenders {
 public:
  virtual ~ChunkLenders() = default;

  // Nullopt: no member has it now, or lends it soon. `unwanted` as of RangeReader.
  virtual std::optional<LentChunk> Borrow(std::uint64_t chunk, std::size_t size,
                                          const std::function<bool()>& unwanted) = 0;
  // It lent other bytes than the chunk's: it is not asked again.
  virtual void Distrust(const PeerId& lender) = 0;

  // From now on members may borrow from `shelf`, whose chunks have `chunk_bytes` each, until
  // EndLending, which waits for what is under way there. REQUIRES: once; `chunk_bytes` > 0.
  virtual void LendFrom(ChunkShelf& shelf, std::size_t chunk_bytes) = 0;
  virtual void EndLending() = 0;
};

}  // namespace ostraka::base
