// A Verifier that remembers which signatures were found good, for all peers of one simulation: a
// broadcast to 100 peers is verified once, for real, and not 100 times.
//
// Promise: answers exactly as PlainVerifier does. Only triples (key, digest, signature) that
// verified are remembered, whole and compared whole; a bad signature is refused each time anew.
// Memory: at most 2 x `capacity` triples of 128 bytes and their table.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "crypto/sign.h"

namespace ostraka::sim {

class MemoVerifier final : public crypto::Verifier {
 public:
  explicit MemoVerifier(std::size_t capacity = 1 << 14) : capacity_(capacity) {}

  bool Verify(const base::PeerId& signer, const base::Digest& digest,
              const crypto::Signature& signature) override {
    const Triple triple{signer, digest, signature};
    if (young_.contains(triple)) return true;
    if (!old_.contains(triple)) {
      ++verified_for_real_;
      if (!plain_.Verify(signer, digest, signature)) return false;
    }
    Remember(triple);
    return true;
  }

  std::uint64_t verified_for_real() const { return verified_for_real_; }
  std::size_t remembered() const { return young_.size() + old_.size(); }

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
  using Table = std::unordered_set<Triple, FirstBytes>;

  // Two generations: when the young one is full, the old one is forgotten as a whole. What is
  // still asked for moves back to the young one.
  void Remember(const Triple& triple) {
    if (young_.size() >= capacity_) {
      old_ = std::exchange(young_, Table{});
    }
    young_.insert(triple);
  }

  std::size_t capacity_;
  crypto::PlainVerifier plain_;
  Table young_;
  Table old_;
  std::uint64_t verified_for_real_ = 0;
};

}  // namespace ostraka::sim
