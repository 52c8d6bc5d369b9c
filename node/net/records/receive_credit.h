// The receiver's side of credit (node/net/records/record.h): how much bulk the other side may send.
//
// Promises:
//   C1  What was granted never shrinks, and at most `window` of it is unused.
//   C2  What was taken never exceeds what was granted. After an error of Take the caller closes the
//       connection and asks no more.
//
// May not know: what the bytes are.
//
// Memory: constant.
//
// What an attacker can do here: send without credit, which closes its link.
//
// Thread safety: none; one owner.
#pragma once

#include <algorithm>
#include <cstdint>

#include "node/base/check.h"
#include "node/base/status.h"
#include "node/net/records/record.h"

namespace ostraka::net {

class ReceiveCredit {
 public:
  // `window`: maximum bytes in transit. REQUIRES: window >= kInitialCredit.
  explicit ReceiveCredit(std::uint64_t window) : window_(window) { CheckInvariants(); }

  // A bulk record of `bytes` has arrived. InvalidArgument, phrased about the other side: it had no
  // credit.
  base::Status Take(std::uint64_t bytes) {
    if (bytes > left()) return base::InvalidArgument("sent more bulk than it had credit for");
    taken_ += bytes;
    return base::OkStatus();
  }
  std::uint64_t left() const { return granted_ - taken_; }
  // True once half of the window is used: grant before the other side must wait.
  bool wants_grant() const { return left() <= window_ / 2; }
  // Grants a whole window from here; returns the value for CREDIT.
  std::uint64_t Grant() {
    granted_ = std::max(granted_, taken_ + window_);
    CheckInvariants();
    return granted_;
  }

  void CheckInvariants() const {
    OSTRAKA_CHECK(taken_ <= granted_);            // C2
    OSTRAKA_CHECK(granted_ - taken_ <= window_);  // C1
  }

 private:
  const std::uint64_t window_;
  std::uint64_t granted_ = kInitialCredit;
  std::uint64_t taken_ = 0;
};

}  // namespace ostraka::net
