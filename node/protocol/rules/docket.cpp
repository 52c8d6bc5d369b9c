#include "node/protocol/rules/docket.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"

namespace ostraka::protocol {

using wire::Removal;
using wire::RemovalKind;

void NoteFault(SealedFaults& faults, const PeerId& peer, FaultKind kind,
               const wire::Reason& reason) {
  const auto noted = faults.find(peer);
  if (noted != faults.end() && noted->second.kind >= kind) return;
  faults[peer] = {kind, reason};
}

Docket::Docket(std::vector<PeerId> members, std::vector<PeerId> may_be_banned)
    : members_(std::move(members)), may_be_banned_(std::move(may_be_banned)) {}

void Docket::Ban(const PeerId& peer, RemovalKind kind, const wire::Reason& reason) {
  if (!std::binary_search(may_be_banned_.begin(), may_be_banned_.end(), peer)) return;
  Add(peer, {FaultKind::kBan, kind, reason});
}

void Docket::Drop(const PeerId& peer, const wire::Reason& reason, FaultKind kind) {
  if (!std::binary_search(members_.begin(), members_.end(), peer)) return;
  Add(peer, {kind, RemovalKind::kDrop, reason});
}

void Docket::Suspend(const PeerId& peer, const wire::Reason& reason) {
  if (!std::binary_search(may_be_banned_.begin(), may_be_banned_.end(), peer)) return;
  Add(peer, {FaultKind::kSuspend, RemovalKind::kDrop, reason});
}

void Docket::Add(const PeerId& peer, Loss loss) {
  const auto before = losses_.find(peer);
  if (before != losses_.end() && before->second.fault >= loss.fault) return;
  losses_[peer] = std::move(loss);
}

void Docket::ForgiveDrops() {
  std::erase_if(losses_,
                [](const auto& entry) { return entry.second.fault < FaultKind::kSuspend; });
  std::erase_if(lost_, [this](const PeerId& peer) { return !losses_.contains(peer); });
  CheckInvariants();
}

void Docket::EndPass() {
  for (const auto& [peer, loss] : losses_) lost_.insert(peer);
  CheckInvariants();
}

bool Docket::Stays(const PeerId& peer) const {
  return std::binary_search(members_.begin(), members_.end(), peer) && !lost_.contains(peer);
}

bool Docket::Answers(const PeerId& peer) const {
  if (!std::binary_search(may_be_banned_.begin(), may_be_banned_.end(), peer)) return false;
  const auto loss = losses_.find(peer);
  return loss == losses_.end() || loss->second.fault != FaultKind::kBan;
}

std::map<PeerId, FaultKind> Docket::Losers() const {
  std::map<PeerId, FaultKind> losers;
  for (const auto& [peer, loss] : losses_) losers.emplace(peer, loss.fault);
  return losers;
}

std::vector<Removal> Docket::Removals(std::uint64_t step) const {
  std::vector<Removal> removals;
  for (const bool bans : {true, false}) {
    for (const auto& [peer, loss] : losses_) {
      if ((loss.fault == FaultKind::kBan) != bans) continue;
      removals.push_back({peer, loss.kind, step, loss.reason});
    }
  }
  return removals;
}

void Docket::CheckInvariants() const {
  for (const auto& [peer, loss] : losses_) {
    const bool ban = loss.fault == FaultKind::kBan;
    const std::vector<PeerId>& whom = loss.fault >= FaultKind::kSuspend ? may_be_banned_ : members_;
    OSTRAKA_CHECK(std::binary_search(whom.begin(), whom.end(), peer));
    OSTRAKA_CHECK(ban == wire::IsBan(loss.kind));
  }
  for (const PeerId& peer : lost_) OSTRAKA_CHECK(losses_.contains(peer));
}

void Fault::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, kind, reason); }

}  // namespace ostraka::protocol
