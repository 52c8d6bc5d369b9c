// The receiver's side of credit (node/net/link/record.h): what bulk the other side may have sent.
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
  // So much may be on its way at most. REQUIRES: window >= kInitialCredit.
  explicit ReceiveCredit(std::uint64_t window) : window_(window) {}

  // A bulk record of `bytes` has come. InvalidArgument, as said of the other side: it had no
  // credit.
  base::Status Take(std::uint64_t bytes) {
    taken_ += bytes;
    if (taken_ <= granted_) return base::OkStatus();
    return base::InvalidArgument("sent more bulk than it had credit for");
  }
  std::uint64_t left() const { return granted_ - taken_; }
  // Half of the window is used: soon the other side might wait.
  bool wants_grant() const { return left() <= window_ / 2; }
  // Gives a whole window from here; what to say in CREDIT.
  std::uint64_t Grant() { return granted_ = std::max(granted_, taken_ + window_); }

 private:
  const std::uint64_t window_;
  std::uint64_t granted_ = kInitialCredit;
  std::uint64_t taken_ = 0;
};

}  // namespace ostraka::net
