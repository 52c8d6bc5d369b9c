// The state at the start of one step, while it is fetched: its leaves, which its sealed root
// proves, then its pieces, which the leaves prove, in any order and from anybody (state.h).
//
// Promises:
//   S1  What it takes is a part of the state with that root; anything else changes nothing.
//   S2  Pieces that a store kept count as those that come: a fetch that was killed goes on.
//
// May not know: whom anything was asked of.
//
// Memory: the state.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "node/base/tensor_layout.h"
#include "node/protocol/ground/hash_into.h"
#include "node/protocol/ground/state.h"

namespace ostraka::protocol {

using crypto::SharedBlob;

// What a fetch has, by the number that is asked for: 0 the leaves, then the pieces.
struct StateParts {
  std::uint64_t step = 0;
  std::map<std::uint64_t, SharedBlob> parts;
  void HashInto(crypto::Hasher& hasher) const;
};

class StateFetch {
 public:
  // The state at the start of `step` with that root, of this layout and these slots.
  StateFetch(std::uint64_t step, const Digest& root, base::TensorLayout layout, SlotNames slots);
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  std::uint64_t step() const { return step_; }
  std::size_t piece_count() const { return pieces_.size(); }
  std::size_t left() const { return left_; }
  bool Lacks(std::uint64_t part) const;
  std::uint64_t BytesOf(std::uint64_t part) const;

  // True iff it is that part and was lacking. Pieces are none before the leaves. Any bytes are
  // safe.
  bool Take(std::uint64_t part, const crypto::Blob& blob);
  // REQUIRES: nothing is left.
  ModelState Finish() const;

 private:
  bool TakeLeaves(const crypto::Blob& blob);

  const std::uint64_t step_;
  const Digest root_;
  const base::TensorLayout layout_;
  const SlotNames slots_;
  const std::vector<StatePiece> pieces_;
  std::vector<Digest> leaves_;                                // empty until they have come
  std::vector<bool> have_;                                    // by piece
  std::size_t left_ = 0;                                      // pieces that have not come
  std::vector<std::shared_ptr<std::vector<float>>> vectors_;  // parameters, then the slots
};

}  // namespace ostraka::protocol
