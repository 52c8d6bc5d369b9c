#include "node/protocol/sync/requests.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"

namespace ostraka::protocol {

using base::PeerId;
using wire::PullKind;

// --- asking -------------------------------------------------------------------------------------

std::vector<PeerId> Requests::Willing(base::Time now, const std::vector<PeerId>& others) {
  std::erase_if(shunned_, [now](const auto& one) { return one.second <= now; });
  std::vector<PeerId> willing;
  for (const PeerId& peer : others) {
    if (!shunned_.contains(peer)) willing.push_back(peer);
  }
  return willing.empty() ? others : willing;
}

std::optional<PeerId> Requests::Ask(base::Time now, const std::vector<PeerId>& others,
                                    const Key& key, const Wait& wait) {
  const auto open = open_.find(key);
  if (open != open_.end()) {
    if (Waits(now, open->second, wait)) return std::nullopt;
    const bool blamed = open->second.refuted || (wait.blames && !open->second.passed_over);
    if (blamed) shunned_[open->second.to] = now + patience_ * kShunned;
  }
  const std::vector<PeerId> willing = Willing(now, others);
  if (willing.empty()) return std::nullopt;
  // Each request has its own round of all members: with one common round, requests that time out
  // together could meet one silent member for ever.
  const std::size_t turn = open == open_.end() ? FirstTurn(key, willing) : open->second.turn + 1;
  open_[key] = {.asked = now,
                .heard = now,
                .turn = turn,
                .order = order_++,
                .to = willing[turn % willing.size()]};
  WakeAt(now + wait.patience);
  return open_[key].to;
}

std::optional<PeerId> Requests::HandOver(base::Time now, const std::vector<PeerId>& others,
                                         const Key& key, base::Duration after) {
  const auto open = open_.find(key);
  if (open == open_.end() || Waits(now, open->second, {after})) return std::nullopt;
  const std::vector<PeerId> willing = Willing(now, others);
  // The next idle one of its round: it comes to all of them.
  for (std::size_t i = 1; i <= willing.size(); ++i) {
    const std::size_t turn = open->second.turn + i;
    const PeerId& member = willing[turn % willing.size()];
    if (PiecesAskedOf(member) > 0) continue;
    open->second = {.asked = now, .heard = now, .turn = turn, .order = order_++, .to = member};
    return member;
  }
  return std::nullopt;
}

bool Requests::Waits(base::Time now, Open& open, const Wait& wait) {
  if (std::exchange(open.at_work, false)) open.heard = now;
  base::Time end = open.heard + wait.patience;
  if (wait.at_most) end = std::min(end, open.asked + *wait.at_most);
  if (open.refuted || open.passed_over || now >= end) return false;
  WakeAt(end);
  return true;
}

void Requests::WakeAt(base::Time time) { wake_ = std::min(wake_.value_or(time), time); }

std::size_t Requests::FirstTurn(const Key& key, const std::vector<PeerId>& willing) {
  if (key.IsPiece()) {
    const std::size_t best = TurnOfLeastAsked(willing);
    turn_ = best + 1;
    return best;
  }
  const bool leaves = key.kind == PullKind::kState;
  if (last_ && (leaves || key.kind == PullKind::kBlock)) {
    const auto known = std::find(willing.begin(), willing.end(), *last_);
    if (known != willing.end()) return static_cast<std::size_t>(known - willing.begin());
  }
  return turn_++;
}

std::size_t Requests::TurnOfLeastAsked(const std::vector<PeerId>& willing) const {
  std::size_t best = turn_;
  std::size_t fewest = SIZE_MAX;
  for (std::size_t turn = turn_; turn < turn_ + willing.size(); ++turn) {
    const std::size_t asked = PiecesAskedOf(willing[turn % willing.size()]);
    if (asked < fewest) best = turn;
    fewest = std::min(fewest, asked);
  }
  return best;
}

std::size_t Requests::PiecesAskedOf(const PeerId& member) const {
  return static_cast<std::size_t>(std::count_if(open_.begin(), open_.end(), [&](const auto& one) {
    return one.first.IsPiece() && one.second.to == member;
  }));
}

// --- answers ------------------------------------------------------------------------------------

void Requests::OnAnswer(const Key& key, const PeerId& from) {
  last_ = from;
  const auto open = open_.find(key);
  std::optional<std::uint64_t> order;  // of the question, if this is the member's own answer to it
  if (open != open_.end() && open->second.to == from) order = open->second.order;
  if (open != open_.end()) open_.erase(open);
  if (!key.IsPiece()) return;
  for (auto& [other, still] : open_) {
    if (!other.IsPiece() || still.to != from) continue;
    still.passed_over = still.passed_over || (order && still.order < *order);
    still.at_work = true;
  }
}

void Requests::OnPartOfAnswer(const PeerId& from) {
  last_ = from;
  for (auto& [key, open] : open_) {
    if (key.kind == PullKind::kBlock && open.to == from) open.at_work = true;
  }
}

bool Requests::OnFalseAnswer(const Key& key, const PeerId& from) {
  const auto open = open_.find(key);
  if (open == open_.end() || open->second.to != from) return false;
  return !std::exchange(open->second.refuted, true);
}

// --- the open ones ------------------------------------------------------------------------------

void Requests::CloseIf(const std::function<bool(const Key&)>& over) {
  std::erase_if(open_, [&over](const auto& entry) { return over(entry.first); });
}

std::optional<Requests::Key> Requests::OpenOf(PullKind kind) const {
  const auto open = std::find_if(open_.begin(), open_.end(),
                                 [kind](const auto& entry) { return entry.first.kind == kind; });
  return open == open_.end() ? std::nullopt : std::optional(open->first);
}

std::size_t Requests::CountOf(PullKind kind) const {
  return static_cast<std::size_t>(std::count_if(
      open_.begin(), open_.end(), [kind](const auto& one) { return one.first.kind == kind; }));
}

void Requests::Rename(const Key& from, const Key& to) {
  auto node = open_.extract(from);
  OSTRAKA_CHECK(!node.empty() && !open_.contains(to));
  node.key() = to;
  open_.insert(std::move(node));
}

}  // namespace ostraka::protocol
