// The decided seals of the last step and the step in progress, kept for members that are stuck in
// one.
//
// Promises:
//   P1  A seal is added once, with its certificate.
//
// May not know: how a seal was decided, or what follows.
//
// Memory: a vector and a certificate for each seal of two steps. What an attacker can do here:
// nothing; only decisions come in.
//
// Thread safety: none; one owner.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "crypto/hash_into.h"
#include "node/protocol/seal/seal_vector.h"
#include "node/protocol/watch/fork_watch.h"

namespace ostraka::protocol {

struct PastSeal {
  SealVector vector;
  std::vector<base::SharedBytes> certificate;
  void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, vector, certificate); }
};

class PastSeals {
 public:
  void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, seals_); }
  friend struct FingerprintProbe;

  void Add(const SealKey& key, PastSeal seal) { seals_[key] = std::move(seal); }
  // Null if that seal is not decided here, or forgotten.
  const PastSeal* Find(const SealKey& key) const {
    const auto seal = seals_.find(key);
    return seal == seals_.end() ? nullptr : &seal->second;
  }
  void ForgetBefore(std::uint64_t step) {
    std::erase_if(seals_, [step](const auto& entry) { return entry.first.step < step; });
  }
  void Clear() { seals_.clear(); }
  const std::map<SealKey, PastSeal>& all() const { return seals_; }

 private:
  std::map<SealKey, PastSeal> seals_;
};

}  // namespace ostraka::protocol
