#include "node/train/initial.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "crypto/stream.h"
#include "node/base/check.h"
#include "node/base/rng.h"

namespace ostraka::train {

std::vector<float> UniformByFanIn(const base::TensorLayout& layout, const base::Digest& seed) {
  const base::Rng root(crypto::Stream("initial", seed).NextU64());
  std::vector<float> parameters;
  parameters.reserve(base::ElementCount(layout));
  double bound = 0;
  for (std::size_t index = 0; index < layout.size(); ++index) {
    const base::TensorSpec& tensor = layout[index];
    const std::uint64_t count = tensor.element_count();
    OSTRAKA_CHECK(count > 0 && !tensor.shape.empty());
    if (tensor.shape.size() > 1) {
      bound = 1 / std::sqrt(static_cast<double>(count / tensor.shape.front()));
    }
    OSTRAKA_CHECK(bound > 0);
    base::Rng rng = root.Fork("tensor", index);
    for (std::uint64_t i = 0; i < count; ++i) {
      parameters.push_back(static_cast<float>(bound * (2 * rng.Unit() - 1)));
    }
  }
  return parameters;
}

}  // namespace ostraka::train
