#include "node/protocol/ground/state.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "crypto/merkle.h"
#include "node/base/check.h"
#include "node/wire/limits.h"

namespace ostraka::protocol {
namespace {

constexpr std::string_view kParametersRole = "parameters";
constexpr std::size_t kFloatsAChunk = crypto::kChunkBytes / sizeof(float);

Digest TensorLeaf(const base::TensorSpec& tensor, std::string_view role, const Digest& root) {
  crypto::Hasher hasher(crypto::kDomainState);
  hasher.UpdateSized(base::AsBytes(tensor.name)).UpdateU64(tensor.shape.size());
  for (const std::uint64_t extent : tensor.shape) hasher.UpdateU64(extent);
  hasher.UpdateSized(base::AsBytes(role));
  return hasher.Update(root).Finish();
}

// Vector 0 is the parameters, vector k is slot k - 1.
const SharedVector& VectorOf(const ModelState& state, std::size_t vector) {
  return vector == 0 ? state.parameters : state.slots[vector - 1].values;
}

std::span<const float> Slice(const ModelState& state, std::size_t vector, std::uint64_t begin,
                             std::uint64_t end) {
  return std::span(*VectorOf(state, vector)).subspan(begin, end - begin);
}

}  // namespace

SlotNames SlotNamesOf(aggregation::Optimizer optimizer) {
  const auto names = aggregation::SlotNames(optimizer);
  return {names.begin(), names.end()};
}

SlotNames SlotNamesOf(const ModelState& state) {
  SlotNames names;
  for (const StateSlot& slot : state.slots) names.push_back(slot.name);
  return names;
}

ModelState FreshState(SharedVector parameters, aggregation::Optimizer optimizer) {
  ModelState state{std::move(parameters), {}};
  for (std::string& name : SlotNamesOf(optimizer)) {
    auto zeros = std::make_shared<const std::vector<float>>(state.parameters->size(), 0.0F);
    state.slots.push_back({std::move(name), std::move(zeros)});
  }
  return state;
}

std::vector<PartRange> CutParts(std::uint64_t dimension, std::uint32_t count) {
  OSTRAKA_CHECK(count > 0);
  const std::uint64_t shortest = dimension / count;
  const std::uint64_t longer = dimension % count;
  std::vector<PartRange> parts;
  parts.reserve(count);
  std::uint64_t begin = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t size = shortest + (i < longer ? 1 : 0);
    parts.push_back({begin, begin + size});
    begin += size;
  }
  return parts;
}

std::uint64_t LargestPart(std::uint64_t dimension, std::uint32_t column) {
  const std::uint64_t fewest = std::max<std::uint64_t>(kFewestOwners, std::uint64_t{column} + 1);
  return dimension / fewest + (dimension % fewest > 0 ? 1 : 0);
}

Digest StateRoot(const ModelState& state, const base::TensorLayout& layout) {
  return *StateRootOf(StateLeaves(state, layout), layout, SlotNamesOf(state));
}

std::vector<StatePiece> StatePieces(const base::TensorLayout& layout, std::size_t slots) {
  constexpr std::uint64_t kFloatsAPiece = wire::kStateChunkBytes / sizeof(float);
  static_assert(kFloatsAPiece % kFloatsAChunk == 0);
  std::vector<StatePiece> pieces;
  std::size_t leaf = 0;
  std::uint64_t offset = 0;
  for (const base::TensorSpec& tensor : layout) {
    const std::uint64_t count = tensor.element_count();
    for (std::size_t vector = 0; vector <= slots; ++vector) {
      for (std::uint64_t at = 0; at < count; at += kFloatsAPiece) {
        const std::uint64_t size = std::min(kFloatsAPiece, count - at);
        const std::size_t leaves = crypto::ChunkCount(size * sizeof(float));
        pieces.push_back({vector, offset + at, offset + at + size, leaf, leaves});
        leaf += leaves;
      }
    }
    offset += count;
  }
  return pieces;
}

std::vector<Digest> StateLeaves(const ModelState& state, const base::TensorLayout& layout) {
  for (std::size_t vector = 0; vector <= state.slots.size(); ++vector) {
    OSTRAKA_CHECK(VectorOf(state, vector)->size() == base::ElementCount(layout));
  }
  std::vector<Digest> leaves;
  std::uint64_t offset = 0;
  for (const base::TensorSpec& tensor : layout) {
    for (std::size_t vector = 0; vector <= state.slots.size(); ++vector) {
      const auto values = Slice(state, vector, offset, offset + tensor.element_count());
      for (const Digest& leaf : crypto::ChunkLeaves(base::AsBytes(values))) leaves.push_back(leaf);
    }
    offset += tensor.element_count();
  }
  return leaves;
}

std::optional<Digest> StateRootOf(const std::vector<Digest>& leaves,
                                  const base::TensorLayout& layout, const SlotNames& slots) {
  std::vector<std::string_view> roles = {kParametersRole};
  roles.insert(roles.end(), slots.begin(), slots.end());
  std::vector<Digest> tensors;
  std::size_t at = 0;
  for (const base::TensorSpec& tensor : layout) {
    const std::size_t count = crypto::ChunkCount(tensor.element_count() * sizeof(float));
    for (const std::string_view role : roles) {
      if (count > leaves.size() - at) return std::nullopt;
      const auto own = std::span(leaves).subspan(at, count);
      tensors.push_back(TensorLeaf(tensor, role, crypto::MerkleRoot(own)));
      at += count;
    }
  }
  if (at != leaves.size()) return std::nullopt;
  return crypto::MerkleRoot(tensors);
}

base::Bytes PieceOf(const ModelState& state, const StatePiece& piece) {
  const auto view = base::AsBytes(Slice(state, piece.vector, piece.begin, piece.end));
  return base::Bytes(view.begin(), view.end());
}

bool PieceMatches(const StatePiece& piece, base::ByteView bytes,
                  const std::vector<Digest>& leaves) {
  if (bytes.size() != (piece.end - piece.begin) * sizeof(float)) return false;
  if (piece.first_leaf + piece.leaf_count > leaves.size()) return false;
  const std::vector<Digest> found = crypto::ChunkLeaves(bytes);
  return std::equal(found.begin(), found.end(),
                    leaves.begin() + static_cast<std::ptrdiff_t>(piece.first_leaf),
                    leaves.begin() + static_cast<std::ptrdiff_t>(piece.first_leaf + found.size()));
}

}  // namespace ostraka::protocol
