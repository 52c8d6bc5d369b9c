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

constexpr std::string_view kRoles[] = {"parameters", "velocity"};
constexpr std::size_t kFloatsAChunk = crypto::kChunkBytes / sizeof(float);

Digest TensorLeaf(const base::TensorSpec& tensor, std::string_view role, const Digest& root) {
  crypto::Hasher hasher(crypto::kDomainState);
  hasher.UpdateSized(base::AsBytes(tensor.name)).UpdateU64(tensor.shape.size());
  for (const std::uint64_t extent : tensor.shape) hasher.UpdateU64(extent);
  hasher.UpdateSized(base::AsBytes(role));
  return hasher.Update(root).Finish();
}

std::span<const float> Slice(const ModelState& state, bool velocity, std::uint64_t begin,
                             std::uint64_t end) {
  const SharedVector& all = velocity ? state.velocity : state.parameters;
  return std::span(*all).subspan(begin, end - begin);
}

}  // namespace

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
  return *StateRootOf(StateLeaves(state, layout), layout);
}

std::vector<StatePiece> StatePieces(const base::TensorLayout& layout) {
  constexpr std::uint64_t kFloatsAPiece = wire::kStateChunkBytes / sizeof(float);
  static_assert(kFloatsAPiece % kFloatsAChunk == 0);
  std::vector<StatePiece> pieces;
  std::size_t leaf = 0;
  std::uint64_t offset = 0;
  for (const base::TensorSpec& tensor : layout) {
    const std::uint64_t count = tensor.element_count();
    for (const bool velocity : {false, true}) {
      for (std::uint64_t at = 0; at < count; at += kFloatsAPiece) {
        const std::uint64_t size = std::min(kFloatsAPiece, count - at);
        const std::size_t leaves = crypto::ChunkCount(size * sizeof(float));
        pieces.push_back({velocity, offset + at, offset + at + size, leaf, leaves});
        leaf += leaves;
      }
    }
    offset += count;
  }
  return pieces;
}

std::vector<Digest> StateLeaves(const ModelState& state, const base::TensorLayout& layout) {
  OSTRAKA_CHECK(state.parameters->size() == base::ElementCount(layout));
  OSTRAKA_CHECK(state.velocity->size() == base::ElementCount(layout));
  std::vector<Digest> leaves;
  std::uint64_t offset = 0;
  for (const base::TensorSpec& tensor : layout) {
    for (const bool velocity : {false, true}) {
      const auto values = Slice(state, velocity, offset, offset + tensor.element_count());
      for (const Digest& leaf : crypto::ChunkLeaves(base::AsBytes(values))) leaves.push_back(leaf);
    }
    offset += tensor.element_count();
  }
  return leaves;
}

std::optional<Digest> StateRootOf(const std::vector<Digest>& leaves,
                                  const base::TensorLayout& layout) {
  std::vector<Digest> tensors;
  std::size_t at = 0;
  for (const base::TensorSpec& tensor : layout) {
    const std::size_t count = crypto::ChunkCount(tensor.element_count() * sizeof(float));
    for (const std::string_view role : kRoles) {
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
  const auto view = base::AsBytes(Slice(state, piece.velocity, piece.begin, piece.end));
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

crypto::SharedBlob EncodeState(const ModelState& state) {
  const std::uint64_t dimension = state.parameters->size();
  const std::size_t bytes = dimension * sizeof(float);
  base::Bytes data(sizeof(dimension) + 2 * bytes);
  std::memcpy(data.data(), &dimension, sizeof(dimension));
  std::memcpy(data.data() + sizeof(dimension), state.parameters->data(), bytes);
  std::memcpy(data.data() + sizeof(dimension) + bytes, state.velocity->data(), bytes);
  auto blob = std::make_shared<crypto::Blob>();  // without a root: it is for the own store only
  blob->data = std::move(data);
  return blob;
}

std::optional<ModelState> DecodeState(base::ByteView bytes, std::uint64_t dimension) {
  std::uint64_t stored = 0;
  if (bytes.size() != sizeof(stored) + 2 * dimension * sizeof(float)) return std::nullopt;
  std::memcpy(&stored, bytes.data(), sizeof(stored));
  if (stored != dimension) return std::nullopt;
  auto parameters = std::make_shared<std::vector<float>>(dimension);
  auto velocity = std::make_shared<std::vector<float>>(dimension);
  const std::size_t size = dimension * sizeof(float);
  std::memcpy(parameters->data(), bytes.data() + sizeof(stored), size);
  std::memcpy(velocity->data(), bytes.data() + sizeof(stored) + size, size);
  return ModelState{std::move(parameters), std::move(velocity)};
}

}  // namespace ostraka::protocol
