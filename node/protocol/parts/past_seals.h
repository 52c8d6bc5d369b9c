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
#include "node/base/check.h"
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

  // REQUIRES: not added before; the certificate is not empty.
  void Add(const SealKey& key, PastSeal seal) {
    OSTRAKA_CHECK(!seal.certificate.empty());
    const bool fresh = seals_.try_emplace(key, std::move(seal)).second;
    OSTRAKA_CHECK(fresh);  // P1
  }
  // Null if that seal is not decided here, or forgotten.
  const PastSeal* Find(const SealKey& key) const {
    const auto seal = seals_.find(key);
    return seal == seals_.end() ? nullptr : &seal->second;
  }
  void ForgetBefore(std::uint64_t step) {
    std::erase_if(seals_, [step](const auto& entry) { return entry.first.step < step; });
  }
  void Clear() { seals_.clear(); }
  void CheckInvariants() const {
    if (seals_.empty()) return;
    OSTRAKA_CHECK(seals_.rbegin()->first.step - seals_.begin()->first.step <= 1);  // two steps
  }

 private:
  std::map<SealKey, PastSeal> seals_;
};

}  // namespace ostraka::protocol
