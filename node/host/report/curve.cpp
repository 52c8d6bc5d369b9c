#include "node/host/report/curve.h"

#include "node/base/check.h"

namespace ostraka::host {

void Curve::Add(const CurvePoint& point) {
  if (newest_ && point.step <= newest_->step) return;
  newest_ = point;
  if (seen_++ % stride_ != 0) return;
  kept_.push_back(point);
  if (kept_.size() == kMostPoints) {
    // Room for the newest point beside the kept ones, and for as many again.
    std::size_t next = 0;
    for (std::size_t i = 0; i < kept_.size(); i += 2) kept_[next++] = kept_[i];
    kept_.resize(next);
    stride_ *= 2;
  }
  CheckInvariants();
}

std::vector<CurvePoint> Curve::Points() const {
  std::vector<CurvePoint> points = kept_;
  if (newest_ && points.back().step != newest_->step) points.push_back(*newest_);
  return points;
}

void Curve::CheckInvariants() const {
  OSTRAKA_CHECK(kept_.size() < kMostPoints && kept_.empty() == !newest_.has_value());
  OSTRAKA_CHECK((stride_ & (stride_ - 1)) == 0);
  OSTRAKA_CHECK(kept_.size() == (seen_ + stride_ - 1) / stride_);
  for (std::size_t i = 1; i < kept_.size(); ++i) {
    OSTRAKA_CHECK(kept_[i - 1].step < kept_[i].step);
  }
  OSTRAKA_CHECK(kept_.empty() || kept_.back().step <= newest_->step);
}

}  // namespace ostraka::host
