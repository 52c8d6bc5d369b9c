#include "node/protocol/rules/leaving.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "node/base/planted.h"
#include "node/protocol/ground/reach.h"
#include "node/protocol/rules/cases.h"

namespace ostraka::protocol {
namespace {

bool Owns(const std::vector<wire::Covering>& covering, const PeerId& owner) {
  return std::any_of(covering.begin(), covering.end(),
                     [&](const wire::Covering& one) { return one.owner == owner; });
}

// What `peer` did may still cost it something, or its absence others.
bool IsNeeded(const PeerId& peer, const Block& block) {
  if (base::Planted(base::Bug::kNobodyIsNeeded)) return false;
  if (IsMember(block.owing, peer)) return true;
  const auto concerns = [&](const Case& open) {
    return IsParty(open, peer) || Owns(open.covering, peer);
  };
  const auto may_concern = [&](const Assignment& drawn) {
    return drawn.target == peer || Owns(drawn.covering, peer);
  };
  return std::any_of(block.cases.begin(), block.cases.end(), concerns) ||
         std::any_of(block.drawn.begin(), block.drawn.end(), may_concern);
}

// Whether a run without these members still bears a fault, if it ever did, and has enough owners.
bool MayDoWithout(const std::vector<PeerId>& leavers, const Block& head, const Manifest& manifest) {
  const bool bears = GenesisThresholds(manifest).t_s > 0;
  const std::size_t stay = head.members.size() - leavers.size();
  std::size_t owners = 0;
  for (const PeerId& member : ReachableIn(head)) owners += IsMember(leavers, member) ? 0 : 1;
  if (!bears) return owners >= kFewestOwners;
  return owners > kFewestOwners && ThresholdsIn(manifest, stay).t_s > 0;
}

std::size_t MostThatGo(const Block& head) {
  const std::size_t kept = 2 * std::size_t{FaultBound(head.thresholds)} + 1;
  return head.members.size() > kept + 1 ? head.members.size() - kept : 1;
}

std::vector<PeerId> With(std::vector<PeerId> peers, const PeerId& one) {
  peers.insert(std::upper_bound(peers.begin(), peers.end(), one), one);
  return peers;
}

}  // namespace

std::vector<PeerId> LeaversIn(const SealedStep& sealed, const Block& head,
                              const Manifest& manifest) {
  std::vector<PeerId> leavers = head.leaving;
  for (const auto& [member, commit] : sealed.commits) {
    if (!commit.leaving || IsMember(head.leaving, member)) continue;
    std::vector<PeerId> more = With(leavers, member);
    if (MayDoWithout(more, head, manifest)) leavers = std::move(more);
  }
  return leavers;
}

std::uint32_t BorneWithout(const PeerId& member, const Block& head, const Manifest& manifest) {
  std::size_t go = 0;
  for (const PeerId& each : head.members) {
    go += each == member || IsMember(head.leaving, each) ? 1 : 0;
  }
  return ThresholdsIn(manifest, head.members.size() - go).t_s;
}

bool MayBeListed(const PeerId& member, const Block& head, const Manifest& manifest) {
  return head.closing == 0 && IsMember(head.members, member) && !IsMember(head.leaving, member) &&
         MayDoWithout(With(head.leaving, member), head, manifest);
}

Block HeadOfTheDraw(const Block& head, std::vector<PeerId> leavers, const Manifest& manifest) {
  Block view = head;
  view.leaving = std::move(leavers);
  view.joined.clear();
  view.t_s_in_role = ThresholdsIn(manifest, MembersInView(view)).t_s;
  return view;
}

std::vector<PeerId> GoingWith(const Block& block, const Block& head,
                              const std::vector<PeerId>& leavers, const Docket& docket) {
  std::vector<PeerId> going;
  if (head.closing > 0) return going;
  const auto stay = static_cast<std::size_t>(
      std::count_if(head.members.begin(), head.members.end(),
                    [&](const PeerId& member) { return docket.Stays(member); }));
  for (const PeerId& leaver : leavers) {
    if (going.size() == MostThatGo(head) || stay <= kFewestOwners + going.size()) break;
    if (!IsMember(head.leaving, leaver) || !docket.Stays(leaver)) continue;
    if (!IsNeeded(leaver, block)) going.push_back(leaver);
  }
  return going;
}

}  // namespace ostraka::protocol
