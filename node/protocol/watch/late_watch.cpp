#include "node/protocol/watch/late_watch.h"

#include <algorithm>

#include "node/base/check.h"

namespace ostraka::protocol {
namespace {

// The time from `start` to the `count`-th of `times`, which ascend; zero if `count` is 0, nullopt
// if there are fewer.
std::optional<base::Duration> Reached(const std::vector<base::Time>& times, std::size_t count,
                                      base::Time start) {
  if (count == 0) return base::Duration{};
  if (times.size() < count) return std::nullopt;
  return std::max(times[count - 1] - start, base::Duration{});
}

// True for kinds that all members are asked for once they are late. Bulk goes to one member, or is
// asked for by other rules.
bool IsAskedFor(DueMessage kind) {
  return kind == DueMessage::kCommit || kind == DueMessage::kIdleCommit ||
         kind == DueMessage::kAggregate || kind == DueMessage::kReveal ||
         kind == DueMessage::kProof;
}

}  // namespace

void LateWatch::Expect(const Message& message, std::size_t author, base::Duration extra) {
  OSTRAKA_CHECK(author < options_.members && held_.empty());
  const bool added = due_.emplace(message, Due{author, extra}).second;
  OSTRAKA_CHECK(added);
  lacking_.insert(message);
  ++TallyOf(message.kind).expected;
  CheckInvariants();
}

void LateWatch::Held(const Message& message, base::Time now) {
  OSTRAKA_CHECK(lacking_.erase(message) == 1);
  held_[message] = now;
  std::vector<base::Time>& arrivals = TallyOf(message.kind).arrivals;
  OSTRAKA_CHECK(arrivals.empty() || arrivals.back() <= now);
  arrivals.push_back(now);
  CheckInvariants();
}

void LateWatch::CheckInvariants() const {
  OSTRAKA_CHECK(due_.size() == lacking_.size() + held_.size());
  std::size_t expected = 0;
  std::size_t arrived = 0;
  for (const Tally& tally : tallies_) {
    OSTRAKA_CHECK(tally.arrivals.size() <= tally.expected);
    expected += tally.expected;
    arrived += tally.arrivals.size();
  }
  OSTRAKA_CHECK(expected == due_.size() && arrived == held_.size());
}

void LateWatch::EndResults(base::Time now) {
  if (!results_ended_) results_ended_ = now;
}

base::Duration LateWatch::Grace(base::Duration quickest) const {
  return std::max(quickest * 4, options_.patience) + options_.delta * 3;
}

base::Time LateWatch::Capped(base::Time bar) const {
  return std::min(bar, options_.opened + options_.deadline);
}

// q of the messages that come first in the seal.
std::optional<base::Duration> LateWatch::Quickest() const {
  const std::size_t results = TallyOf(DueMessage::kResult).expected;
  if (TallyOf(DueMessage::kProof).expected > 0) {
    const std::size_t enough = results - std::min(results, options_.fault_bound);
    return Reached(TallyOf(DueMessage::kResult).arrivals, enough, options_.opened);
  }
  // Nobody works in a step without parts.
  const std::size_t workers = TallyOf(DueMessage::kCommit).expected;
  const std::size_t most = workers == 0 ? 0 : workers / 2 + 1;
  const auto commits = Reached(TallyOf(DueMessage::kCommit).arrivals, most, options_.opened);
  if (!commits || !options_.owns_column) return commits;
  const auto parts = Reached(TallyOf(DueMessage::kPart).arrivals, most, options_.opened);
  if (!parts) return std::nullopt;
  return std::max(*commits, *parts);
}

std::optional<base::Time> LateWatch::FirstBar() const {
  const auto quickest = Quickest();
  if (!quickest) return std::nullopt;
  return Capped(options_.opened + Grace(*quickest));
}

// The bar of AGGs or PROOFs. Nullopt also while what they wait for is not here.
std::optional<base::Time> LateWatch::LastBar() const {
  const auto first = FirstBar();
  if (!first) return std::nullopt;
  if (TallyOf(DueMessage::kProof).expected == 0) return Capped(*first + Grace(*Quickest()));
  const std::vector<base::Time>& arrivals = TallyOf(DueMessage::kResult).arrivals;
  base::Time start = options_.opened;
  if (arrivals.size() < TallyOf(DueMessage::kResult).expected) {
    if (!results_ended_) return std::nullopt;
    start = std::max(start, *results_ended_);
  }
  if (!arrivals.empty()) start = std::max(start, arrivals.back());
  const auto own_quickest = Reached(TallyOf(DueMessage::kProof).arrivals, options_.quorum, start);
  if (!own_quickest) return std::nullopt;
  return Capped(start + Grace(*own_quickest));
}

std::optional<base::Time> LateWatch::BarOf(const Message& message) const {
  if (message.kind == DueMessage::kReveal) {
    return options_.opened + base::Duration{options_.delta.ns * 3 / 2};
  }
  if (message.kind == DueMessage::kAggregate) return LastBar();
  if (message.kind != DueMessage::kProof) return FirstBar();
  const auto bar = LastBar();
  return bar ? std::optional(Capped(*bar + due_.at(message).extra)) : bar;
}

std::optional<base::Time> LateWatch::AskFrom() const {
  std::optional<base::Time> from;
  for (const Message& message : lacking_) {
    const auto bar = IsAskedFor(message.kind) ? BarOf(message) : std::nullopt;
    if (bar && (!from || *bar < *from)) from = *bar;
  }
  if (!from) return std::nullopt;
  return *from + base::Duration{-options_.delta.ns};
}

std::set<LateWatch::Message> LateWatch::Overdue(base::Time now) const {
  std::set<Message> overdue;
  for (const Message& message : lacking_) {
    const auto bar = BarOf(message);
    const bool due = bar && now + options_.delta >= *bar;
    if (IsAskedFor(message.kind) && due) overdue.insert(message);
  }
  return overdue;
}

void LateWatch::OnTimer(base::Time set_for, base::Time now) {
  if (now - set_for > options_.delta) stood_still_ = true;
}

void LateWatch::Stop(base::Time now) {
  if (!stopped_) stopped_ = now;
}

void LateWatch::Decided(base::Time now, bool slow) {
  OSTRAKA_CHECK(stopped_.has_value());
  if (slow) slowly_decided_ = now;
}

std::map<std::size_t, LateFigures> LateWatch::Late() const {
  OSTRAKA_CHECK(stopped_.has_value());
  std::map<std::size_t, LateFigures> late;
  if (stood_still_) return late;
  for (const auto& [message, due] : due_) {
    const bool bulk = message.kind == DueMessage::kPart ||
                      message.kind == DueMessage::kDisputedPart ||
                      message.kind == DueMessage::kAggregate;
    if (bulk && !options_.owns_column) continue;  // no measure here of how long bulk takes
    const auto bar = BarOf(message);
    const auto held = held_.find(message);
    base::Time until = held == held_.end() ? *stopped_ : std::min(held->second, *stopped_);
    if (!bar || until <= *bar) continue;
    if (slowly_decided_ && message.kind != DueMessage::kAggregate) until = *slowly_decided_;
    const auto ms = static_cast<std::uint64_t>((until - *bar).ns / 1'000'000);
    if (ms == 0) continue;
    const bool aggregate = message.kind == DueMessage::kAggregate;
    std::uint64_t& figure = aggregate ? late[due.author].aggregate : late[due.author].own;
    figure = std::max(figure, ms);
  }
  for (auto& [author, figures] : late) {
    figures.aggregate -= std::min(figures.aggregate, figures.own);
  }
  return late;
}

std::optional<std::size_t> LateWatch::Slowest() const {
  const auto quickest = Quickest();
  if (!quickest) return std::nullopt;
  const base::Time bar = options_.opened + base::Duration{Grace(*quickest).ns / 2};
  std::optional<std::size_t> slowest;
  base::Time latest = bar;
  for (const auto& [message, due] : due_) {
    if (message.kind != DueMessage::kPart) continue;
    const auto held = held_.find(message);
    if (held == held_.end()) return due.author;
    if (held->second <= latest) continue;
    latest = held->second;
    slowest = due.author;
  }
  return slowest;
}

void LateFigures::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, own, aggregate); }

void LateWatch::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, options_, due_, lacking_, held_, results_ended_, stopped_, slowly_decided_,
               stood_still_);
}

}  // namespace ostraka::protocol
