// One member's part in a seal: the owner of the parts in this folder. seal.h is its contract, and
// numbers the invariants that it promises to callers.
//
// Each input is taken in (seal.cpp) and then goes through one course (Drive, seal_course.cpp): is
// the seal decided, is the gate passed, is a step of the slow path over, is everything here that
// the decision names, and what is to be asked for. No part knows this class: the parts are called,
// and return what should happen (README.md says which part includes which).
//
// What an attacker can do: seal.h.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "crypto/hash_into.h"
#include "node/protocol/seal/inside/asks.h"
#include "node/protocol/seal/inside/decision.h"
#include "node/protocol/seal/inside/echoes.h"
#include "node/protocol/seal/inside/repeats.h"
#include "node/protocol/seal/inside/setup.h"
#include "node/protocol/seal/inside/slow_path.h"
#include "node/protocol/seal/inside/values.h"
#include "node/protocol/seal/inside/view.h"
#include "node/protocol/seal/seal.h"
#include "node/protocol/seal/seal_clock.h"
#include "node/protocol/seal/seal_gate.h"

namespace ostraka::protocol {

class Seal::Impl {
 public:
  Impl(SealOptions options, const SealMessages* messages);
  void HashInto(crypto::Hasher& hasher) const {
    crypto::Feed(hasher, values_, echoes_, gate_, clock_, slow_path_, repeats_, asks_, decision_,
                 opened_, slow_);
  }
  friend struct FingerprintProbe;

  // --- seal.cpp: inputs, as in seal.h ---
  void Opened(base::Time now, SealOutput& out);
  void Echo(base::Time now, CloseTime close, SealOutput& out);
  void OnMessage(base::Time now, const wire::SignedEnvelope& message, SealOutput& out);
  void OnVector(base::Time now, const wire::Vector& vector, SealOutput& out);
  void OnHeld(base::Time now, SealOutput& out);
  void OnTimer(base::Time now, SealOutput& out);
  std::optional<base::Time> wake() const;
  std::vector<SealFrame> Frames(wire::MessageType type) const;
  bool Holds(const wire::SignedEnvelope& message) const;

  // --- reads ---
  SealView view() const;
  bool slow() const { return slow_; }
  bool alone() const { return decision_.made() ? decision_.alone() : repeats_.alone(); }

 private:
  // --- seal.cpp: messages ---
  // An own frame: after a restart it binds this member to what it sent before.
  void Remember(base::Time now, const wire::SignedEnvelope& own);
  void TakeEcho(base::Time now, const wire::SignedEnvelope& message);
  // A STATUS, PROPOSE, VOTE or LOCK.
  void TakeSlow(base::Time now, const wire::SignedEnvelope& message, SealOutput& out);
  void TakePropose(base::Time now, const wire::SignedEnvelope& message, SealOutput& out);

  // After a restart: what this member echoed is known again if it still holds that.
  void RebuildOwnVector();

  // --- seal_course.cpp: what follows from an input ---
  void Drive(base::Time now, SealOutput& out);
  void TryDecide(base::Time now, SealOutput& out);
  // If Q members have closed: passes the gate, forwards the CLOSEs and starts the slow path's
  // clock.
  void TryGate(base::Time now, SealOutput& out);
  void Begin(base::Time now, CloseTime close, SealOutput& out);
  void RunClock(base::Time now, SealOutput& out);
  void BeginStep(base::Time now, SealOutput& out);
  void BeginIteration(SealOutput& out);
  void Propose(SealOutput& out);
  void Vote(SealOutput& out);
  void RepeatOwn(base::Time now, SealOutput& out);
  void Ask(base::Time now, SealOutput& out);

  // After each input: S1, S4 and S5 of seal.h, in constant time. Also that an iteration begins
  // with the slow path, and that the clock is idle once decided.
  void CheckInvariants() const;
  // The parts and "Memory": when an iteration begins and when the seal is decided.
  void CheckParts() const;
  void CheckMemory() const;

  const SealSetup setup_;
  SealValues values_;
  SealEchoes echoes_;
  SealGate gate_;
  SealClock clock_;
  SealSlowPath slow_path_;
  SealRepeats repeats_;
  SealAsks asks_;
  SealDecision decision_;

  bool opened_ = false;  // Opened was called
  bool slow_ = false;    // the slow path has begun
};

}  // namespace ostraka::protocol
