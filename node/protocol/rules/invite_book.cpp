#include "node/protocol/rules/invite_book.h"

#include <algorithm>
#include <functional>

#include "crypto/sign.h"
#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/ground/invite.h"
#include "node/wire/limits.h"

namespace ostraka::protocol {
namespace {

using wire::Moderator;
using wire::Revocation;
using wire::UsedInvite;
using wire::Voucher;

// The entry of that key in a list that ascends by it; null if there is none.
template <typename Entry, typename Key>
const Entry* EntryOf(const std::vector<Entry>& entries, Key Entry::*key_of, const Key& key) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& entry) { return entry.*key_of == key; });
  return found == entries.end() ? nullptr : &*found;
}

// A fresh entry, if there is none.
template <typename Entry, typename Key>
Entry& EntryFor(std::vector<Entry>& entries, Key Entry::*key_of, const Key& key) {
  const auto place = std::lower_bound(
      entries.begin(), entries.end(), key,
      [&](const Entry& entry, const Key& wanted) { return entry.*key_of < wanted; });
  if (place != entries.end() && (*place).*key_of == key) return *place;
  Entry& fresh = *entries.emplace(place);
  fresh.*key_of = key;
  return fresh;
}

}  // namespace

InviteBook::InviteBook(const Block& head, std::uint64_t step)
    : invites_(head.invites), moderators_(head.moderators) {
  std::erase_if(invites_, [&](const UsedInvite& one) { return one.ends_step <= step; });
}

const UsedInvite* InviteBook::Find(const Digest& invite) const {
  return EntryOf(invites_, &UsedInvite::invite, invite);
}

const Moderator* InviteBook::FindModerator(const PeerId& peer) const {
  return EntryOf(moderators_, &Moderator::peer, peer);
}

bool InviteBook::HasQuota(const PeerId& moderator, const Manifest& manifest) const {
  const Moderator* known = FindModerator(moderator);
  return known == nullptr || (!known->revoked && known->admitted < manifest.join.quota);
}

std::uint32_t InviteBook::UsesOf(const Digest& invite) const {
  const UsedInvite* used = Find(invite);
  return used == nullptr ? 0 : used->used;
}

std::optional<std::string> InviteBook::RefusalOf(const Voucher& voucher, const Manifest& manifest,
                                                 std::uint64_t step) const {
  if (auto lasting = LastingRefusalOf(voucher, manifest, step)) return lasting;
  const bool admits = voucher.kind == wire::InviteKind::kAdmit;
  if (!admits && !base::Planted(base::Bug::kObserversComeIn)) {
    return "its invite lets it follow the run, and nobody in: ask a moderator for another one";
  }
  if (Find(voucher.invite) == nullptr && invites_.size() >= wire::kMaxUsedInvites) {
    return "too many invites are in use: wait until some have ended";
  }
  return std::nullopt;
}

std::optional<std::string> InviteBook::RefusalToUserOf(const Voucher& voucher,
                                                       const Manifest& manifest,
                                                       std::uint64_t step) const {
  if (manifest.join.policy != JoinPolicy::kInvite) return "this run takes no invites";
  const std::string moderator = voucher.moderator.Short();
  if (!IsModerator(manifest, voucher.moderator)) {
    return "its invite is signed by " + moderator + ", who is no moderator of this run";
  }
  if (step >= voucher.ends_step && !base::Planted(base::Bug::kInvitesNeverEnd)) {
    return "its invite ended with step " + std::to_string(voucher.ends_step) +
           ": ask a moderator for a new one";
  }
  const UsedInvite* used = Find(voucher.invite);
  if (used != nullptr && used->revoked) {
    return "its invite was revoked: ask a moderator for a new one";
  }
  const Moderator* known = FindModerator(voucher.moderator);
  if (known != nullptr && known->revoked) {
    return "moderator " + moderator + " has revoked all of its invites: ask another one";
  }
  return std::nullopt;
}

std::optional<std::string> InviteBook::LastingRefusalOf(const Voucher& voucher,
                                                        const Manifest& manifest,
                                                        std::uint64_t step) const {
  if (auto to_all = RefusalToUserOf(voucher, manifest, step)) return to_all;
  if (voucher.kind == wire::InviteKind::kObserve) return std::nullopt;  // a block counts no guests
  const std::uint32_t used = UsesOf(voucher.invite);
  const bool counts = !base::Planted(base::Bug::kInvitesAreNotCounted);
  if (counts && used >= voucher.uses) {
    return "its invite is used up (" + std::to_string(used) + " of " +
           std::to_string(voucher.uses) + ") by other keys: ask a moderator for a new one";
  }
  if (HasQuota(voucher.moderator, manifest)) return std::nullopt;
  return "the invites of moderator " + voucher.moderator.Short() + " have let in all " +
         std::to_string(manifest.join.quota) + " keys that they may: ask another one";
}

