// A graph's loss and gradient by libtorch's eager operations and autograd: the oracle of exact/,
// and what it is timed beside.
//
// Thread safety: none; libtorch's number of threads is the process's.
#pragma once

#include <memory>

#include "tests/unit/exact/problem.h"

namespace ostraka::exact::testing {

class TorchGraph {
 public:
  // Copies the problem's values. From now on libtorch and its OpenBLAS use `threads` threads.
  TorchGraph(const Problem& problem, int threads);
  ~TorchGraph();

  // Computes the loss and the gradient, as one eager training step does.
  void Run();
  // Of the last Run.
  Gradient result() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// By one thread.
Gradient TorchGradientOf(const Problem& problem);

}  // namespace ostraka::exact::testing
