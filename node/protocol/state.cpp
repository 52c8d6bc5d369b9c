#include "node/protocol/state.h"

#include <span>
#include <string_view>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "crypto/merkle.h"
#include "node/base/check.h"

namespace ostraka::protocol {
namespace {

Digest TensorLeaf(const base::TensorSpec& tensor, std::string_view role,
                  std::span<const float> values) {
  crypto::Hasher hasher(crypto::kDomainState);
  hasher.UpdateSized(base::AsBytes(tensor.name)).UpdateU64(tensor.shape.size());
  for (const std::uint64_t extent : tensor.shape) hasher.UpdateU64(extent);
  hasher.UpdateSized(base::AsBytes(role));
  return hasher.Update(crypto::MerkleRootOfData(base::AsBytes(values))).Finish();
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

Digest StateRoot(const ModelState& state, const base::TensorLayout& layout) {
  OSTRAKA_CHECK(state.parameters->size() == base::ElementCount(layout));
  OSTRAKA_CHECK(state.velocity->size() == base::ElementCount(layout));
  std::vector<Digest> leaves;
  leaves.reserve(layout.size() * 2);
  std::size_t offset = 0;
  for (const base::TensorSpec& tensor : layout) {
    const std::size_t count = tensor.element_count();
    leaves.push_back(
        TensorLeaf(tensor, "parameters", std::span(*state.parameters).subspan(offset, count)));
    leaves.push_back(
        TensorLeaf(tensor, "velocity", std::span(*state.velocity).subspan(offset, count)));
    offset += count;
  }
  return crypto::MerkleRoot(leaves);
}

}  // namespace ostraka::protocol
