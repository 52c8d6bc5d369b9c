// How a mesh ends: whether it parts from its members or stops, until when, and who is told.
//
//   running ── Begin(part) ──► parting ── Stop ──► stopping ── Finish ──► done
//      └────── Begin, Stop ─────────────────────────────┘
//
// Promises:
//   E1  The stage only grows, along the arrows, and Begin is called once.
//   E2  `done` is called once, from the io_context, never within a call.
//
// May not know: members, connections.
//
// Memory: two callbacks, one timer.
//
// What an attacker can do here: answer no close; the deadline ends the wait.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <functional>
#include <utility>

#include "node/base/check.h"
#include "node/base/time.h"
#include "node/os/timer.h"

namespace ostraka::net {

class Ending {
 public:
  explicit Ending(boost::asio::io_context& io) : timer_(io) {}

  // `on_deadline` is called after `deadline` unless Finish comes first. REQUIRES: called once.
  void Begin(bool part, base::Duration deadline, std::function<void()> on_deadline,
             std::function<void()> done) {
    OSTRAKA_CHECK(!begun_ && !stopping_);  // E1
    begun_ = true;
    parting_ = part;
    done_ = std::move(done);
    timer_.Start(deadline, std::move(on_deadline));
  }
  // False if it was stopping. REQUIRES: Begin was called.
  bool Stop() {
    OSTRAKA_CHECK(begun_);  // E1
    return !std::exchange(stopping_, true);
  }
  // Finish, from the io_context. REQUIRES: stopping().
  void FinishSoon() {
    timer_.Start({}, [this] { Finish(); });
  }
  // REQUIRES: stopping(); called from the io_context.
  void Finish() {
    OSTRAKA_CHECK(stopping_);  // E1
    timer_.Cancel();
    const std::function<void()> done = std::exchange(done_, nullptr);  // E2
    if (done) done();
  }

  // No member is added from here.
  bool begun() const { return begun_; }
  // Each link closes once its queue is sent. Stays true while stopping.
  bool parting() const { return parting_; }
  // No more accepting or dialing.
  bool stopping() const { return stopping_; }

 private:
  bool begun_ = false;
  bool parting_ = false;
  bool stopping_ = false;
  std::function<void()> done_;
  os::Timer timer_;
};

}  // namespace ostraka::net
