// A model state in a member's own store: u64 d, then the parameters and each slot, d floats each.
//
// Thread safety: pure functions, but for what HeldInMemory says.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "crypto/merkle.h"
#include "node/base/bytes.h"
#include "node/protocol/ground/machine.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/ground/state.h"

namespace ostraka::protocol {

// The state that follows the block of `height` is stored; the blocks in between store their
// results. Whatever state has a root is stored, so that it is served from there, but where each
// few steps have one: writing costs as much as a step's results for each of its vectors.
inline constexpr std::uint64_t kStateEvery = 16;
// Blocks from one to the next, but for more where states with a root are rarer.
inline std::uint64_t StoredStateEvery(const Manifest& manifest) {
  const std::uint64_t roots = manifest.state_root_every;
  return roots < kStateEvery ? kStateEvery / roots * roots : kStateEvery;
}
inline bool StoresState(const Manifest& manifest, std::uint64_t height) {
  const std::uint64_t roots = manifest.state_root_every;
  return height % StoredStateEvery(manifest) == 0 || (roots > kStateEvery && height % roots == 0);
}

// Holds the state, and reads it in this form: nothing is copied before somebody reads.
std::shared_ptr<const crypto::BulkSource> StateSource(ModelState state);
base::Bytes EncodeState(const ModelState& state);
// Nullopt unless it holds exactly the parameters and `slots`, of `dimension` floats each.
std::optional<ModelState> DecodeState(base::ByteView bytes, std::uint64_t dimension,
                                      const SlotNames& slots);

// A piece of a stored state of `dimension` parameters, read when it is sent. REQUIRES: `leaves` are
// those of the state, and the piece is one of its pieces.
crypto::SharedBlob StoredPiece(const crypto::BulkSource& stored, std::uint64_t dimension,
                               const StatePiece& piece, const std::vector<Digest>& leaves);

// What a store keeps that is no disk, as in simulators: the record with its bytes in memory. It
// says at once that it has them (Record::copy).
Record HeldInMemory(Record record);

}  // namespace ostraka::protocol