bool InviteBook::HasUsed(const Digest& invite, const PeerId& peer) const {
  const UsedInvite* used = Find(invite);
  if (used == nullptr) return false;
  if (base::Planted(base::Bug::kAnyKeyComesAgain)) return used->used > 0;
  return std::binary_search(used->users.begin(), used->users.end(), peer);
}

void InviteBook::Count(const Voucher& voucher, const PeerId& peer) {
  UsedInvite& invite = EntryFor(invites_, &UsedInvite::invite, voucher.invite);
  OSTRAKA_CHECK(!invite.revoked);  // I2
  if (invite.used == 0) invite.ends_step = voucher.ends_step;
  ++invite.used;
  invite.users.insert(std::lower_bound(invite.users.begin(), invite.users.end(), peer), peer);
  ++EntryFor(moderators_, &Moderator::peer, voucher.moderator).admitted;
}

bool InviteBook::Concerns(const Revocation& revocation, const Manifest& manifest,
                          std::uint64_t step) const {
  if (manifest.join.policy != JoinPolicy::kInvite) return false;
  if (!IsModerator(manifest, revocation.moderator)) return false;
  const Moderator* known = FindModerator(revocation.moderator);
  if (known != nullptr && known->revoked) return false;
  if (!revocation.invite) return true;
  const wire::Invite& invite = *revocation.invite;
  if (step >= invite.ends_step) return false;
  const UsedInvite* used = Find(VoucherOf(manifest.run_id, invite).invite);
  if (used != nullptr) return !used->revoked;  // used up, too: it lets its users in again
  return HasQuota(revocation.moderator, manifest) && invites_.size() < wire::kMaxUsedInvites;
}

void InviteBook::Revoke(const Revocation& revocation, const Manifest& manifest,
                        std::uint64_t step) {
  if (!Concerns(revocation, manifest, step)) return;
  if (!revocation.invite) {
    EntryFor(moderators_, &Moderator::peer, revocation.moderator).revoked = true;
    return;
  }
  const Digest name = InviteDigest(manifest.run_id, *revocation.invite);
  if (Find(name) == nullptr) {
    ++EntryFor(moderators_, &Moderator::peer, revocation.moderator).admitted;
  }
  UsedInvite& invite = EntryFor(invites_, &UsedInvite::invite, name);
  invite.ends_step = revocation.invite->ends_step;
  invite.revoked = true;
  invite.users.clear();
}

void InviteBook::CheckInvariants() const {
  const auto disorder = [](const auto& list, auto key_of) {
    return std::adjacent_find(list.begin(), list.end(), [&](const auto& a, const auto& b) {
             return !(a.*key_of < b.*key_of);
           }) != list.end();
  };
  OSTRAKA_CHECK(!disorder(invites_, &UsedInvite::invite));  // I1
  OSTRAKA_CHECK(!disorder(moderators_, &Moderator::peer));  // I1
  for (const UsedInvite& one : invites_) {
    const auto unordered =
        std::adjacent_find(one.users.begin(), one.users.end(), std::greater_equal<>());
    OSTRAKA_CHECK(unordered == one.users.end() && one.users.size() <= one.used);  // I3
  }
}

std::optional<Revocation> RevocationToState(const Block& head, const Manifest& manifest,
                                            const std::vector<Revocation>& held) {
  if (held.empty()) return std::nullopt;
  const std::uint64_t step = HeightOf(head);
  const InviteBook book(head, step);
  for (const bool all : {true, false}) {
    for (const Revocation& one : held) {
      if (one.invite.has_value() != all && book.Concerns(one, manifest, step)) return one;
    }
  }
  return std::nullopt;
}

std::set<Revocation> RevocationsIn(const SealedStep& sealed, const Manifest& manifest) {
  std::set<Revocation> revocations;
  if (base::Planted(base::Bug::kRevocationsAreIgnored)) return revocations;
  for (const auto& [member, commit] : sealed.commits) {
    if (commit.revokes) revocations.insert(*commit.revokes);
  }
  crypto::PlainVerifier verifier;
  std::erase_if(revocations, [&](const Revocation& one) {
    if (!IsModerator(manifest, one.moderator)) return true;
    return !IsSigned(manifest.run_id, one, verifier) && !base::Planted(base::Bug::kAnyRevocation);
  });
  return revocations;
}

}  // namespace ostraka::protocol
