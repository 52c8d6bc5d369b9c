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

std::vector<float> InitialByGraph(const std::vector<exact::Parameter>& tensors,
                                  const base::Digest& seed) {
  const base::Rng root(crypto::Stream("initial", seed).NextU64());
  std::int64_t dimension = 0;
  for (const exact::Parameter& tensor : tensors) dimension += tensor.type.count();
  std::vector<float> parameters;
  parameters.reserve(static_cast<std::size_t>(dimension));
  for (std::size_t index = 0; index < tensors.size(); ++index) {
    base::Rng rng = root.Fork("tensor", index);
    const double scale = double{tensors[index].scale};
    const auto draw = [&]() -> double {
      switch (tensors[index].initial) {
        case exact::Initial::kZeros:
          return 0;
        case exact::Initial::kOnes:
          return 1;
        case exact::Initial::kNormal:
          return scale * rng.Normal();
        case exact::Initial::kUniform:
          return scale * (2 * rng.Unit() - 1);
      }
      return 0;
    };
    const std::int64_t count = tensors[index].type.count();
    for (std::int64_t i = 0; i < count; ++i) parameters.push_back(static_cast<float>(draw()));
  }
  return parameters;
}

}  // namespace ostraka::train
