// The replicated state: parameters and the optimizer's slots (aggregation/optim/optimizer.h), equal
// in every bit on all honest peers.
//
// Thread safety: immutable once shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aggregation/optim/optimizer.h"
#include "crypto/merkle.h"
#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/base/tensor_layout.h"

namespace ostraka::protocol {

using base::Digest;
using base::PeerId;
using SharedVector = std::shared_ptr<const std::vector<float>>;

// What an optimizer remembers of each parameter, under its name.
struct StateSlot {
  std::string name;
  SharedVector values;  // d floats
};

struct ModelState {
  SharedVector parameters;  // d floats
  std::vector<StateSlot> slots;
};

using SlotNames = std::vector<std::string>;
SlotNames SlotNamesOf(aggregation::Optimizer optimizer);
SlotNames SlotNamesOf(const ModelState& state);

// The state before the first step: all slots are 0.
ModelState FreshState(SharedVector parameters, aggregation::Optimizer optimizer);

// Elements [begin, end) of the flat parameter vector.
struct PartRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t size() const { return end - begin; }
  bool operator==(const PartRange&) const = default;
};

// Cuts d elements into `count` contiguous parts whose sizes differ by at most one, longer ones
// first.
// REQUIRES: count > 0.
std::vector<PartRange> CutParts(std::uint64_t dimension, std::uint32_t count);

// A step with fewer owners has no parts (roles.h, AssignRoles).
inline constexpr std::uint32_t kFewestOwners = 3;
// The most elements that part `column` of any step can have. Whatever this block says, the next one
// may leave as few as kFewestOwners owners. Attack: t_s members can each put an honest one out of
// role.
std::uint64_t LargestPart(std::uint64_t dimension, std::uint32_t column = 0);

// Merkle root over named tensors: for each tensor of `layout`, parameters and then each slot,
// leaf = H(kDomainState, sized name | u64 rank | extents | role | Merkle root of its float32
// bytes); the role is "parameters" or the slot's name. REQUIRES: all vectors have
// ElementCount(layout) floats.
Digest StateRoot(const ModelState& state, const base::TensorLayout& layout);

// --- in pieces, for a member that was away ------------------------------------------------------
// The leaves are those of the tensors' own Merkle trees (crypto/merkle.h), concatenated in the
// order above. The root proves the leaves and the leaves prove each piece, whatever peer sends
// them.

struct StatePiece {
  std::size_t vector = 0;   // 0: the parameters; k: slot k - 1
  std::uint64_t begin = 0;  // elements [begin, end) of the flat vector, within one tensor
  std::uint64_t end = 0;
  std::size_t first_leaf = 0;
  std::size_t leaf_count = 0;
};
// Pieces of at most kStateChunkBytes (node/wire/limits.h), in the leaves' order.
std::vector<StatePiece> StatePieces(const base::TensorLayout& layout, std::size_t slots);
std::vector<Digest> StateLeaves(const ModelState& state, const base::TensorLayout& layout);
// The root over `leaves`; nullopt if their number is not that of the layout and these slots.
std::optional<Digest> StateRootOf(const std::vector<Digest>& leaves,
                                  const base::TensorLayout& layout, const SlotNames& slots);
// PieceOf: the bytes of a piece. PieceMatches: true iff `bytes` hash to the piece's `leaves`. Any
// bytes are safe.
base::Bytes PieceOf(const ModelState& state, const StatePiece& piece);
bool PieceMatches(const StatePiece& piece, base::ByteView bytes, const std::vector<Digest>& leaves);

}  // namespace ostraka::protocol
