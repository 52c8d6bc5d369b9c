// The invites in use and the moderators' quotas, as a block keeps them.
//
// Promises:
//   I1  Both lists ascend by their keys, without a key twice.
//   I2  What is revoked stays revoked until it ends, and lets nobody in. [C: CHECKed by Count]
//   I3  The users of an invite ascend, and are no more than its uses. [C]
//
// What bounds an attacker:
//   uses    An invite lets in as many keys as it says. Who came in by it comes in again by it, at
//           no cost, until it ends or is revoked: standing.h bounds how often.
//   quota   Each key that comes in counts against its moderator, for ever, and so does each
//           revocation of an invite that the book does not have. Attack: a moderator that fills the
//           book with revocations shuts out all others.
//   book    At most wire::kMaxUsedInvites have not ended, with at most as many keys that came in by
//           them as all quotas together.
// A revocation shuts out those that are not in yet, and removes no member. Attack: a stolen key
// would remove all members that its owner once let in.
//
// May not know: messages, candidates.
// Memory: at most wire::kMaxUsedInvites entries, wire::kMaxInviteUsers keys and the manifest's
// moderators.
//
// Thread safety: plain values; pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/protocol/ground/manifest.h"
#include "node/protocol/rules/columns.h"
#include "node/wire/block.h"

namespace ostraka::protocol {

class InviteBook {
 public:
  // Of `head`, without the invites that have ended by `step`.
  InviteBook(const Block& head, std::uint64_t step);

  // Why a key that has not come in by the voucher yet may not in `step`, in one line for people;
  // nullopt if it may.
  std::optional<std::string> RefusalOf(const wire::Voucher& voucher, const Manifest& manifest,
                                       std::uint64_t step) const;
  // Of these reasons those that no later block takes back, and for which it is no guest either.
  std::optional<std::string> LastingRefusalOf(const wire::Voucher& voucher,
                                              const Manifest& manifest, std::uint64_t step) const;
  // The same of a key that HasUsed it: what is used up keeps out others only.
  std::optional<std::string> RefusalToUserOf(const wire::Voucher& voucher, const Manifest& manifest,
                                             std::uint64_t step) const;
  bool HasUsed(const Digest& invite, const PeerId& peer) const;
  std::uint32_t UsesOf(const Digest& invite) const;  // 0 if the book does not have it
  // `peer` has come in by it for the first time. REQUIRES: no RefusalOf, and not HasUsed.
  void Count(const wire::Voucher& voucher, const PeerId& peer);

  // True if the revocation would change the book. The signature is not looked at.
  bool Concerns(const wire::Revocation& revocation, const Manifest& manifest,
                std::uint64_t step) const;
  // Nothing, if it does not concern the book. REQUIRES: the signature is good.
  void Revoke(const wire::Revocation& revocation, const Manifest& manifest, std::uint64_t step);

  void CheckInvariants() const;  // aborts if I1 or I3 is broken
  const std::vector<wire::UsedInvite>& invites() const { return invites_; }
  const std::vector<wire::Moderator>& moderators() const { return moderators_; }

 private:
  const wire::UsedInvite* Find(const Digest& invite) const;
  const wire::Moderator* FindModerator(const PeerId& peer) const;
  // May still bring in, or revoke, one more.
  bool HasQuota(const PeerId& moderator, const Manifest& manifest) const;

  std::vector<wire::UsedInvite> invites_;    // by invite
  std::vector<wire::Moderator> moderators_;  // by key
};

// What an honest member that has `held` says in the COMMIT after `head`: the first that concerns
// the book, and before it one that takes back all of a moderator's. It says one a step, and each
// until a block has it.
std::optional<wire::Revocation> RevocationToState(const Block& head, const Manifest& manifest,
                                                  const std::vector<wire::Revocation>& held);

// The revocations in the sealed COMMITs that a moderator of the run has signed, each once.
std::set<wire::Revocation> RevocationsIn(const SealedStep& sealed, const Manifest& manifest);

}  // namespace ostraka::protocol
