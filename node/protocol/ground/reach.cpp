#include "node/protocol/ground/reach.h"

#include <algorithm>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/protocol/ground/deadlines.h"
#include "node/protocol/ground/state.h"

namespace ostraka::protocol {
namespace {

Digest PlaceOf(const PeerId& carrier, const PeerId& a, const PeerId& b) {
  const auto [low, high] = std::minmax(a, b);
  return crypto::Hasher(crypto::kDomainCarriers)
      .Update(low.view())
      .Update(high.view())
      .Update(carrier.view())
      .Finish();
}

}  // namespace

bool OnlyDials(const Block& head, const PeerId& peer) {
  const auto of_peer = [&](const Reach& reach) { return reach.peer == peer; };
  const auto reach = std::find_if(head.reach.begin(), head.reach.end(), of_peer);
  return reach != head.reach.end() && reach->only_dials;
}

std::vector<PeerId> ReachableIn(const Block& head) {
  std::vector<PeerId> reachable;
  for (const PeerId& member : head.members) {
    if (!OnlyDials(head, member)) reachable.push_back(member);
  }
  return reachable;
}

std::vector<PeerId> LinkableIn(const Block& head, const PeerId& self) {
  if (!OnlyDials(head, self)) return head.members;
  std::vector<PeerId> linkable;
  bool any = false;
  for (const PeerId& member : head.members) {
    if (member != self && OnlyDials(head, member)) continue;
    linkable.push_back(member);
    any |= member != self;
  }
  return any ? linkable : head.members;
}

std::vector<PeerId> CarriersOf(const Block& head, const PeerId& a, const PeerId& b) {
  std::vector<std::pair<Digest, PeerId>> order;
  for (const PeerId& carrier : ReachableIn(head)) {
    order.emplace_back(PlaceOf(carrier, a, b), carrier);
  }
  std::sort(order.begin(), order.end());
  std::vector<PeerId> carriers;
  for (const auto& [place, carrier] : order) carriers.push_back(carrier);
  return carriers;
}

std::size_t CarriersNeeded(const Block& head) {
  return std::size_t{FaultBound(head.thresholds)} + 1;
}

std::optional<std::string> ReachWarning(const Block& head) {
  const std::size_t reachable = ReachableIn(head).size();
  const std::size_t faults = FaultBound(head.thresholds);
  if (reachable == head.members.size()) return std::nullopt;
  const std::string line = "only " + std::to_string(reachable) + " of " +
                           std::to_string(head.members.size()) + " members can be dialed: ";
  const auto with = [&line](const std::string& danger, std::size_t enough) {
    return line + danger + "; " + std::to_string(enough) +
           " are enough: whoever can should listen (--listen, on a port that the firewall lets in "
           "and the router forwards) and leave out --only-dials";
  };
  if (reachable < kFewestOwners) return with("the run trains nothing", kFewestOwners);
  if (reachable <= faults) {
    return with(
        "colluders may own all columns, and members that only dial may be cut off from each other",
        2 * faults + 1);
  }
  if (reachable < 2 * faults + 1) {
    return with("colluders may own most columns, and leave those of the model untrained",
                2 * faults + 1);
  }
  if (reachable == kFewestOwners) {
    return with(
        "none of these can be spared to validate, so false gradients may stay unseen, and if one "
        "leaves, the run trains nothing",
        faults + kFewestOwners);
  }
  if (reachable < faults + kFewestOwners) {
    return with("if colluders among them leave, the run trains nothing until 3 can",
                faults + kFewestOwners);
  }
  return std::nullopt;
}

bool ListsDialers(const Manifest& manifest) {
  return std::any_of(manifest.members.begin(), manifest.members.end(),
                     [](const Member& member) { return member.only_dials; });
}

bool CountsReach(const Manifest& manifest) { return ListsDialers(manifest) || IsOpen(manifest); }

std::vector<Reach> ReachAtGenesis(const Manifest& manifest) {
  std::vector<Reach> reach;
  for (const Member& member : manifest.members) {
    if (member.only_dials) reach.push_back({member.id, true, 0});
  }
  return reach;
}

Block GenesisHead(const Manifest& manifest) {
  Block head;
  head.genesis = true;
  for (const Member& member : manifest.members) head.members.push_back(member.id);
  head.thresholds = GenesisThresholds(manifest);
  head.peak_t_s = head.thresholds.t_s;
  head.tau = manifest.tau > 0 ? manifest.tau : manifest.tau_initial;
  head.delta_us = static_cast<std::uint64_t>(manifest.delta.ns / 1'000);
  if (manifest.adaptive) head.part_us = PartWaitAtGenesis(manifest);
  head.reach = ReachAtGenesis(manifest);
  return head;
}

std::vector<Reach> ReachAfter(const Block& head, std::uint64_t step,
                              const std::map<PeerId, bool>& only_dials) {
  std::map<PeerId, Reach> all;
  for (const Reach& reach : head.reach) all.emplace(reach.peer, reach);
  for (const auto& [peer, declared] : only_dials) {
    Reach& reach = all.try_emplace(peer, Reach{peer}).first->second;
    if (reach.only_dials == declared) continue;
    if (!declared && step < reach.changes_from) continue;
    if (!declared) reach.changes_from = step + kReachSteps;
    reach.only_dials = declared;
  }
  std::vector<Reach> after;
  for (const auto& [peer, reach] : all) {
    // The rest is what is true of a peer that is not listed.
    if (reach.only_dials || reach.changes_from > step + 1) after.push_back(reach);
  }
  return after;
}

}  // namespace ostraka::protocol
