// What one process needs to train a transformer with the usual frameworks: the calculator of the
// NeurIPS 2021 demonstration "Training Transformers Together", with its presets. It says what a
// model costs elsewhere; what a node of ours takes is printed by its run (docs/operating.md).
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ostraka::cli {

// A transformer's sizes.
struct TransformerSizes {
  std::string_view name;
  std::uint64_t context = 0;  // s, positions
  std::uint64_t width = 0;    // d
  std::uint64_t inner = 0;    // f, of the feed-forward layers
  std::uint64_t layers = 0;   // L
  std::uint64_t vocabulary = 0;
};
std::span<const TransformerSizes> TransformerPresets();
std::optional<TransformerSizes> FindTransformer(std::string_view name);

enum class Precision : std::uint8_t { kO0, kO1, kO3 };  // float32; mixed; float16
enum class StateBits : std::uint8_t { k32, k16, k8 };   // of Adam's two moments

struct TrainingMemoryOptions {
  Precision precision = Precision::kO1;
  StateBits state = StateBits::k32;
  bool offload = false;    // optimizer and weight gradients in the machine's memory
  bool checkpoint = true;  // activations of a layer are computed again
  std::uint64_t batch = 1;
};

struct TrainingMemory {
  std::uint64_t parameters = 0;
  double device_bytes = 0;
  double host_bytes = 0;  // 0 without offload
};
TrainingMemory TrainingMemoryOf(const TransformerSizes& sizes,
                                const TrainingMemoryOptions& options);

}  // namespace ostraka::cli
