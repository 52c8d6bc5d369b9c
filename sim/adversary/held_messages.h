// Messages of a colluder that wait for an event in their seal, and the events seen so far.
//
// Promises:
//   H1  Messages that become due in one call leave in the order in which they were signed.
//   H2  One timer is set, for the earliest event with a known time; it is set again only if that
//       time changes.
//
// May not know: which message is held, and why.
//
// Memory: the messages held, and an EventLog.
//
// Thread safety: none; one owner.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "sim/adversary/adversary.h"
#include "sim/adversary/editor_options.h"
#include "sim/script/events.h"

namespace ostraka::sim {

class HeldMessages {
 public:
  static constexpr protocol::TimerId kTimer = kFirstReservedTimer + (kFirstReservedTimer >> 1);

  void Hold(protocol::Send send, const SealName& seal, const Happening& until) {
    held_.push_back({std::move(send), seal, until});
  }
  // A copy of the frame for that receiver waits.
  bool Holds(const protocol::Send& send) const {
    return std::any_of(held_.begin(), held_.end(), [&](const Held& held) {
      return held.send.to == send.to && *held.send.frame == *send.frame;
    });
  }
  std::size_t size() const { return held_.size(); }

  // The events that messages wait for come from here.
  EventLog& log() { return log_; }
  void OnTimer() { timer_.reset(); }

  // Emits what is due. `unit`: of an event's offset.
  void Release(EditorTurn& turn, const Sides& sides, base::Duration unit) {
    if (held_.empty()) return;
    std::optional<base::Time> next;
    std::deque<Held> kept;
    for (Held& held : std::exchange(held_, {})) {
      const auto due = log_.DueAt(held.until, held.seal, sides, unit);
      if (due && *due <= turn.now()) {
        turn.Emit(std::move(held.send));
        continue;
      }
      if (due && (!next || *due < *next)) next = due;
      kept.push_back(std::move(held));
    }
    held_ = std::move(kept);
    if (!next || timer_ == next) return;  // H2
    timer_ = next;
    turn.Emit(protocol::SetTimer{kTimer, *next});
  }

 private:
  struct Held {
    protocol::Send send;
    SealName seal;
    Happening until;
  };
  EventLog log_;
  std::deque<Held> held_;  // in the order of signing
  std::optional<base::Time> timer_;
};

}  // namespace ostraka::sim
