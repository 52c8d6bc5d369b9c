// A Verifier that remembers valid signatures, for all peers of one simulation: a broadcast to 100
// peers is verified once and not 100 times. What a key of the simulation signed (NotedKey) is not
// verified at all.
//
// Promise: answers exactly as PlainVerifier does. Only valid triples (key, digest, signature) are
// remembered, and whole triples are compared; an invalid signature is verified again each time.
// Memory: at most 2 x `capacity` triples of 128 bytes and their table.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <unordered_set>
#include <utility>

#include "crypto/sign.h"
#include "sim/engine/generations.h"

namespace ostraka::sim {

class MemoVerifier final : public crypto::Verifier {
 public:
  explicit MemoVerifier(std::size_t capacity = 1 << 14) : good_(capacity) {}

  bool Verify(const base::PeerId& signer, const base::Digest& digest,
              const crypto::Signature& signature) override {
    const Triple triple{signer, digest, signature};
    if (good_.Find(triple) != nullptr) return true;
    ++verified_for_real_;
    if (!plain_.Verify(signer, digest, signature)) return false;
    good_.Add(triple);
    return true;
  }
  // REQUIRES: `signer`'s key has just made `signature` of `digest`.
  void Note(const base::PeerId& signer, const base::Digest& digest,
            const crypto::Signature& signature) {
    const Triple triple{signer, digest, signature};
    if (good_.Find(triple) == nullptr) good_.Add(triple);
  }

  std::uint64_t verified_for_real() const { return verified_for_real_; }
  std::size_t remembered() const { return good_.size(); }

 private:
  struct Triple {
    base::PeerId signer;
    base::Digest digest;
    crypto::Signature signature;
    bool operator==(const Triple&) const = default;
  };
  // A good signature's first bytes are a curve point: as good as random.
  struct FirstBytes {
    std::size_t operator()(const Triple& triple) const {
      std::size_t value = 0;
      std::memcpy(&value, triple.signature.bytes.data(), sizeof(value));
      return value;
    }
  };

  crypto::PlainVerifier plain_;
  Generations<std::unordered_set<Triple, FirstBytes>> good_;
  std::uint64_t verified_for_real_ = 0;
};

// A signing key that tells a MemoVerifier what it signs.
class NotedKey final : public crypto::SigningKey {
 public:
  NotedKey(crypto::SigningKey key, std::shared_ptr<MemoVerifier> memo)
      : SigningKey(std::move(key)), memo_(std::move(memo)) {}
  crypto::Signature Sign(const base::Digest& digest) const override {
    const crypto::Signature signature = SigningKey::Sign(digest);
    memo_->Note(id(), digest, signature);
    return signature;
  }

 private:
  std::shared_ptr<MemoVerifier> memo_;
};

}  // namespace ostraka::sim
