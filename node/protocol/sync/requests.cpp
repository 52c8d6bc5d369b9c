#include "node/protocol/sync/requests.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"
#include "node/base/planted.h"

namespace ostraka::protocol {

using base::PeerId;
using wire::PullKind;

namespace {

bool Contains(const std::vector<PeerId>& peers, const PeerId& peer) {
  return std::find(peers.begin(), peers.end(), peer) != peers.end();
}

}  // namespace

// --- asking -------------------------------------------------------------------------------------

void Requests::Begin(base::Time now, const std::vector<PeerId>& others) {
  wake_.reset();
  all_are_busy_ = false;
  if (const auto begun = std::exchange(answered_, std::nullopt)) {
    usual_ = std::min(base::Duration{now.ns - begun->ns}, std::max(usual_ * 2, patience_));
  }
  std::vector<Owed> over;
  std::erase_if(owed_, [&](Owed& owed) {
    if (std::exchange(owed.at_work, false)) owed.heard = now;
    if (owed.end() > now) return false;
    over.push_back(owed);
    return true;
  });
  for (const Owed& owed : over) {
    const bool could_come = Contains(others, owed.by);
    if (owed.then == Owed::Then::kBlamed && could_come) Blame(now, owed);
  }
}

// Its member is shunned, unless it answers after all.
void Requests::Blame(base::Time now, Owed owed) {
  owed.then = Owed::Then::kForgotten;
  owed.shunned_until = now + patience_ * kShunned;
  shunned_[owed.by] = *owed.shunned_until;
  if (owed.key.IsBulk()) owed_.push_back(owed);
}

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
    if (Waits(now, others, open->second, wait)) return std::nullopt;
    const Open& old = open->second;
    const bool is_gone = !Contains(others, old.to);
    const bool is_late = !is_gone && !old.refuted && !old.passed_over;
    if (old.refuted) shunned_[old.to] = now + patience_ * kShunned;
    if (is_late && wait.blames) Blame(now, {key, old.to, old.order, old.heard, wait.patience});
    // Attack: a member whose link goes down before each wait ends has nothing to send each time.
    if (is_gone && key.IsBulk()) {
      owed_.push_back({key, old.to, old.order, old.heard, wait.patience});
    }
  }
  const std::vector<PeerId> willing = Willing(now, others);
  if (willing.empty()) {
    open_.erase(key);
    return std::nullopt;
  }
  // Each request has its own round of all members: with one common round, requests that time out
  // together could meet one silent member for ever.
  const std::size_t turn = open == open_.end() ? FirstTurn(key, willing) : open->second.turn + 1;
  open_[key] = {.asked = now,
                .heard = now,
                .patience = wait.patience,
                .turn = turn,
                .order = order_++,
                .to = willing[turn % willing.size()]};
  WakeAt(now + wait.patience);
  return open_[key].to;
}

std::optional<PeerId> Requests::HandOver(base::Time now, const std::vector<PeerId>& others,
                                         const Key& key, const Wait& wait, base::Duration at_most) {
  const auto open = open_.find(key);
  if (open == open_.end() || base::Planted(base::Bug::kNothingIsHandedOver)) return std::nullopt;
  Open& old = open->second;
  if (Waits(now, others, old, {HandOverAfter(old, at_most)})) return std::nullopt;
  if (all_are_busy_ || hand_overs_left_ < kAnswersAHandOver) return std::nullopt;
  const std::vector<PeerId> willing = Willing(now, others);
  // The next idle one of its round: it comes to all of them.
  for (std::size_t i = 1; i <= willing.size(); ++i) {
    const std::size_t turn = old.turn + i;
    const PeerId& member = willing[turn % willing.size()];
    if (BulkLeftTo(member) > 0) continue;
    hand_overs_left_ -= kAnswersAHandOver;
    const auto then = wait.blames ? Owed::Then::kBlamed : Owed::Then::kForgotten;
    owed_.push_back({key, old.to, old.order, old.heard, wait.patience, then});
    old = {.asked = now,
           .heard = now,
           .patience = wait.patience,
           .turn = turn,
           .order = order_++,
           .to = member,
           .handed_over = old.handed_over + 1};
    WakeAt(now + HandOverAfter(old, at_most));
    return member;
  }
  all_are_busy_ = true;
  return std::nullopt;
}

