// The numbers that a member draws in secret: the coins of its steps, and the nonces by which its
// starts differ. Nobody else knows one before the member says it.
//
// The coins of a step (phase B: multi-party random number generation). Seal A fixes every gradient,
// aggregate and coin commitment before any coin is shown. A member whose REVEAL is missing or false
// is left out, and the others reveal their next coin. So an abort gets one new draw, and the
// aborter loses its place in the step. Rationale: mixing only what came would give an attacker a
// choice among 2^f coins.
//
// Promises:
//   K1  Equal seeds give equal coins and nonces, so that a member that starts again can open what
//       it committed to.
//
// Memory: a seed. An attacker who learns the seed knows the coins in advance; it is in no message.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <vector>

#include "crypto/commitment.h"
#include "crypto/hash_into.h"

namespace ostraka::protocol {

using base::Digest;
using base::PeerId;

class Secrets {
 public:
  virtual ~Secrets() = default;
  // `private_seed`: Started's. REQUIRES: called before all below; HashInto may come earlier.
  virtual void Begin(const Digest& private_seed) = 0;
  // For the COMMIT: the Merkle root of the commitments to the coins of `step`, one for each draw.
  virtual Digest CoinsRoot(std::uint64_t step, std::uint32_t count) const = 0;
  // For the REVEAL of that draw. REQUIRES: `draw` < `count`.
  virtual crypto::CoinOpening Opening(std::uint64_t step, std::uint32_t count,
                                      std::uint32_t draw) const = 0;
  // For the BOOT of a store, and for the REJOIN of a step.
  virtual Digest BootNonce(std::uint64_t store_nonce) const = 0;
  virtual Digest RejoinNonce(std::uint64_t step) const = 0;
  virtual void HashInto(crypto::Hasher& hasher) const = 0;
};

// Derived from the private seed, which is equal at every start of a key in a run (K1).
class SeedSecrets final : public Secrets {
 public:
  explicit SeedSecrets(const PeerId& self) : self_(self) {}
  void Begin(const Digest& private_seed) override { private_seed_ = private_seed; }
  Digest CoinsRoot(std::uint64_t step, std::uint32_t count) const override;
  crypto::CoinOpening Opening(std::uint64_t step, std::uint32_t count,
                              std::uint32_t draw) const override;
  Digest BootNonce(std::uint64_t store_nonce) const override;
  Digest RejoinNonce(std::uint64_t step) const override;
  void HashInto(crypto::Hasher& hasher) const override;
  friend struct FingerprintProbe;

 private:
  std::vector<Digest> Commitments(std::uint64_t step, std::uint32_t count) const;

  PeerId self_;
  Digest private_seed_;
};

}  // namespace ostraka::protocol
