// Matrix products on several threads. Threads split the output only, so every element is the chain
// that one thread would compute (numerics.md 3).
//
// Thread safety: one call at a time for each scratch.
#pragma once

#include <cstddef>
#include <memory>

#include "aggregation/kernels/rows.h"
#include "exact/kernels/kernels.h"

namespace ostraka::exact {

using aggregation::Executor;

// Where products are packed: kProductScratch floats for each thread, aligned to a cache line.
//
// Promises: the ranges of two threads do not overlap.
// Memory: threads times kProductScratch floats (2.5 MiB).
class ProductScratch {
 public:
  // REQUIRES: threads > 0.
  explicit ProductScratch(std::size_t threads);

  std::size_t threads() const { return threads_; }
  // REQUIRES: thread < threads().
  float* of(std::size_t thread);

 private:
  std::size_t threads_;
  std::unique_ptr<float[]> memory_;
};

// Runs kernels.multiply, in at most scratch.threads() pieces if the product is large enough.
void Multiply(const Kernels& kernels, const Executor& executor, const Product& product,
              ProductScratch& scratch);

}  // namespace ostraka::exact
