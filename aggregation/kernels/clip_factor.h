// The clipping factor for every rule and pre-aggregation. Internal to aggregation.
#pragma once

namespace ostraka::aggregation {

// min(1, limit / length): the factor that limits a vector of `length` to `limit`.
inline double ClipFactor(double length, double limit) {
  return length <= limit ? 1.0 : limit / length;
}

}  // namespace ostraka::aggregation
