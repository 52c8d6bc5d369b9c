#include "node/train/exact/conformance_watch.h"

#include <algorithm>
#include <string>

#include "exact/kernels/conformance.h"

namespace ostraka::train {
namespace {

// The check costs at most one part in so many.
constexpr std::uint64_t kShare = 1000;

}  // namespace

ConformanceWatch::ConformanceWatch(const exact::Kernels& kernels, std::uint64_t operations)
    : kernels_(kernels),
      every_(std::clamp<std::uint64_t>(
          kShare * kCheckOperations / std::max<std::uint64_t>(operations, 1), 1, kMostGradients)) {}

base::Status ConformanceWatch::AfterGradient() {
  if (!failure_.ok() || ++since_ < every_) return failure_;
  since_ = 0;
  const base::Status status = exact::CheckConformance(kernels_);
  if (!status.ok()) {
    failure_ = base::FailedPrecondition("this machine computes other bits than when it started: " +
                                        base::MessageOf(status));
  }
  return failure_;
}

}  // namespace ostraka::train
