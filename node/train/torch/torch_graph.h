// A graph's loss and gradient by libtorch's eager operations and autograd: what the tolerant
// trainer of graphs computes with, and the oracle that exact/ is tested and timed beside. Shows no
// libtorch.
//
// Every function may throw what libtorch throws (torch_runtime.h, CatchAll).
// Memory: at most EagerBytes (eager_memory.h) during a call; between calls parameters, constants,
// a micro-batch, the last gradient and the last logits.
// Thread safety: none; one owner. Uses as many threads as UseThreads (torch_runtime.h) has set.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "exact/graph/graph.h"
#include "exact/run/runner.h"

namespace ostraka::train {

class TorchGraph {
 public:
  // Copies the constants. REQUIRES: CheckGraph(graph) is ok; `constants` has the floats of each
  // constant, of the graph's sizes.
  TorchGraph(exact::Graph graph, const std::vector<std::vector<float>>& constants);
  TorchGraph(TorchGraph&&) noexcept;
  ~TorchGraph();

  // Copies them, to memory of libtorch's alignment: its kernels may round differently on another.
  // REQUIRES: they have the graph's sizes, and integers are in the ranges that the graph states.
  void SetParameters(std::span<const float> parameters);
  void SetInputs(std::span<const exact::InputValues> inputs);

  // Computes the loss and the gradient, as one eager training step does. REQUIRES: parameters and
  // inputs are set; so for RunForward.
  void Run();
  // Computes the loss alone.
  void RunForward();

  // Of the last Run or RunForward.
  float loss() const;
  // What the loss's cross_entropy was taken of, row-major; empty if the loss is none, or if it was
  // taken of a parameter, a constant or an input.
  std::span<const float> logits() const;
  // The gradient of the last Run, of zeros where the loss depends on no element of a parameter.
  // REQUIRES: `gradient` has the graph's parameter count.
  void CopyGradient(std::span<float> gradient) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ostraka::train
