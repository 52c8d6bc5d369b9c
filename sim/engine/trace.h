// The history of a run as one digest: a hash chain over every step of every machine (time, peer,
// input, actions) and, at intervals, the fingerprint of the machine's whole state.
//
// Promise: the digest depends on the contents of the run only, never on addresses, so a seed with
// its options gives one digest on every machine and compiler. A message is hashed where it is sent;
// its arrival is recorded by the sequence number of its event. Job results are not hashed: they
// show in messages, state roots and fingerprints.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/protocol/ground/transcript.h"

namespace ostraka::sim {

// One call of Machine::Step, before its actions are carried out.
struct StepRecord {
  base::Time now;
  std::uint64_t sequence = 0;  // of the event that carried the input
  std::uint32_t peer = 0;
  const protocol::Input& input;
  const std::vector<protocol::Action>& actions;
};

class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void OnStep(const StepRecord& record) = 0;
  // True: the run may stop.
  virtual bool WantsStop() const { return false; }
};

class Trace final : public StepObserver {
 public:
  void OnStep(const StepRecord& record) override;
  void OnFingerprint(std::uint32_t peer, const base::Digest& fingerprint);

  // Covers every step so far.
  base::Digest digest() const { return transcript_.digest(); }

 private:
  protocol::Transcript transcript_;
};

// One line for people: "12.345678901 s peer 3 message from 5 (412 bytes) -> 2 sends, 1 store".
std::string Describe(const StepRecord& record);

}  // namespace ostraka::sim
