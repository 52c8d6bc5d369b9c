// The evaluations of a run as a curve in bounded memory, however long the run is.
//
// Promises:
//   C1  At most kMostPoints points are kept, and the newest one always is one of them.
//   C2  Steps ascend strictly. An evaluation of a step that is not above the newest is ignored: a
//       restarted node may evaluate a state again.
//   C3  Points before the newest are evenly thinned: they are the evaluations 0, s, 2 s, ... for
//       one stride s, a power of two.
// May not know: what a loss is for.
// Memory: kMostPoints points.
// What an attacker can do here: nothing; the evaluations are this node's own.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ostraka::host {

struct CurvePoint {
  std::uint64_t step = 0;
  double loss = 0;   // may be no finite number
  double value = 0;  // of the metric; the loss again if that is the metric
  bool operator==(const CurvePoint&) const = default;
};

class Curve {
 public:
  static constexpr std::size_t kMostPoints = 512;

  void Add(const CurvePoint& point);
  // By step.
  std::vector<CurvePoint> Points() const;
  bool empty() const { return !newest_.has_value(); }

  // C1 to C3; also at the end of Add.
  void CheckInvariants() const;

 private:
  std::vector<CurvePoint> kept_;
  std::optional<CurvePoint> newest_;
  std::uint64_t seen_ = 0;    // evaluations taken in
  std::uint64_t stride_ = 1;  // every how many of them are kept
};

}  // namespace ostraka::host
