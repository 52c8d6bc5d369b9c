#include "sim/check/reroll_checker.h"

#include <algorithm>
#include <string>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"

namespace ostraka::sim {
namespace {

using base::PeerId;

constexpr std::size_t kHeads = 16;  // members are that far apart at most, or catch up

bool Has(const std::vector<PeerId>& peers, const PeerId& peer) {
  return std::find(peers.begin(), peers.end(), peer) != peers.end();
}

// All members by H(coin, key), whoever of them holds a role.
std::vector<PeerId> OrderOf(const wire::Block& head) {
  std::vector<std::pair<base::Digest, PeerId>> places;
  for (const PeerId& member : head.members) {
    crypto::Hasher place(crypto::kDomainOwners);
    places.emplace_back(place.Update(head.randomness).Update(member.view()).Finish(), member);
  }
  std::sort(places.begin(), places.end());
  std::vector<PeerId> order;
  for (const auto& [place, member] : places) order.push_back(member);
  return order;
}

std::vector<PeerId> Only(std::vector<PeerId> peers, const std::vector<PeerId>& kept) {
  std::erase_if(peers, [&](const PeerId& peer) { return !Has(kept, peer); });
  return peers;
}

}  // namespace

base::Status RerollChecker::OnAction(std::uint32_t /*peer*/, const protocol::Action& action) {
  if (const auto* done = Observed<protocol::StepDone>(action)) {
    heads_[HeightOf(*done->block)] = done->block;
    if (heads_.size() > kHeads) heads_.erase(heads_.begin());
  }
  const auto* started = Observed<protocol::StepStarted>(action);
  if (started == nullptr || started->step <= checked_) return base::OkStatus();
  const auto head = heads_.find(started->step);
  if (head == heads_.end()) return base::OkStatus();
  checked_ = started->step;
  return OnRoles(*head->second, started->roles);
}

base::Status RerollChecker::OnRoles(const wire::Block& head, const protocol::Roles& roles) {
  const std::string step = "step " + std::to_string(HeightOf(head));
  for (const PeerId& leaver : head.leaving) {
    if (Has(roles.owners, leaver) || Has(roles.workers, leaver) || roles.AssignmentOf(leaver)) {
      return base::FailedPrecondition(leaver.Short() + " is leaving, and holds a role in " + step);
    }
  }
  if (Only(OrderOf(head), roles.owners) != roles.owners) {
    return base::FailedPrecondition("the owners of " + step +
                                    " do not stand in the order of all members");
  }
  RETURN_IF_ERROR(Compare(head, roles, {}));
  for (const PeerId& member : head.members) {
    std::vector<PeerId> more = head.leaving;
    if (Has(more, member)) continue;
    more.insert(std::upper_bound(more.begin(), more.end(), member), member);
    RETURN_IF_ERROR(Compare(head, roles, std::move(more)));
  }
  return base::OkStatus();
}

base::Status RerollChecker::Compare(const wire::Block& head, const protocol::Roles& roles,
                                    std::vector<PeerId> leaving) const {
  wire::Block other = head;
  other.leaving = std::move(leaving);
  const std::vector<PeerId> owners = protocol::AssignRoles(other, dimension_).owners;
  if (Only(owners, roles.owners) == Only(roles.owners, owners)) return base::OkStatus();
  return base::FailedPrecondition("in step " + std::to_string(HeightOf(head)) +
                                  " the order of owners is another one if " +
                                  std::to_string(other.leaving.size()) +
                                  " members leave, and not " + std::to_string(head.leaving.size()));
}

}  // namespace ostraka::sim
