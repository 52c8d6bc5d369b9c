#include "node/protocol/lasting/reports.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"
#include "node/wire/bitmap.h"

namespace ostraka::protocol {

namespace {

// Those of `named` that are members.
base::Bytes BitmapOfMembers(const std::set<PeerId>& named, const std::vector<PeerId>& members) {
  std::vector<PeerId> senders;
  for (const PeerId& member : named) {
    if (std::binary_search(members.begin(), members.end(), member)) senders.push_back(member);
  }
  return wire::BitmapOf(senders, members);
}

}  // namespace

LateWatch& Reports::WatchLateness(const LateWatch::Options& options) {
  asked_at_.reset();
  return lateness_.emplace(options);
}

void Reports::OnEcho(const PeerId& sender, const wire::Echo& echo, base::Time now) {
  if (!echoes_) return;
  if (sender == self_) return echoes_->OnOwnEcho(echo, now);
  echoes_->OnEcho(sender, echo, now);
}

void Reports::OnAsked(const PeerId& member, base::Time now) {
  if (echoes_) echoes_->OnAsked(member, now);
}

void Reports::OnGate(base::Time now) {
  if (echoes_) echoes_->OnGate(now);
}

void Reports::OnTimer(base::Time set_for, base::Time now) {
  if (lateness_) lateness_->OnTimer(set_for, now);
  if (echoes_) echoes_->OnTimer(set_for, now);
}

std::optional<base::Time> Reports::AskAt(base::Duration delta) const {
  if (!lateness_) return std::nullopt;
  const auto ask = lateness_->AskFrom();
  if (!ask || lateness_->lacking().empty()) return std::nullopt;
  return asked_at_ ? std::max(*ask, *asked_at_ + delta) : *ask;
}

std::set<LateWatch::Message> Reports::TakeOverdue(base::Time now, base::Duration delta) {
  if (!lateness_ || (asked_at_ && now < *asked_at_ + delta)) return {};
  std::set<LateWatch::Message> overdue = lateness_->Overdue(now);
  if (!overdue.empty()) asked_at_ = now;
  return overdue;
}

std::optional<std::size_t> Reports::SlowestSender() const {
  return lateness_ ? lateness_->Slowest() : std::nullopt;
}

void Reports::TakeSeal(const std::vector<PeerId>& members, const Digest& decided, bool slow,
                       base::Time now, const std::function<bool(const Digest&)>& shown) {
  silent_.merge(std::exchange(unheard_, {}));
  if (echoes_) {
    hasty_.merge(echoes_->Hasty(now));
    for (const auto& [member, late] : echoes_->Tardy()) {
      late_[member].own += static_cast<std::uint64_t>(late.ns / 1'000'000);
    }
    unshown_.merge(echoes_->Unshown(decided, now, shown));
    echoes_.reset();
  }
  if (!lateness_) return;
  lateness_->Stop(now);
  lateness_->Decided(now, slow);
  for (const auto& [index, figures] : lateness_->Late()) {
    OSTRAKA_CHECK(index < members.size());
    if (members[index] == self_) continue;  // R3
    late_[members[index]].own += figures.own;
    late_[members[index]].aggregate += figures.aggregate;
  }
  lateness_.reset();
}

void Reports::StateIn(wire::Proof& proof, const std::vector<PeerId>& members,
                      std::uint64_t usual_lag_us) {
  proof.silent = BitmapOfMembers(std::exchange(silent_, {}), members);
  proof.hasty = BitmapOfMembers(std::exchange(hasty_, {}), members);
  proof.unshown = BitmapOfMembers(std::exchange(unshown_, {}), members);
  proof.lag_us = lags_.Microseconds().value_or(usual_lag_us);
  proof.late_ms = LateMsOf(members);
  late_.clear();
}

void Reports::Clear() {
  echoes_.reset();
  lateness_.reset();
  asked_at_.reset();
  unheard_.clear();
  silent_.clear();
  hasty_.clear();
  unshown_.clear();
  late_.clear();
}

// Own figures of all members, then those of their AGGs; empty if nobody was late.
std::vector<std::uint64_t> Reports::LateMsOf(const std::vector<PeerId>& members) const {
  if (late_.empty()) return {};
  const std::size_t n = members.size();
  std::vector<std::uint64_t> stated(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto figures = late_.find(members[i]);
    if (figures == late_.end()) continue;
    stated[i] = figures->second.own;
    stated[n + i] = figures->second.aggregate;
  }
  return stated;
}

void Reports::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, echoes_, lateness_, asked_at_, lags_, unheard_, silent_, hasty_, unshown_,
               late_);
}

}  // namespace ostraka::protocol
