// What the member's owner wants of it (Told), as its COMMITs state it.
//
// Promises [C: CHECKed]:
//   W1  A COMMIT says that the member leaves only if its owner told it so. [C]
//
// Memory: what was told last.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "node/base/check.h"
#include "node/protocol/ground/machine.h"
#include "node/wire/hash_into.h"

namespace ostraka::protocol {

class Wishes {
 public:
  void Tell(const Told& told);
  void CheckInvariants() const { OSTRAKA_CHECK(!said_ || leave_); }
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // Whether the member declares that it only dials; the run says `so_far`.
  bool OnlyDials(bool so_far) const { return only_dials_.value_or(so_far); }
  // Whether the COMMIT of `step`, which is about to be signed, says that the member leaves.
  bool SaysItLeaves(std::uint64_t step);
  // Whether this process has been told to leave by `step`: a leave that an earlier one asked for is
  // not this one's wish.
  bool WasToldToLeave(std::uint64_t step) const { return said_ || Leaves(step); }
  // Told::compute_percent.
  std::uint32_t compute_percent() const { return compute_percent_; }
  const std::vector<wire::Revocation>& revocations() const { return revocations_; }

 private:
  bool Leaves(std::uint64_t step) const;

  std::optional<bool> only_dials_;
  std::optional<Told::Leave> leave_;
  bool said_ = false;  // a COMMIT of this process says that it leaves
  std::vector<wire::Revocation> revocations_;
  std::uint8_t compute_percent_ = 100;
};

}  // namespace ostraka::protocol
