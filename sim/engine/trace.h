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

#include "node/protocol/ground/machine.h"

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
  base::Digest digest() const;

 private:
  void Put(std::uint64_t value);
  void Put(base::ByteView bytes);
  void PutInput(const protocol::Input& input);
  void PutAction(const protocol::Action& action);
  void PutObservation(const protocol::Observation& what);
  void Fold();

  // Many peers get one message and share one state, so the digest of the last one is kept. The
  // object is kept with it, so that its address cannot be reused.
  struct KnownFrame {
    base::SharedBytes frame;
    base::Digest digest;
  };
  struct KnownVector {
    protocol::SharedVector vector;
    base::Digest digest;
  };
  const base::Digest& DigestOf(const base::SharedBytes& frame);
  const base::Digest& DigestOf(const protocol::SharedVector& vector);

  base::Digest chain_;
  base::Bytes pending_;  // folded into chain_ when it grows; bounded
  KnownFrame last_frame_;
  KnownVector last_vector_;
};

// One line for people: "12.345678901 s peer 3 message from 5 (412 bytes) -> 2 sends, 1 store".
std::string Describe(const StepRecord& record);

}  // namespace ostraka::sim
