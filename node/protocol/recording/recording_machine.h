// A machine that is recorded: the one within, and after each call an entry of what it was given and
// what it said.
//
//   driver -> RecordingMachine -> the machine        entry: input, hash of the actions, frames that
//                              -> Write                     it signed and sends for the first time
//
// Promises:
//   R1  The driver sees the actions of the machine within, and nothing else.
//   R2  An entry holds no secret: the seed of Started is left out, and signatures, coins and nonces
//       stand in frames that the machine sends in that call or sent before.
//   R3  After Write has said no, nothing is recorded any more.
//
// Memory: a digest for each message that the machine has signed since it was made.
//
// What an attacker can do here: fill the recording, as it can fill the member's line.
//
// Thread safety: none; one owner.
#pragma once

#include <functional>
#include <memory>
#include <set>

#include "node/protocol/ground/machine.h"
#include "node/wire/recording_codec.h"

namespace ostraka::protocol {

class RecordingMachine final : public Machine {
 public:
  // `ends_step`: the call completed a step. False: the recording is over (R3).
  using Write = std::function<bool(const wire::RecordedTurn& turn, bool ends_step)>;
  // REQUIRES: `machine` is fresh, not null.
  RecordingMachine(std::unique_ptr<Machine> machine, const PeerId& self, Write write);

  void Step(Time now, const Input& input, Outbox& out) override;
  void CheckInvariants() const override { machine_->CheckInvariants(); }
  Digest Fingerprint() const override { return machine_->Fingerprint(); }
  Progress progress() const override { return machine_->progress(); }

 private:
  bool IsWanted(const Input& input);
  void Note(const std::vector<Action>& actions, wire::RecordedTurn& turn);
  void NoteFrame(const base::SharedBytes& frame, wire::RecordedTurn& turn);

  std::unique_ptr<Machine> machine_;
  PeerId self_;
  Write write_;  // empty: the recording is over
  std::set<JobId> stopped_;
  std::set<Digest> said_;
};

}  // namespace ostraka::protocol
