// What a seal has decided at one member, the frames that prove it, and the members that can hand
// over what it names.
//
// Promises [C: CHECKed]:
//   D1  A decision is made once and never changes. [C]
//   D2  It is made exactly if certificate() is not empty. [C]
//   D3  vector() is set only after the decision, to the vector with the decided value, once every
//       message that it names as present is held; then it never changes. [C: the first part]
//
// May not know: how it was decided.
//
// Memory: the certificate (at most a frame of each member) and one vector.
//
// What an attacker can do here: sign a certificate and hold back what it names. Where t_a is 0, all
// other signers may lie, so all members are asked after them (lacks.h).
//
// Thread safety: none; one owner.
#pragma once

#include <optional>
#include <vector>

#include "crypto/hash_into.h"
#include "node/protocol/seal/inside/values.h"
#include "node/protocol/seal/seal_ballots.h"
#include "node/protocol/seal/seal_io.h"
#include "node/protocol/seal/seal_vector.h"

namespace ostraka::protocol {

class SealDecision {
 public:
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  bool made() const { return value_.has_value(); }
  // REQUIRES: not made; `signers` is not empty.
  void Make(const Digest& value, const Signers& signers, const PeerId& self);
  // Sets vector() if all that it takes is here. REQUIRES: made.
  void Resolve(const SealValues& values);
  // All that may hold what the decision names were asked for it. True from the second call on;
  // alone() is then true, and stays so.
  bool NoteAsked();

  const Digest& value() const { return *value_; }  // REQUIRES: made
  const std::vector<base::SharedBytes>& certificate() const { return certificate_; }
  // Each frame of it with its signer, by signer.
  std::vector<SealFrame> SignedBy(const PeerId& self) const;
  // The other signers of the certificate.
  const std::vector<PeerId>& witnesses() const { return witnesses_; }
  // Every witness was asked once, and what the decision names is still not here.
  bool asked_in_vain() const { return asked_; }
  const std::optional<SealVector>& vector() const { return vector_; }
  bool alone() const { return alone_; }
  void CheckInvariants() const;  // in constant time; aborts if D2 or D3 is broken

 private:
  std::optional<Digest> value_;
  std::vector<base::SharedBytes> certificate_;
  std::vector<PeerId> witnesses_;
  std::optional<SealVector> vector_;
  bool asked_ = false;
  bool alone_ = false;
};

}  // namespace ostraka::protocol
