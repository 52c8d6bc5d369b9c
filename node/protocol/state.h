// The replicated state: parameters and the optimiser's velocity, equal by bits on all honest peers.
//
// Thread safety: immutable once shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "node/base/ids.h"
#include "node/base/tensor_layout.h"

namespace ostraka::protocol {

using base::Digest;
using base::PeerId;
using SharedVector = std::shared_ptr<const std::vector<float>>;

struct ModelState {
  SharedVector parameters;  // d floats
  SharedVector velocity;    // d floats
};

// Elements [begin, end) of the flat parameter vector.
struct PartRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t size() const { return end - begin; }
  bool operator==(const PartRange&) const = default;
};

// d elements in `count` contiguous parts whose sizes differ by at most one, the longer first.
// REQUIRES: count > 0.
std::vector<PartRange> CutParts(std::uint64_t dimension, std::uint32_t count);

// Merkle root over named tensors: for each tensor of `layout`, parameters and then velocity,
// leaf = H(kDomainState, sized name | u64 rank | extents | role | Merkle root of its float32
// bytes). REQUIRES: both vectors have ElementCount(layout) floats.
Digest StateRoot(const ModelState& state, const base::TensorLayout& layout);

}  // namespace ostraka::protocol
