// Ed25519 over digests. A peer's id is its public key.
//
// What is signed is always a domain-separated digest (crypto/hash.h) of bytes as sent, never a
// re-encoding. Verification is libsodium's single verification everywhere: other libraries and
// batch verification differ on edge cases, and honest peers may not differ.
//
// Thread safety: const members of SigningKey and all functions are safe from any thread.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <utility>

#include "crypto/secret.h"
#include "node/base/ids.h"
#include "node/base/status.h"

namespace ostraka::crypto {

using base::ByteView;
using base::Digest;
using base::PeerId;

struct Signature {
  static constexpr std::size_t kSize = 64;
  std::array<std::uint8_t, kSize> bytes{};
  auto operator<=>(const Signature&) const = default;
};

class SigningKey {
 public:
  static constexpr std::size_t kSeedSize = 32;

  // From the operating system's randomness. Drivers and tools only, never layers 2-5.
  static SigningKey Generate();
  // Deterministic. REQUIRES: seed.size() == 32. The simulator's keys; also what a key file holds.
  static SigningKey FromSeed(ByteView seed);

  const PeerId& id() const { return id_; }
  Signature Sign(const Digest& digest) const;
  // The 32 bytes that FromSeed takes. For key files and for the channel's certificate only.
  ByteView seed() const;

 private:
  SigningKey(Secret secret, PeerId id) : secret_(std::move(secret)), id_(id) {}
  Secret secret_;  // libsodium's 64 bytes: seed | public key
  PeerId id_;
};

// What the protocol asks whether a signature is good. A driver may give one that remembers
// verified (key, digest, signature) triples; it may never skip the first verification.
class Verifier {
 public:
  virtual ~Verifier() = default;
  virtual bool Verify(const PeerId& signer, const Digest& digest, const Signature& signature) = 0;
};

// Verifies each time.
class PlainVerifier final : public Verifier {
 public:
  bool Verify(const PeerId& signer, const Digest& digest, const Signature& signature) override;
};

// sodium_init; safe to call more than once. Every program calls it before anything else of crypto.
base::Status Initialize();

// `out` from the operating system's randomness. Drivers and tools only.
void FillRandom(std::span<std::uint8_t> out);
// The same, of 64 bits.
std::uint64_t RandomSeed();

}  // namespace ostraka::crypto
