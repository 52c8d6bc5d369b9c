#include "node/protocol/watch/echo_watch.h"

#include <algorithm>

#include "node/base/check.h"

namespace ostraka::protocol {

using State = SealEntry::State;

bool EchoWatch::ShowsAbsent(const wire::Echo& echo) const {
  return std::any_of(options_.due.begin(), options_.due.end(), [&](const DueEntry& due) {
    if (StateIn(echo, due.index) != State::kAbsent) return false;
    return !due.excused_by || StateIn(echo, *due.excused_by) != State::kEquivocated;
  });
}

bool EchoWatch::IsBlind(const wire::Echo& echo, base::Time now) const {
  if (!own_ || now <= own_at_ + base::Duration{options_.delta.ns * 11 / 8}) return false;
  return std::any_of(options_.due.begin(), options_.due.end(), [&](const DueEntry& due) {
    return StateIn(*own_, due.index) == State::kPresent &&
           StateIn(echo, due.index) == State::kAbsent;
  });
}

void EchoWatch::OnOwnEcho(const wire::Echo& echo, base::Time now) {
  if (own_) return;
  own_ = echo;
  own_at_ = now;
}

void EchoWatch::OnEcho(const PeerId& sender, const wire::Echo& echo, base::Time now) {
  const auto [seen, fresh] = seen_.try_emplace(sender);
  if (!fresh) return;
  seen->second.vector = echo.vector;
  seen->second.at = now;
  seen->second.blind = IsBlind(echo, now);
  const bool before_deadline = !options_.deadline || now + options_.delta < *options_.deadline;
  if (before_deadline && !gate_ && ShowsAbsent(echo)) seen->second.early = now;
}

void EchoWatch::OnGate(base::Time now) {
  if (!gate_) gate_ = now;
}

void EchoWatch::OnTimer(base::Time set_for, base::Time now) {
  if (now - set_for > base::Duration{options_.delta.ns / 8}) stood_still_ = true;
}

void EchoWatch::OnAsked(const PeerId& member, base::Time now) {
  const auto seen = seen_.find(member);
  if (seen == seen_.end()) return;
  if (!seen->second.first_asked) {
    seen->second.first_asked = now;
  } else if (now > *seen->second.first_asked) {
    seen->second.asked_again = true;
  }
}

void EchoWatch::CheckInvariants() const {
  for (const auto& [member, seen] : seen_) {
    OSTRAKA_CHECK(!seen.asked_again || (seen.first_asked && *seen.first_asked >= seen.at));
  }
}

std::set<PeerId> EchoWatch::Hasty(base::Time now) const {
  // The earlier of gate and decision: its sender may have seen it before this member did.
  const base::Time until = gate_ ? std::min(*gate_, now) : now;
  std::set<PeerId> hasty;
  for (const auto& [member, seen] : seen_) {
    const base::Duration margin{options_.delta.ns / 2};
    const bool too_early = seen.early && *seen.early + margin < until;
    if (too_early || (seen.blind && !stood_still_)) hasty.insert(member);
  }
  return hasty;
}

std::map<PeerId, base::Duration> EchoWatch::Tardy() const {
  std::map<PeerId, base::Duration> tardy;
  if (!own_ || stood_still_ || ShowsAbsent(*own_)) return tardy;
  const base::Time bar = own_at_ + base::Duration{options_.delta.ns * 3 / 2};
  for (const auto& [member, seen] : seen_) {
    if (seen.at > bar) tardy[member] = seen.at - bar;
  }
  return tardy;
}

std::set<PeerId> EchoWatch::Unshown(const Digest& decided, base::Time now,
                                    const std::function<bool(const Digest&)>& shown) const {
  CheckInvariants();
  std::set<PeerId> unshown;
  if (stood_still_) return unshown;
  for (const auto& [member, seen] : seen_) {
    if (seen.vector == decided || !seen.asked_again) continue;
    if (now - *seen.first_asked < options_.delta || shown(seen.vector)) continue;
    unshown.insert(member);
  }
  return unshown;
}

void EchoWatch::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, options_, seen_, gate_, stood_still_, own_, own_at_);
}

}  // namespace ostraka::protocol
