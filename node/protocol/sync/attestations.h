// Which block each member works on: the parents that its COMMITs name.
//
// Promises [C: CHECKed by CheckInvariants]:
//   T1  Of each member the newest kStepsAMember steps are held, and at most kParentsAStep parents
//       of each: one that signs more cannot fill this member. [C]
//
// May not know: blocks, and which one is believed.
//
// Memory: eight digests a member.
//
// What an attacker can do here: attest to anything in its own name, which moves its own entries
// only.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "crypto/hash_into.h"
#include "node/base/ids.h"

namespace ostraka::protocol {

class Attestations {
 public:
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // `member` signed a COMMIT of `step` that names `parent`. False if that is held already.
  bool Add(const base::PeerId& member, std::uint64_t step, const base::Digest& parent);
  bool Contains(const base::PeerId& member, std::uint64_t step, const base::Digest& parent) const;

  // The members among `of`, which is sorted, that name `parent`, in whatever step.
  std::vector<base::PeerId> WhoNames(const base::Digest& parent,
                                     const std::vector<base::PeerId>& of) const;
  // What members among `of` name as the parent of `step`, each with those that do. Attack: a COMMIT
  // of a step that does not fit the block which it names.
  std::map<base::Digest, std::vector<base::PeerId>> ParentsOf(
      std::uint64_t step, const std::vector<base::PeerId>& of) const;

  void CheckInvariants() const;  // aborts if T1 is broken

 private:
  static constexpr std::size_t kStepsAMember = 4;
  // Two, so that one that signs in two histories is seen to.
  static constexpr std::size_t kParentsAStep = 2;

  std::map<base::PeerId, std::map<std::uint64_t, std::vector<base::Digest>>> parents_;
};

}  // namespace ostraka::protocol
