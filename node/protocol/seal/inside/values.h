// The vectors that a seal talks about, each under its value (its hash), and what this member holds
// of the messages in them.
//
// Promises [C: CHECKed]:
//   V1  A vector has as many entries as the seal, and stands under its own hash. [C: entries at
//       each Add; hashes by CheckInvariants]
//   V2  A known vector stays until ForgetAllBut.
//
// May not know: members, votes, time. Who may name a value is the owner's decision.
//
// Memory: one vector of each value that the owner adds. It adds a vector only if some member's
// first ECHO or a proposal of this or a near iteration names its value, or it is the own one, the
// own lock's or the decision's: O(n) vectors.
//
// What an attacker can do here: nothing. A vector counts by its hash, so its sender does not
// matter.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>

#include "crypto/hash_into.h"
#include "node/protocol/seal/seal_io.h"
#include "node/protocol/seal/seal_vector.h"

namespace ostraka::protocol {

class SealValues {
 public:
  // REQUIRES: `messages` outlives this object.
  SealValues(std::size_t entries, const SealMessages* messages);
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  const SealMessages& messages() const { return *messages_; }
  // The vector that this member would echo now.
  SealVector HeldNow() const;
  // A vector off the wire; nullopt unless it is well-formed and has this seal's entries.
  std::optional<SealVector> Parse(const wire::Vector& vector) const;

  // True iff it was not known. REQUIRES: `value` is the hash of `vector`, which has this seal's
  // entries.
  bool Add(const Digest& value, SealVector vector);
  // Null if the vector of `value` is not known.
  const SealVector* Find(const Digest& value) const;
  // Every message that `vector` names as present is held.
  bool HoldsAll(const SealVector& vector) const;
  void ForgetAllBut(const std::set<Digest>& values);

  std::size_t size() const { return known_.size(); }
  void CheckInvariants() const;  // aborts if V1 is broken

 private:
  const std::size_t entries_;
  const SealMessages* const messages_;
  std::map<Digest, SealVector> known_;
};

}  // namespace ostraka::protocol
