// How one run ends: its phase, and the outcome that counts.
//
//   running -> halted -> flushing -> closing -> ended
// halted: an outcome is known, and Stores that peers may depend on are awaited. flushing: queued
// messages go out and the last state is evaluated. closing: threads and files end, on a thread of
// their own.
//
// Promises:
//   S1  Phases follow the table in stop_sequence.cpp (CHECKed) and never go back.
//   S2  There is an outcome exactly if the phase is not running.
//   S3  The first outcome counts. Two things replace it: a person's interrupt until flushing
//       begins, and an exception of a library until closing begins.
//   S4  A run that ended normally (finished, banned or left) flushes only after its Stores are
//       durable, unless the disk failed: its peers may need the last messages, and no message may
//       leave before its record is stored.
//
// May not know: machines, networks, disks, threads.
// Memory: an outcome.
// What an attacker can do here: nothing.
//
// Thread safety: none; the protocol thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "node/host/report/node_events.h"

namespace ostraka::host {

class StopSequence {
 public:
  enum class Phase : std::uint8_t { kRunning, kHalted, kFlushing, kClosing, kEnded };

  Phase phase() const { return phase_; }
  // The driver still gives inputs to the machine. A halted machine ignores most of them.
  bool TakesInputs() const { return phase_ <= Phase::kHalted; }
  bool Ending() const { return phase_ >= Phase::kFlushing; }
  // REQUIRES: not running.
  const NodeOutcome& outcome() const;
  // Finished, banned or left. False while running.
  bool EndedNormally() const;

  // The machine halted, or something that the run needs failed. Ignored unless running.
  void Halt(NodeOutcome outcome);
  // A person or the system stops the run. REQUIRES: not flushing yet.
  void Interrupt(NodeOutcome outcome);
  // For people. REQUIRES: halted.
  void AddToReason(const std::string& clause);
  // A library threw. REQUIRES: not closing yet. Closing follows at once.
  void Break(NodeOutcome outcome);

  bool MayFlush(bool stores_in_flight) const;
  void BeginFlush();
  // Everything queued was sent, or flush_timeout has passed.
  void Flushed();
  // `evaluation_awaited`: the last state's result has not come. An interrupted run waits for none.
  bool MayClose(bool evaluation_awaited) const;
  void BeginClose();
  void End();

  // S2; also at the end of each mutation.
  void CheckInvariants() const;

 private:
  void Enter(Phase next);

  Phase phase_ = Phase::kRunning;
  std::optional<NodeOutcome> outcome_;
  bool flushed_ = false;
};

}  // namespace ostraka::host
