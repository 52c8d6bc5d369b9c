// The life of one connection: its phases, and how it ends.
//
//   kHandshake ──► kGreeting ──► kLink
//        └─────────────┴───────────┴──► kClosing ──► kGone
//
// Promises:
//   L1  The phase only grows, and only along the arrows.
//   L2  The first reason to close is the reason; later ones are dropped.
//   L3  delivered() is true only if the other side has read everything that was queued before
//       Leave, or has left by itself.
//
// May not know: sockets, records, timers, owners.
//
// Memory: one reason.
//
// What an attacker can do here: answer a close that it has not read up to: then it lies about
// itself alone, and does not get its messages a second time.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "node/net/records/closing.h"

namespace ostraka::net {

class Lifecycle {
 public:
  enum class Phase : std::uint8_t {
    kHandshake,  // TCP, TLS, upgrade (handshake.h)
    kGreeting,   // records may flow: HELLO, then GO (greeting.h)
    kLink,
    kClosing,
    kGone,
  };

  Phase phase() const { return phase_; }
  bool closing() const { return phase_ >= Phase::kClosing; }
  bool is_link() const { return phase_ == Phase::kLink; }

  // The upgrade is complete. REQUIRES: kHandshake.
  void BeginGreeting() { Advance(Phase::kGreeting); }
  // REQUIRES: kGreeting.
  void BecomeLink() { Advance(Phase::kLink); }

  // Close for `reason` once everything queued is written. REQUIRES: kLink.
  void Leave(const std::string& reason);
  // The reason of Leave; nullopt if it was not called.
  const std::optional<std::string>& leaving() const { return leaving_; }

  // False if the connection is closing already. `all_written`: nothing waits to be written.
  bool Close(const Closing& why, bool all_written);
  // The other side has answered our close with `code`, or its own close crossed ours. Frames arrive
  // in order, so an answer proves that it has read everything sent before our close.
  void OnCloseAnswered(std::uint16_t code);
  // The socket is closed. False if it was. REQUIRES: closing().
  bool End();

  // REQUIRES: closing().
  const Closing& why() const;
  bool delivered() const { return delivered_; }

 private:
  void Advance(Phase next);

  Phase phase_ = Phase::kHandshake;
  std::optional<std::string> leaving_;
  Closing why_;
  bool all_written_ = false;  // before the close was sent, after Leave
  bool delivered_ = false;
};

}  // namespace ostraka::net
