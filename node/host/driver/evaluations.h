// Which states of a run are evaluated on held-out data, and which result is still awaited. A result
// may never come for a state that a newer one replaced (JobPool, J2); it always comes for the last.
//
// Promises:
//   E1  A result is awaited exactly if the last state that was sent to evaluation has none yet.
//   E2  No result comes for a state that was never sent: steps are sent in order.
//
// May not know: states, trainers, results.
// Memory: two numbers.
// What an attacker can do here: nothing.
//
// Thread safety: none; the protocol thread.
#pragma once

#include <cstdint>
#include <optional>

#include "node/base/check.h"

namespace ostraka::host {

class Evaluations {
 public:
  // `every`: steps; 0: only the last state.
  explicit Evaluations(std::uint64_t every) : every_(every) {}

  bool Due(std::uint64_t step) const { return every_ > 0 && (step + 1) % every_ == 0; }
  bool Sent(std::uint64_t step) const { return sent_ == step; }
  bool Awaited() const { return sent_ != answered_; }

  void Send(std::uint64_t step) {
    sent_ = step;
    CheckInvariants();
  }
  void Answer(std::uint64_t step) {
    answered_ = step;
    CheckInvariants();
  }

  // E2.
  void CheckInvariants() const { OSTRAKA_CHECK(!answered_ || (sent_ && *answered_ <= *sent_)); }

 private:
  const std::uint64_t every_;
  std::optional<std::uint64_t> sent_;      // the last
  std::optional<std::uint64_t> answered_;  // the last; success or failure
};

}  // namespace ostraka::host
