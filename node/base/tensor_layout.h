// The named tensors that a flat parameter vector consists of.
//
// The vector is the tensors' elements in layout order, row-major, without gaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ostraka::base {

struct TensorSpec {
  std::string name;                  // its name in checkpoints, e.g. "layers.0.weight"
  std::vector<std::uint64_t> shape;  // empty: a scalar

  std::uint64_t element_count() const {
    std::uint64_t count = 1;
    for (const std::uint64_t extent : shape) count *= extent;
    return count;
  }
  bool operator==(const TensorSpec&) const = default;
};

using TensorLayout = std::vector<TensorSpec>;

inline std::uint64_t ElementCount(const TensorLayout& layout) {
  std::uint64_t count = 0;
  for (const TensorSpec& tensor : layout) count += tensor.element_count();
  return count;
}

}  // namespace ostraka::base
