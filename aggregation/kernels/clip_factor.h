// Clipping, as every rule and pre-aggregation here does it. Internal to aggregation.
#pragma once

namespace ostraka::aggregation {

// min(1, limit / length): the factor that makes a vector of this length no longer than `limit`.
inline double ClipFactor(double length, double limit) {
  return length <= limit ? 1.0 : limit / length;
}

}  // namespace ostraka::aggregation
