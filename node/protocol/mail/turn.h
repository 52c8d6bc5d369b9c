// The Step call in progress: its time, and where its actions go. The machine owns one; its parts
// hold a reference to it and act only while a call is in progress.
//
// Promises [C: CHECKed]:
//   N1  An action goes into the outbox of the call in progress; there is none between calls. [C]
//   N2  Calls do not nest, and time does not go back. [C]
//
// May not know: what the actions are.
//
// Memory: a time. What an attacker can do here: nothing.
//
// Thread safety: none; one owner.
#pragma once

#include <utility>

#include "node/base/check.h"
#include "node/protocol/ground/machine.h"

namespace ostraka::protocol {

class Turn {
 public:
  // REQUIRES: no call is in progress; time does not go back.
  void Begin(Time now, Outbox& out) {
    OSTRAKA_CHECK(out_ == nullptr && now >= now_);
    now_ = now;
    out_ = &out;
  }
  void End() { out_ = nullptr; }

  // Of this call, or of the last one.
  Time now() const { return now_; }
  // REQUIRES: a call is in progress.
  void Do(Action action) const {
    OSTRAKA_CHECK(out_ != nullptr);
    out_->Add(std::move(action));
  }

 private:
  Time now_;
  Outbox* out_ = nullptr;
};

}  // namespace ostraka::protocol
