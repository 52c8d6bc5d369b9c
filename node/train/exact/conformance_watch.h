// Repeats the conformance check from time to time while a trainer works: a processor that was right
// at the start may begin to fail, and its gradients would then look like an attacker's.
//
// When it checks is counted in gradients, so that a run is a function of its inputs. The check
// takes 1.2 ms with AVX2 and 5 ms with scalar kernels, no more than kCheckOperations at the speed
// of large products. It is repeated after as many gradients as take a thousand times that, and at
// the latest after kMostGradients: of a small model, then, it costs 5 to 20 microseconds a
// gradient, a thousandth of the shortest step (tens of milliseconds: three seals).
//
// Promises:
//   W1  once a check has failed, every later call fails with the same reason.
// Thread safety: none; one owner. Checks on the caller's thread.
#pragma once

#include <cstdint>

#include "exact/kernels/kernels.h"
#include "node/base/status.h"

namespace ostraka::train {

class ConformanceWatch {
 public:
  // Floating-point operations of one gradient; 100 million of them take at least 1.2 ms on a core.
  static constexpr std::uint64_t kCheckOperations = 100'000'000;
  static constexpr std::uint64_t kMostGradients = 256;

  // `kernels` outlive this, have passed the check, and compute gradients of so many operations.
  ConformanceWatch(const exact::Kernels& kernels, std::uint64_t operations);

  // Gradients from one check to the next.
  std::uint64_t every() const { return every_; }

  // To be called after each gradient, before anybody sees it. FailedPrecondition, in one line: this
  // machine computes other bits than it did, so neither this gradient nor a later one may be used.
  base::Status AfterGradient();

 private:
  const exact::Kernels& kernels_;
  std::uint64_t every_;
  std::uint64_t since_ = 0;
  base::Status failure_;
};

}  // namespace ostraka::train
