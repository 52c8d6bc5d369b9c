#include "tests/property/world/door.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"
#include "node/protocol/ground/invite.h"
#include "node/protocol/ground/roles.h"
#include "node/wire/limits.h"

namespace ostraka::protocol {

using wire::Arrival;
using wire::Voucher;

std::vector<PeerId> Door::Some(std::vector<PeerId> of, std::size_t count) {
  while (of.size() > count) {
    of.erase(of.begin() + static_cast<std::ptrdiff_t>(rng_.Below(of.size())));
  }
  return of;
}

void Door::Open(std::vector<PeerId> guests, const PeerId& stranger, const PeerId& forger,
                Manifest& manifest) {
  OSTRAKA_CHECK(guests.size() == guest_count_);
  guests_ = std::move(guests);
  forger_ = forger;
  std::sort(guests_.begin(), guests_.end());
  for (const PeerId& guest : guests_) {
    if (Luck(85)) comes_.insert(guest);
  }
  for (const Member& member : manifest.members) {
    if (Luck(25)) comes_.insert(member.id);
  }
  JoinPlan& join = manifest.join;
  join.policy =
      AnyOf<JoinPolicy>({JoinPolicy::kClosed, JoinPolicy::kAllowlist, JoinPolicy::kAllowlist,
                         JoinPolicy::kInvite, JoinPolicy::kInvite, JoinPolicy::kInvite});
  if (join.policy == JoinPolicy::kClosed) return;
  if (join.policy == JoinPolicy::kAllowlist || Luck(50)) join.allow = Some(guests_, 3);
  if (join.policy == JoinPolicy::kInvite) {
    join.moderators = {stranger, manifest.members[0].id};
    std::sort(join.moderators.begin(), join.moderators.end());
  }
  join.quota = static_cast<std::uint32_t>(Luck(50) ? 1 + rng_.Below(3) : 40);
  const auto n = static_cast<std::uint32_t>(manifest.members.size());
  if (Luck(75)) join.seats = n + static_cast<std::uint32_t>(rng_.Below(guest_count_ + 2));
}

wire::Invite Door::DrawnInvite(const Manifest& manifest, std::uint64_t step) {
  wire::Invite invite;
  for (std::uint8_t& byte : invite.holder.bytes) byte = static_cast<std::uint8_t>(rng_.Next());
  const auto& moderators = manifest.join.moderators;
  invite.moderator = moderators.empty() || Luck(8) ? forger_ : AnyOf(moderators);
  invite.uses = static_cast<std::uint32_t>(Luck(70) ? 1 + rng_.Below(2) : 30);
  invite.ends_step = step + (Luck(40) ? 3 + rng_.Below(20) : 3000);
  if (Luck(8)) invite.kind = wire::InviteKind::kObserve;
  return invite;
}

Voucher Door::AnyVoucher(const Manifest& manifest) {
  return VoucherOf(manifest.run_id, AnyOf(invites_));
}

wire::Revocation Door::DrawRevocation(const Manifest& manifest, const Keys& keys) {
  wire::Invite invite = invites_.empty() || Luck(15) ? DrawnInvite(manifest, 0) : AnyOf(invites_);
  const bool all = Luck(3);
  const auto key = keys.at(invite.moderator);
  wire::Revocation revocation =
      SignRevocation(manifest.run_id, all ? std::nullopt : std::optional(invite), *key);
  if (Luck(20)) revocation.by_moderator.bytes[0] ^= 1;
  return revocation;
}

// The same as before, with few exceptions: another voucher begins a new candidacy.
std::optional<Voucher> Door::ShownBy(const PeerId& peer, const Manifest& manifest) {
  const auto before = shown_.find(peer);
  if (before != shown_.end() && Luck(97)) return before->second;
  const bool needs_none = Luck(IsAllowed(manifest, peer) ? 75 : 8);
  return shown_[peer] = needs_none ? std::nullopt : std::optional(AnyVoucher(manifest));
}

Door::Stated Door::Draw(const wire::Block& head, const Manifest& manifest, std::uint64_t step) {
  while (invites_.size() < 3) invites_.push_back(DrawnInvite(manifest, step));
  if (Luck(8)) invites_[rng_.Below(invites_.size())] = DrawnInvite(manifest, step);
  const std::uint64_t bound = FaultBound(head.thresholds);
  std::vector<PeerId> keys = guests_;
  for (const Member& member : manifest.members) keys.push_back(member.id);
  Stated stated;
  for (const PeerId& key : keys) {
    if (Luck(4) && comes_.erase(key) == 0) comes_.insert(key);
    if (!comes_.contains(key) || (IsMember(head.members, key) && !Luck(2))) continue;
    const std::optional<Voucher> voucher = ShownBy(key, manifest);
    const std::uint64_t most = Luck(88) ? bound + 1 + rng_.Below(2) : bound;
    for (const PeerId& member : Some(head.members, most)) stated[member][key] = voucher;
    if (!Luck(5)) continue;  // it shows another one to others
    const std::optional<Voucher> other = AnyVoucher(manifest);
    const std::uint64_t others = bound + rng_.Below(3);
    for (const PeerId& member : Some(head.members, others)) stated[member][key] = other;
  }
  return stated;
}

std::vector<Arrival> Door::Fitting(const std::map<PeerId, std::optional<Voucher>>& vouchers,
                                   const std::vector<PeerId>& joins) {
  std::vector<PeerId> peers;
  for (const auto& [peer, voucher] : vouchers) {
    if (!std::binary_search(joins.begin(), joins.end(), peer)) peers.push_back(peer);
  }
  std::vector<Arrival> arrivals;
  for (const PeerId& peer : Some(peers, wire::kMaxArrivals)) {
    arrivals.push_back({peer, vouchers.at(peer)});
  }
  return arrivals;
}

}  // namespace ostraka::protocol
