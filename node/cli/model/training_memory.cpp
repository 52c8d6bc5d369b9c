#include "node/cli/model/training_memory.h"

#include <algorithm>
#include <array>

namespace ostraka::cli {
namespace {

constexpr std::array<TransformerSizes, 18> kPresets = {{
    {"bert-base", 512, 768, 3072, 12, 30522},
    {"bert-large", 512, 1024, 4096, 24, 30522},
    {"t5-3b", 512, 1024, 16384, 48, 32128},
    {"t5-11b", 512, 1024, 65536, 48, 32128},
    {"gpt2-s", 1024, 768, 3072, 12, 50257},
    {"gpt2-m", 1024, 1024, 4096, 24, 50257},
    {"gpt2-l", 1024, 1280, 5120, 36, 50257},
    {"gpt2-xl", 1024, 1600, 6400, 48, 50257},
    {"gpt3-s", 2048, 768, 3072, 12, 50257},
    {"gpt3-m", 2048, 1024, 4096, 24, 50257},
    {"gpt3-l", 2048, 1536, 6144, 24, 50257},
    {"gpt3-xl", 2048, 2560, 10240, 24, 50257},
    {"gpt3-3b", 2048, 2560, 10240, 32, 50257},
    {"gpt3-7b", 2048, 4096, 16384, 32, 50257},
    {"gpt3-13b", 2048, 5120, 20480, 40, 50257},
    {"gpt3-175b", 2048, 12288, 49152, 96, 50257},
    {"gpt-j-6b", 2048, 4096, 16384, 28, 50400},
    {"dalle-12b", 1280, 3968, 15872, 64, 24576},
}};

// Bytes a parameter.
struct Weights {
  double weights = 0;  // a float32 copy included where there is one
  double gradients = 0;
  double activation = 0;  // a value
};
Weights WeightsOf(Precision precision) {
  switch (precision) {
    case Precision::kO0:
      return {4, 4, 4};
    case Precision::kO1:
      return {6, 2, 2};
    case Precision::kO3:
      return {2, 2, 2};
  }
  return {};
}

double StateBytes(StateBits bits) {
  return bits == StateBits::k32 ? 8 : bits == StateBits::k16 ? 4 : 2;
}

// Values of the activations of a whole batch.
double ActivationsOf(const TransformerSizes& sizes, const TrainingMemoryOptions& options) {
  const auto b = static_cast<double>(options.batch);
  const auto s = static_cast<double>(sizes.context);
  const auto d = static_cast<double>(sizes.width);
  const auto f = static_cast<double>(sizes.inner);
  const auto layers = static_cast<double>(sizes.layers);
  const auto vocabulary = static_cast<double>(sizes.vocabulary);
  if (options.checkpoint) return b * s * (3 * d + 2 * vocabulary) + layers * b * s * d;
  return layers * (b * s * (f + 10 * d) + 2 * b * s * s);
}

}  // namespace

std::span<const TransformerSizes> TransformerPresets() { return kPresets; }

std::optional<TransformerSizes> FindTransformer(std::string_view name) {
  const auto at = std::find_if(kPresets.begin(), kPresets.end(),
                               [&](const TransformerSizes& one) { return one.name == name; });
  return at == kPresets.end() ? std::nullopt : std::optional(*at);
}

TrainingMemory TrainingMemoryOf(const TransformerSizes& sizes,
                                const TrainingMemoryOptions& options) {
  const std::uint64_t d = sizes.width;
  TrainingMemory memory;
  memory.parameters = sizes.layers * (2 * d * sizes.inner + 4 * d * d + d) + sizes.vocabulary * d;
  const auto parameters = static_cast<double>(memory.parameters);
  const Weights weights = WeightsOf(options.precision);
  const double moved = parameters * (weights.gradients + StateBytes(options.state));
  memory.device_bytes =
      parameters * weights.weights + ActivationsOf(sizes, options) * weights.activation;
  (options.offload ? memory.host_bytes : memory.device_bytes) += moved;
  return memory;
}

}  // namespace ostraka::cli
