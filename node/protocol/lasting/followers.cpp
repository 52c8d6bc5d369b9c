#include "node/protocol/lasting/followers.h"

#include <algorithm>

#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/rules/standing.h"

namespace ostraka::protocol {

void Followers::OnAsked(const PeerId& peer, base::Time now) {
  const auto found = asked_.find(peer);
  if (found == asked_.end()) return;
  found->second.at = now;
  found->second.is_cut_off = false;
}

void Followers::OnLinkDown(const PeerId& peer) {
  const auto found = asked_.find(peer);
  if (found != asked_.end() && IsGuest(peer)) found->second.is_cut_off = true;
}

std::vector<PeerId> Followers::all() const {
  std::vector<PeerId> peers;
  for (const auto& [peer, since] : asked_) peers.push_back(peer);
  return peers;
}

std::vector<PeerId> Followers::Audience(const wire::Block& head) const {
  std::vector<PeerId> audience = head.members;
  audience.insert(audience.end(), head.left.begin(), head.left.end());
  for (const auto& [peer, since] : asked_) {
    if (!IsMember(head.members, peer) && !IsMember(head.left, peer)) audience.push_back(peer);
  }
  return audience;
}

base::Digest Followers::KindOf(const PeerId& peer, const std::optional<Voucher>& voucher) const {
  return voucher ? voucher->invite : base::Digest{peer.bytes};
}

std::size_t Followers::GuestsOfKind(const base::Digest& kind) const {
  return static_cast<std::size_t>(std::count_if(
      guests_.begin(), guests_.end(),
      [&](const PeerId& guest) { return KindOf(guest, rejoins_.at(guest).voucher) == kind; }));
}

PeerId Followers::LongestSilent(const std::vector<PeerId>& guests) const {
  return *std::min_element(guests.begin(), guests.end(), [&](const PeerId& a, const PeerId& b) {
    return asked_.at(a).at < asked_.at(b).at;
  });
}

template <typename GroupOf>
std::optional<PeerId> Followers::OneOfTheMost(const base::Digest& newcomers,
                                              GroupOf group_of) const {
  std::map<base::Digest, std::vector<PeerId>> groups;
  for (const PeerId& guest : guests_) {
    groups[group_of(guest, rejoins_.at(guest).voucher)].push_back(guest);
  }
  const std::size_t same = groups[newcomers].size();
  const auto most = std::max_element(
      groups.begin(), groups.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (most->second.size() < same + 2) return std::nullopt;
  return LongestSilent(most->second);
}

std::optional<PeerId> Followers::WhoGivesItsPlace(const PeerId& peer,
                                                  const std::optional<Voucher>& voucher,
                                                  const Refuses& refuses) const {
  if (voucher && refuses(*voucher)) return std::nullopt;
  std::vector<PeerId> refused;
  for (const PeerId& guest : guests_) {
    const std::optional<Voucher>& shown = rejoins_.at(guest).voucher;
    if (shown && refuses(*shown)) refused.push_back(guest);
  }
  if (!refused.empty()) return LongestSilent(refused);
  const auto moderator_of = [](const PeerId&, const std::optional<Voucher>& shown) {
    return shown ? base::Digest{shown->moderator.bytes} : base::Digest{};
  };
  const auto by_moderator = OneOfTheMost(moderator_of(peer, voucher), moderator_of);
  if (by_moderator) return by_moderator;
  return OneOfTheMost(KindOf(peer, voucher), [this](const PeerId& guest, const auto& shown) {
    return KindOf(guest, shown);
  });
}

// --- shares -------------------------------------------------------------------------------------

// Keys of the run that follow, of which some may be members: an upper bound.
std::size_t Followers::Returning() const {
  return asked_.size() - std::min(asked_.size(), guests_.size());
}

const Followers::Groups& Followers::GroupsNow() {
  if (!groups_) {
    groups_.emplace();
    for (const PeerId& guest : guests_) {
      const std::optional<Voucher>& voucher = rejoins_.at(guest).voucher;
      ++(*groups_)[voucher ? voucher->moderator : PeerId{}][KindOf(guest, voucher)];
    }
  }
  return *groups_;
}

GuestShare Followers::ShareOf(const PeerId& peer, std::size_t away) {
  const auto rejoin = rejoins_.find(peer);
  const bool shows = IsGuest(peer) && rejoin != rejoins_.end();
  const std::optional<Voucher> voucher = shows ? rejoin->second.voucher : std::nullopt;
  GuestShare share = ShareBy(peer, voucher);
  if (voucher) return share;
  const bool follows = IsGuest(peer) || asked_.contains(peer);
  const std::size_t others = away - std::min(away, Returning());
  if (!follows) {
    share.invite = base::Digest{};
    share.keys = std::max<std::uint64_t>(1, others);
  }
  if (follows ? others > 0 : !asked_.empty()) ++share.invites;
  return share;
}

GuestShare Followers::ShareBy(const PeerId& peer, const std::optional<Voucher>& voucher) {
  const Groups& groups = GroupsNow();
  static const std::map<base::Digest, std::uint64_t> kNone;
  GuestShare share;
  if (voucher) share.moderator = voucher->moderator;
  share.invite = KindOf(peer, voucher);
  const auto group = groups.find(share.moderator);
  const auto& invites = group == groups.end() ? kNone : group->second;
  const auto keys = invites.find(share.invite);
  const std::uint64_t returning = Returning();
  // Keys of the run are one group more, with those that the manifest names: each by itself.
  const bool named = groups.contains(PeerId{});
  share.moderators = groups.size() + (returning > 0 && !named ? 1 : 0);
  const bool counted = group != groups.end() || (!voucher && returning > 0);
  if (!counted) ++share.moderators;
  share.invites = invites.size() + (voucher ? 0 : returning);
  if (voucher && keys == invites.end()) ++share.invites;
  share.invites = std::max<std::uint64_t>(1, share.invites);
  share.keys = (keys == invites.end() ? 0 : keys->second) + (IsGuest(peer) ? 0 : 1);
  share.keys = std::max<std::uint64_t>(1, share.keys);
  return share;
}

void Followers::SendAway(const PeerId& guest) {
  groups_.reset();
  guests_.erase(guest);
  rejoins_.erase(guest);
  asked_.erase(guest);
}

bool Followers::SendAwayCutOff(const std::optional<base::Digest>& kind) {
  std::vector<PeerId> cut_off;
  for (const PeerId& guest : guests_) {
    const bool counts = !kind || KindOf(guest, rejoins_.at(guest).voucher) == *kind;
    const auto asked = asked_.find(guest);
    if (counts && asked != asked_.end() && asked->second.is_cut_off) cut_off.push_back(guest);
  }
  if (cut_off.empty()) return false;
  SendAway(LongestSilent(cut_off));
  return true;
}

bool Followers::Welcome(const PeerId& peer, const std::optional<Voucher>& voucher, base::Time now,
                        const Refuses& refuses) {
  const base::Digest kind = KindOf(peer, voucher);
  if (IsGuest(peer) && KindOf(peer, rejoins_.at(peer).voucher) == kind) return true;
  const auto is_gone = [&](const PeerId& guest) {
    const auto asked = asked_.find(guest);
    return asked == asked_.end() || now - asked->second.at > kGuestStay;
  };
  for (const PeerId& guest : std::vector<PeerId>(guests_.begin(), guests_.end())) {
    if (is_gone(guest)) SendAway(guest);
  }
  if (voucher && GuestsOfKind(kind) >= voucher->uses && !SendAwayCutOff(kind)) return false;
  if (guests_.size() == kMostGuests && !IsGuest(peer) && !SendAwayCutOff(std::nullopt)) {
    const auto gives = WhoGivesItsPlace(peer, voucher, refuses);
    if (!gives) return false;
    SendAway(*gives);
  }
  guests_.insert(peer);
  groups_.reset();
  return true;
}

void Followers::OnRejoin(const PeerId& peer, const Request& request, base::Time now,
                         std::uint64_t step) {
  OSTRAKA_CHECK(!HasRejoin(peer, request.asked_in));  // F3
  rejoins_[peer] = request;
  groups_.reset();
  Asked& asked = asked_[peer];
  asked.at = now;
  asked.is_cut_off = false;
  asked.step = step;
}

bool Followers::HasRejoin(const PeerId& peer, std::uint64_t asked_in) const {
  const auto held = rejoins_.find(peer);
  return held != rejoins_.end() && held->second.asked_in >= asked_in;
}

Asking Followers::ToConfirm(const RecentBlocks& recent, const MustBeNear& must_be_near) const {
  Asking asking;
  for (const auto& [peer, rejoin] : rejoins_) {
    const auto asked = asked_.find(peer);
    const bool is_near = asked != asked_.end() && asked->second.is_near;
    const bool is_far = !is_near && !base::Planted(base::Bug::kAnyDistance);
    if (is_far && must_be_near(peer)) continue;
    const auto& blocks = recent.all();
    std::uint64_t back = 0;
    for (auto it = blocks.rbegin(); it != blocks.rend() && back < kRejoinBlocks; ++it, ++back) {
      if (it->second.digest != rejoin.block) continue;
      asking.emplace(peer, rejoin.voucher);
      break;
    }
  }
  return asking;
}

bool Followers::AsksHowFar(const PeerId& peer, const base::Digest& block, base::Time now,
                           base::Duration delta) {
  Asked& asked = asked_.at(peer);
  if (asked.is_near || asked.probe == block) return false;
  if (asked.probe && (now - asked.probed).ns <= delta.ns / 2) return false;
  asked.probe = block;
  asked.probed = now;
  return true;
}

bool Followers::OnBlockOf(const PeerId& peer, const base::Digest& block, base::Time now,
                          base::Duration delta) {
  const auto found = asked_.find(peer);
  if (found == asked_.end() || found->second.probe != block) return false;
  if ((now - found->second.probed).ns <= delta.ns / 2) found->second.is_near = true;
  return true;
}

bool Followers::Has(const PeerId& peer, std::uint64_t height) const {
  const auto found = asked_.find(peer);
  return found != asked_.end() && found->second.has >= height;
}

void Followers::EndRefused(const wire::Block& head, const Refuses& refuses) {
  if (looked_at_by_ != head.decision) SendAwayRefused(head, refuses);
}

void Followers::SendAwayRefused(const wire::Block& head, const Refuses& refuses) {
  looked_at_by_ = head.decision;
  for (const PeerId& guest : std::vector<PeerId>(guests_.begin(), guests_.end())) {
    const std::optional<Voucher>& shown = rejoins_.at(guest).voucher;
    const bool ends = shown && !IsKey(head, guest) && refuses(*shown);
    if (ends && !base::Planted(base::Bug::kGuestsAreForEver)) SendAway(guest);
  }
}

void Followers::OnHead(const wire::Block& head, const Refuses& refuses) {
  groups_.reset();
  SendAwayRefused(head, refuses);
  std::erase_if(rejoins_, [&](const auto& rejoin) { return IsMember(head.members, rejoin.first); });
  std::erase_if(guests_, [&](const PeerId& guest) { return IsKey(head, guest); });
  for (const wire::Standing& standing : head.standings) {
    if (!standing.banned) continue;
    asked_.erase(standing.peer);
    rejoins_.erase(standing.peer);
  }
}

void Followers::Expire(const std::map<PeerId, base::Digest>& commits, std::uint64_t step,
                       base::Time now, base::Duration stay) {
  std::erase_if(asked_, [&](const auto& follower) {
    const bool at_work = commits.contains(follower.first) && step > follower.second.step + 1;
    return at_work || now - follower.second.at > stay;
  });
}

void Followers::CheckInvariants(std::size_t keys) const {
  OSTRAKA_CHECK(guests_.size() <= kMostGuests);
  const std::size_t most = keys + guests_.size();
  OSTRAKA_CHECK(asked_.size() <= most && rejoins_.size() <= most);
  for (const PeerId& guest : guests_) OSTRAKA_CHECK(rejoins_.contains(guest));
}

void Followers::HashInto(crypto::Hasher& hasher) const {
  for (const auto& [peer, asked] : asked_) {
    crypto::Feed(hasher, peer, asked.at, asked.step, asked.has, asked.probe, asked.probed,
                 asked.is_near, asked.is_cut_off);
  }
  crypto::Feed(hasher, asked_.size(), rejoins_, guests_, looked_at_by_);
}

}  // namespace ostraka::protocol
