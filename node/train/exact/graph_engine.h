// What computes the loss and the gradient of a graph: exact kernels (exact_trainer.h), or libtorch
// (node/train/torch/torch_graph_trainer.h). It was given the graph when it was made.
//
// Thread safety: one call at a time; Abandon from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "exact/run/runner.h"
#include "node/base/status.h"

namespace ostraka::train {

class GraphEngine {
 public:
  virtual ~GraphEngine() = default;

  // The mean loss of a micro-batch at `parameters`; `gradient` gets its gradient. Either may be
  // infinite or NaN. Any error leaves `gradient` undefined.
  // REQUIRES: parameters and gradient have the graph's parameter count; the inputs are a Fill's.
  virtual base::StatusOr<float> Gradient(std::span<const float> parameters,
                                         std::span<const exact::InputValues> inputs,
                                         std::span<float> gradient) = 0;
  // The loss alone.
  virtual base::StatusOr<float> Loss(std::span<const float> parameters,
                                     std::span<const exact::InputValues> inputs) = 0;
  // Of the last call that succeeded, one row a target; empty if the loss is taken of no logits.
  virtual std::span<const float> Logits() const = 0;

  // Bytes that it needs beside parameters and a gradient; nullopt: not known.
  virtual std::optional<std::uint64_t> WorkingBytes() const { return std::nullopt; }

  // An engine that computes the same by other instructions of this machine; null if it has none. It
  // does not outlive this one.
  virtual std::unique_ptr<GraphEngine> Other() const { return nullptr; }

  // A call that is in progress ends soon with Unavailable, as does each later one, also of an
  // Other. Any thread. An engine that cannot do that ends what it has begun.
  virtual void Abandon() {}

  // To be called after each gradient of a batch, by this engine or by its Other, before anybody
  // sees it: whether this machine can still be trusted with one.
  virtual base::Status AfterGradient() { return base::OkStatus(); }
};

}  // namespace ostraka::train
