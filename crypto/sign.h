// Ed25519 over digests. A peer's id is its public key.
//
// The signed value is always a domain-separated digest (crypto/hash.h) of the bytes as sent, never
// of a re-encoding. Every verification is libsodium's single verification. Rationale: other
// libraries and batch verification differ on edge cases, and honest peers must not differ.
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

  // Uses the operating system's randomness. For drivers and tools only, never layers 2-5.
  static SigningKey Generate();
  // Deterministic, for the simulator's keys and key files. REQUIRES: seed.size() == 32.
  static SigningKey FromSeed(ByteView seed);

  virtual ~SigningKey() = default;
  SigningKey(SigningKey&&) = default;
  SigningKey& operator=(SigningKey&&) = default;

  const PeerId& id() const { return id_; }
  // Ed25519 (RFC 8032). A simulation overrides it to remember what was signed.
  virtual Signature Sign(const Digest& digest) const;
  // The 32 bytes that FromSeed takes. Only for key files and for the channel's certificate.
  ByteView seed() const;

 protected:
  // A key whose signatures come from elsewhere: Sign is overridden, and nothing asks for its seed.
  explicit SigningKey(const PeerId& id) : secret_(0), id_(id) {}

 private:
  SigningKey(Secret secret, PeerId id) : secret_(std::move(secret)), id_(id) {}
  Secret secret_;  // libsodium's 64 bytes: seed | public key
  PeerId id_;
};

// Whether `id` is a key that anybody can have: a canonical point of the curve's main subgroup. A
// mistyped id is one of these in about one of sixteen cases.
bool IsKey(const PeerId& id);

// Verifies signatures for the protocol. A driver may use one that remembers verified (key, digest,
// signature) triples; it must never skip the first verification.
class Verifier {
 public:
  virtual ~Verifier() = default;
  virtual bool Verify(const PeerId& signer, const Digest& digest, const Signature& signature) = 0;
};

// Verifies every time.
class PlainVerifier final : public Verifier {
 public:
  bool Verify(const PeerId& signer, const Digest& digest, const Signature& signature) override;
};

// Calls sodium_init; may be called more than once. Every program calls it before anything else in
// crypto.
base::Status Initialize();

// Fills `out` from the operating system's randomness. For drivers and tools only.
void FillRandom(std::span<std::uint8_t> out);
// 64 bits from the operating system's randomness. For drivers and tools only.
std::uint64_t RandomSeed();

}  // namespace ostraka::crypto
