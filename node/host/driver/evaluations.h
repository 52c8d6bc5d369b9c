// Which states of a run are evaluated on held-out data, and which result is still awaited. A result
// may never come for a state that a newer one replaced (JobPool, J2); it always comes for the last.
//
// Promises:
//   E1  A result is awaited exactly if the last state that was sent to evaluation has none yet.
//   E2  Steps are sent in any order, because a member that follows may take a state of an earlier
//       step. A result for a step above all that were sent is a bug of ours (CHECKed).
//
// May not know: states, trainers, results.
// Memory: three numbers.
// What an attacker can do here: nothing.
//
// Thread safety: none; the protocol thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "node/base/check.h"

namespace ostraka::host {

class Evaluations {
 public:
  // `every`: steps, and the first step, with which later losses are compared (trend.h); 0: only the
  // last state.
  explicit Evaluations(std::uint64_t every) : every_(every) {}

  bool Due(std::uint64_t step) const {
    return every_ > 0 && (step == 0 || (step + 1) % every_ == 0);
  }
  bool Sent(std::uint64_t step) const { return sent_ == step; }
  bool Awaited() const { return sent_ && !answered_; }

  void Send(std::uint64_t step) {
    sent_ = step;
    highest_ = std::max(highest_, step);
    answered_ = false;
  }
  // Success or failure.
  void RecordResult(std::uint64_t step) {
    OSTRAKA_CHECK(sent_ && step <= highest_);  // E2
    if (step == *sent_) answered_ = true;
  }

 private:
  const std::uint64_t every_;
  std::optional<std::uint64_t> sent_;  // the last
  std::uint64_t highest_ = 0;          // of all that were sent
  bool answered_ = false;              // the last
};

}  // namespace ostraka::host
