// A machine that is recorded: the one within; before each call an entry of what it is given, and
// after it one of what it asked for.
//
//   driver -> RecordingMachine -> Recorder::Given    the input
//                              -> the machine
//                              -> Recorder::Asked    hash of the actions, frames that it signed and
//                                                    sends for the first time
//
// Promises:
//   R1  The driver sees the actions of the machine within, and nothing else.
//   R2  An entry holds no secret: the seed of Started is left out, and signatures, coins and nonces
//       stand in frames that the machine sends in that call or sent before. (The store that Started
//       brings may hold a message that was stored before a crash and is sent now.)
//   R3  After the recorder has said no, nothing is recorded any more.
//   R4  A call that ends the process has its input recorded.
//
// Memory: a digest for each message that the machine has signed since it was made.
//
// What an attacker can do here: fill the recording, as it can fill the member's line.
//
// Thread safety: none; one owner.
#pragma once

#include <memory>
#include <set>

#include "node/protocol/ground/machine.h"
#include "node/wire/recording_codec.h"

namespace ostraka::protocol {

// Where a recording goes. False: it is over (R3).
class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual bool Given(const wire::RecordedInput& turn) = 0;
  // `ends_step`: the call completed a step.
  virtual bool Asked(const wire::RecordedOutcome& outcome, bool ends_step) = 0;
};

class RecordingMachine final : public Machine {
 public:
  // REQUIRES: neither is null; `machine` is fresh.
  RecordingMachine(std::unique_ptr<Machine> machine, const PeerId& self,
                   std::shared_ptr<Recorder> recorder);

  void Step(Time now, const Input& input, Outbox& out) override;
  void CheckInvariants() const override { machine_->CheckInvariants(); }
  Digest Fingerprint() const override { return machine_->Fingerprint(); }
  Progress progress() const override { return machine_->progress(); }

 private:
  bool IsWanted(const Input& input);
  void Note(const std::vector<Action>& actions, wire::RecordedOutcome& outcome);
  void NoteFrame(const base::SharedBytes& frame, wire::RecordedOutcome& outcome);

  std::unique_ptr<Machine> machine_;
  PeerId self_;
  std::shared_ptr<Recorder> recorder_;  // null: the recording is over
  std::set<JobId> stopped_;
  std::set<Digest> said_;
};

}  // namespace ostraka::protocol
