// The receiver's side of credit (node/net/link/record.h): how much bulk the other side may send.
//
// Thread safety: none; one owner.
#pragma once

#include <algorithm>
#include <cstdint>

#include "node/base/status.h"
#include "node/net/link/record.h"

namespace ostraka::net {

class ReceiveCredit {
 public:
  // `window`: maximum bytes in transit. REQUIRES: window >= kInitialCredit.
  explicit ReceiveCredit(std::uint64_t window) : window_(window) {}

  // A bulk record of `bytes` has arrived. InvalidArgument, phrased about the other side: it had no
  // credit.
  base::Status Take(std::uint64_t bytes) {
    taken_ += bytes;
    if (taken_ <= granted_) return base::OkStatus();
    return base::InvalidArgument("sent more bulk than it had credit for");
  }
  std::uint64_t left() const { return granted_ - taken_; }
  // True once half of the window is used: grant before the other side must wait.
  bool wants_grant() const { return left() <= window_ / 2; }
  // Grants a whole window from here; returns the value for CREDIT.
  std::uint64_t Grant() { return granted_ = std::max(granted_, taken_ + window_); }

 private:
  const std::uint64_t window_;
  std::uint64_t granted_ = kInitialCredit;
  std::uint64_t taken_ = 0;
};

}  // namespace ostraka::net
