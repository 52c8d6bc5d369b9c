#include "node/protocol/echo_watch.h"

#include <algorithm>

namespace ostraka::protocol {

using State = SealEntry::State;

bool EchoWatch::ShowsAbsent(const wire::Echo& echo) const {
  return std::any_of(options_.due.begin(), options_.due.end(), [&](const DueEntry& due) {
    if (StateIn(echo, due.index) != State::kAbsent) return false;
    return !due.excused_by || StateIn(echo, *due.excused_by) != State::kEquivocated;
  });
}

void EchoWatch::OnEcho(const PeerId& sender, const wire::Echo& echo, base::Time now) {
  const auto [seen, fresh] = seen_.try_emplace(sender);
  if (!fresh) return;
  seen->second.vector = echo.vector;
  const bool before_deadline = !options_.deadline || now + options_.delta < *options_.deadline;
  if (before_deadline && !gate_ && ShowsAbsent(echo)) seen->second.early = now;
}

void EchoWatch::OnGate(base::Time now) {
  if (!gate_) gate_ = now;
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

std::set<PeerId> EchoWatch::Hasty(base::Time now) const {
  // The gate, or the decision, that may have excused it before this member knew.
  const base::Time until = gate_ ? std::min(*gate_, now) : now;
  std::set<PeerId> hasty;
  for (const auto& [member, seen] : seen_) {
    if (seen.early && *seen.early + options_.delta < until) hasty.insert(member);
  }
  return hasty;
}

std::set<PeerId> EchoWatch::Unshown(const Digest& decided, base::Time now,
                                    const std::function<bool(const Digest&)>& shown) const {
  std::set<PeerId> unshown;
  for (const auto& [member, seen] : seen_) {
    if (seen.vector == decided || !seen.asked_again) continue;
    if (now - *seen.first_asked < options_.delta || shown(seen.vector)) continue;
    unshown.insert(member);
  }
  return unshown;
}

}  // namespace ostraka::protocol