base::Duration Requests::HandOverAfter(const Open& open, base::Duration at_most) const {
  if (usual_.ns == 0) return at_most;
  base::Duration after = std::max(usual_ * 4, base::Duration{patience_.ns / 8});
  for (std::size_t i = 0; i < open.handed_over && after < at_most; ++i) after = after * 2;
  return std::min(after, at_most);
}

bool Requests::Waits(base::Time now, const std::vector<PeerId>& others, Open& open,
                     const Wait& wait) {
  if (!Contains(others, open.to)) return false;
  if (std::exchange(open.at_work, false)) open.heard = now;
  base::Time end = open.heard + wait.patience;
  if (wait.at_most) end = std::min(end, open.asked + *wait.at_most);
  if (base::Planted(base::Bug::kDonorsAreAwaited)) end = end + patience_ * 1'000;
  if (open.refuted || open.passed_over || now >= end) return false;
  WakeAt(end);
  return true;
}

void Requests::WakeAt(base::Time time) { wake_ = std::min(wake_.value_or(time), time); }

std::size_t Requests::FirstTurn(const Key& key, const std::vector<PeerId>& willing) {
  if (key.IsBulk()) {
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
    const std::size_t asked = BulkLeftTo(willing[turn % willing.size()]);
    if (asked < fewest) best = turn;
    fewest = std::min(fewest, asked);
  }
  return best;
}

std::size_t Requests::BulkLeftTo(const PeerId& member) const {
  const auto open = std::count_if(open_.begin(), open_.end(), [&](const auto& one) {
    return one.first.IsBulk() && one.second.to == member;
  });
  const auto owed =
      std::count_if(owed_.begin(), owed_.end(), [&](const Owed& one) { return one.by == member; });
  return static_cast<std::size_t>(open + owed);
}

// --- answers ------------------------------------------------------------------------------------

void Requests::OnAnswer(const Key& key, const PeerId& from) {
  last_ = from;
  std::optional<std::uint64_t> order;  // of the question, if this is the member's own answer to it
  if (const auto node = open_.extract(key); !node.empty()) {
    const Open& open = node.mapped();
    if (open.to == from) {
      order = open.order;
      if (key.IsBulk()) answered_ = open.heard;
    } else if (key.IsBulk()) {
      owed_.push_back({key, open.to, open.order, open.heard, open.patience});
    }
  }
  if (!order) order = TakeOwed(key, from);
  if (!key.IsBulk()) return;
  hand_overs_left_ = std::min(hand_overs_left_ + 1, kHandOvers * kAnswersAHandOver);
  OnWork(from, order);
}

void Requests::OnAnswerAgain(const Key& key, const PeerId& from) {
  if (const auto order = TakeOwed(key, from)) OnWork(from, order);
}

// The number of the question that `from` answers now, if it owed this; it is paid once.
std::optional<std::uint64_t> Requests::TakeOwed(const Key& key, const PeerId& from) {
  const auto owed = std::find_if(owed_.begin(), owed_.end(),
                                 [&](const Owed& one) { return one.key == key && one.by == from; });
  if (owed == owed_.end()) return std::nullopt;
  const std::uint64_t order = owed->order;
  answered_ = owed->heard;
  if (owed->shunned_until) shunned_.erase(from);
  owed_.erase(owed);
  return order;
}

// `member` sent the answer to its question number `order`, or another one: what it was asked for
// before that one does not come any more, what it was asked for later is on its way.
void Requests::OnWork(const PeerId& member, std::optional<std::uint64_t> order) {
  std::erase_if(
      owed_, [&](const Owed& owed) { return owed.by == member && order && owed.order < *order; });
  for (Owed& owed : owed_) {
    if (owed.by == member && !owed.shunned_until) owed.at_work = true;
  }
  for (auto& [key, open] : open_) {
    if (!key.IsBulk() || open.to != member) continue;
    open.passed_over = open.passed_over || (order && open.order < *order);
    open.at_work = true;
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
  // Attack: where a step is shorter than a wait, its results are closed before one is blamed.
  std::erase_if(owed_, [&over](const Owed& owed) {
    const bool counts = owed.then == Owed::Then::kBlamed || owed.shunned_until;
    return !counts && over(owed.key);
  });
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

void Requests::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, open_, owed_, turn_, order_, last_, shunned_, hand_overs_left_,
               all_are_busy_, usual_, answered_, wake_);
}

}  // namespace ostraka::protocol
