// What a machine was given and what it asked for: as a hash, to compare runs, and as a line for
// people. The simulator's traces and the recordings of nodes are made of it.
//
// Promises:
//   T1  The digest depends on the contents alone, never on addresses, so one history has one digest
//       on every machine and compiler.
//   T2  Job results are not hashed: they show in messages, state roots and fingerprints.
//
// Memory: bounded by what one call adds, and the last frame and model.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/protocol/ground/machine.h"

namespace ostraka::protocol {

class Transcript {
 public:
  void Put(std::uint64_t value);
  void Put(base::ByteView bytes);
  // A message is put as that it came: the caller puts what identifies it.
  void PutInput(const Input& input);
  void PutAction(const Action& action);
  // Keeps memory bounded. Where it is called changes the digest.
  void Fold();
  std::size_t unfolded() const { return pending_.size(); }

  // Covers everything so far.
  Digest digest() const;

 private:
  void PutObservation(const Observation& what);

  // Many peers get one message and share one state, so the digest of the last one is kept. The
  // object is kept with it, so that its address cannot be reused.
  struct KnownFrame {
    base::SharedBytes frame;
    Digest digest;
  };
  struct KnownVector {
    SharedVector vector;
    Digest digest;
  };
  const Digest& DigestOf(const base::SharedBytes& frame);
  const Digest& DigestOf(const SharedVector& vector);

  Digest chain_;
  base::Bytes pending_;  // folded into chain_ by Fold
  KnownFrame last_frame_;
  KnownVector last_vector_;
};

// Of one call.
Digest DigestOfActions(const std::vector<Action>& actions);

// "message from 5 (412 bytes) -> 2 sends, 1 stores; sealed 3A as 0123".
std::string DescribeTurn(const Input& input, const std::vector<Action>& actions);

}  // namespace ostraka::protocol
