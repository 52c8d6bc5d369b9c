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

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "crypto/hash_into.h"
#include "node/base/check.h"
#include "node/protocol/seal/seal_vector.h"
#include "node/protocol/watch/fork_watch.h"

namespace ostraka::protocol {

struct PastSeal {
  // A message that the decision rests on. Its type and signer stand beside it, so that no question
  // has it decoded. Attack: each question had the frames of all members decoded, and counted as
  // one.
  struct Proof {
    wire::MessageType type = wire::MessageType::kEcho;
    PeerId signer;
    base::SharedBytes frame;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, frame); }
  };
  SealVector vector;
  Digest value;                    // the hash of the vector, as ECHOs name it
  std::vector<Proof> certificate;  // by signer; all of one type
  void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, vector, certificate); }

  // Null: the decision does not rest on such a message.
  const Proof* Find(wire::MessageType type, const PeerId& signer) const {
    const auto found = std::lower_bound(
        certificate.begin(), certificate.end(), signer,
        [](const Proof& proof, const PeerId& sought) { return proof.signer < sought; });
    if (found == certificate.end() || found->signer != signer) return nullptr;
    return found->type == type ? &*found : nullptr;
  }
};

class PastSeals {
 public:
  void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, seals_); }
  friend struct FingerprintProbe;

  // REQUIRES: not added before; the certificate is not empty, and sorted.
  void Add(const SealKey& key, PastSeal seal) {
    OSTRAKA_CHECK(!seal.certificate.empty());
    OSTRAKA_CHECK(std::is_sorted(seal.certificate.begin(), seal.certificate.end(),
                                 [](const auto& a, const auto& b) { return a.signer < b.signer; }));
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
