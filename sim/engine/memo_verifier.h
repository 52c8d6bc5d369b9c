// A Verifier that remembers valid signatures, for all peers of one simulation: a broadcast to 100
// peers is verified once and not 100 times. For a peer whose signing key it has, it signs the
// digest and compares the signatures, which takes less than half as long as a verification.
//
// Promise: answers exactly as PlainVerifier does. Ed25519 is deterministic (RFC 8032, 5.1.6), so a
// signature that equals the key's own verifies; any other is passed to PlainVerifier. Only valid
// triples (key, digest, signature) are remembered, and whole triples are compared; an invalid
// signature is verified again each time.
// Memory: at most 2 x `capacity` triples of 128 bytes and their table.
//
// Thread safety: none; one owner.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "crypto/sign.h"
#include "sim/engine/generations.h"

namespace ostraka::sim {

class MemoVerifier final : public crypto::Verifier {
 public:
  using Keys = std::vector<std::shared_ptr<const crypto::SigningKey>>;
  // `keys`: the known signing keys, sorted by id.
  explicit MemoVerifier(Keys keys = {}, std::size_t capacity = 1 << 14)
      : keys_(std::move(keys)), good_(capacity) {}

  bool Verify(const base::PeerId& signer, const base::Digest& digest,
              const crypto::Signature& signature) override {
    const Triple triple{signer, digest, signature};
    if (good_.Find(triple) != nullptr) return true;
    if (!IsOfKnownKey(triple)) {
      ++verified_for_real_;
      if (!plain_.Verify(signer, digest, signature)) return false;
    }
    good_.Add(triple);
    return true;
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

  bool IsOfKnownKey(const Triple& triple) const {
    const auto key = std::lower_bound(
        keys_.begin(), keys_.end(), triple.signer,
        [](const auto& known, const base::PeerId& id) { return known->id() < id; });
    return key != keys_.end() && (*key)->id() == triple.signer &&
           (*key)->Sign(triple.digest) == triple.signature;
  }

  Keys keys_;
  crypto::PlainVerifier plain_;
  Generations<std::unordered_set<Triple, FirstBytes>> good_;
  std::uint64_t verified_for_real_ = 0;
};

}  // namespace ostraka::sim
