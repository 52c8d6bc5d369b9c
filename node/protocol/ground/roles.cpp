#include "node/protocol/ground/roles.h"

#include <algorithm>
#include <initializer_list>
#include <set>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "crypto/stream.h"
#include "node/base/planted.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/ground/reach.h"

namespace ostraka::protocol {
namespace {

using wire::CaseKind;

Digest RoleKey(const Digest& randomness, std::string_view purpose) {
  return crypto::Hasher(crypto::kDomainRoles)
      .Update(randomness)
      .UpdateSized(base::AsBytes(purpose))
      .Finish();
}

std::vector<PeerId> Shuffled(const std::vector<PeerId>& peers, std::string_view purpose,
                             const Digest& randomness) {
  crypto::Stream stream(purpose, RoleKey(randomness, purpose));
  std::vector<PeerId> shuffled;
  shuffled.reserve(peers.size());
  for (const std::uint32_t i : stream.Permutation(static_cast<std::uint32_t>(peers.size()))) {
    shuffled.push_back(peers[i]);
  }
  return shuffled;
}

// By place in the order that the coin gives to all keys.
std::vector<PeerId> InOwnersOrder(const std::vector<PeerId>& peers, const Digest& randomness) {
  std::vector<std::pair<Digest, PeerId>> places;
  places.reserve(peers.size());
  for (const PeerId& peer : peers) {
    places.emplace_back(
        crypto::Hasher(crypto::kDomainOwners).Update(randomness).Update(peer.view()).Finish(),
        peer);
  }
  std::sort(places.begin(), places.end());
  std::vector<PeerId> order;
  order.reserve(peers.size());
  for (const auto& [place, peer] : places) order.push_back(peer);
  return order;
}

std::vector<PeerId> PoolIn(std::uint32_t version, const Block& head) {
  if (version >= 8) return InRole(head);
  Block before = head;
  before.joined.clear();
  return InRole(before);
}

}  // namespace

bool IsMember(const std::vector<PeerId>& sorted, const PeerId& peer) {
  return std::binary_search(sorted.begin(), sorted.end(), peer);
}

bool Roles::IsWorker(const PeerId& peer) const { return IsMember(workers, peer); }

std::optional<std::uint32_t> Roles::PartOwnedBy(const PeerId& peer) const {
  const auto owner = std::find(owners.begin(), owners.end(), peer);
  if (owner == owners.end()) return std::nullopt;
  return static_cast<std::uint32_t>(owner - owners.begin());
}

std::optional<Assignment> Roles::AssignmentOf(const PeerId& validator) const {
  for (const Assignment& assignment : validators) {
    if (assignment.validator == validator) return assignment;
  }
  return std::nullopt;
}

namespace {

using Pairs = std::vector<std::pair<PeerId, PeerId>>;

Pairs PairsOf(const Block& head, std::initializer_list<CaseKind> kinds) {
  Pairs pairs;
  std::set<PeerId> taken;
  for (const CaseKind kind : kinds) {
    for (const wire::Case& open : head.cases) {
      const PeerId& accuser = open.id.accuser;
      const PeerId& target = open.id.target;
      if (open.id.kind != kind || taken.contains(accuser) || taken.contains(target)) continue;
      if (!IsMember(head.members, accuser) || !IsMember(head.members, target)) continue;
      taken.insert({accuser, target});
      pairs.emplace_back(accuser, target);
    }
  }
  return pairs;
}

Pairs GradientPairs(const Block& head) {
  if (base::Planted(base::Bug::kNamingHides)) return QuarantinedPairs(head);
  return PairsOf(head, {CaseKind::kGradient});
}

// Members in none of the pairs that neither come nor go, by key.
std::vector<PeerId> MembersBut(const Pairs& pairs, const Block& head) {
  std::set<PeerId> quarantined;
  for (const auto& [accuser, target] : pairs) quarantined.insert({accuser, target});
  std::vector<PeerId> others;
  for (const PeerId& member : head.members) {
    const bool comes_or_goes = IsMember(head.leaving, member) || IsMember(head.joined, member);
    if (!quarantined.contains(member) && !comes_or_goes) others.push_back(member);
  }
  return others;
}

}  // namespace

std::vector<std::pair<PeerId, PeerId>> QuarantinedPairs(const Block& head) {
  return PairsOf(head, {CaseKind::kGradient, CaseKind::kNumbers});
}

std::vector<PeerId> InRole(const Block& head) { return MembersBut(QuarantinedPairs(head), head); }

bool MayBeTarget(const Block& head, const PeerId& worker) {
  const Pairs pairs = GradientPairs(head);
  const auto holds = [&](const auto& pair) {
    return pair.first == worker || pair.second == worker;
  };
  if (std::any_of(pairs.begin(), pairs.end(), holds)) return false;
  const auto banned = [&](const wire::Standing& s) { return s.peer == worker && s.banned; };
  return std::none_of(head.standings.begin(), head.standings.end(), banned);
}

std::size_t MembersInView(const Block& head) {
  if (base::Planted(base::Bug::kLeaversCount)) return head.members.size();
  std::size_t in_view = head.members.size() - head.joined.size() - head.leaving.size();
  for (const auto& [accuser, target] : QuarantinedPairs(head)) {
    in_view += IsMember(head.leaving, accuser) ? 1 : 0;
    in_view += IsMember(head.leaving, target) ? 1 : 0;
  }
  return in_view;
}

namespace {

// Faults that members in role must bear of whom so many are known.
std::uint32_t FaultsBut(const Block& head, std::size_t known) {
  const bool all = head.leaving.empty() && head.joined.empty();
  const std::uint32_t t_s = all ? head.thresholds.t_s : head.t_s_in_role;
  const auto rest = static_cast<std::uint32_t>(t_s > known ? t_s - known : 0);
  return std::max(std::min(head.thresholds.t_a, t_s), rest);
}

// How many would validate if no case of kNumbers were open.
std::uint32_t SparedWithoutNamings(const Block& head, std::uint32_t m) {
  const Pairs pairs = GradientPairs(head);
  return SparedValidators(MembersBut(pairs, head).size(), FaultsBut(head, pairs.size()), m);
}

}  // namespace

std::uint32_t FaultsAmongWorkers(const Block& head, std::uint32_t known_faulty) {
  return FaultsBut(head, QuarantinedPairs(head).size() + known_faulty);
}

Digest RandomnessOf(const Digest& run_id, std::uint64_t step,
                    const std::map<PeerId, Digest>& coins) {
  crypto::Hasher hasher(crypto::kDomainRandomness);
  hasher.Update(run_id).UpdateU64(step).UpdateU64(coins.size());
  for (const auto& [peer, coin] : coins) hasher.Update(peer.view()).Update(coin);
  return hasher.Finish();
}

std::vector<Assignment> DrawValidators(const Digest& randomness, const Block& head,
                                       const std::vector<PeerId>& workers_proven,
                                       std::uint64_t next_step, std::uint32_t m,
                                       std::uint32_t alarm) {
  if (next_step < 2) return {};
  const std::vector<PeerId> pool = InRole(head);
  std::vector<PeerId> drawn = Shuffled(pool, "validators", randomness);
  const std::size_t spared = SparedValidators(pool.size(), FaultsAmongWorkers(head, 0), m);
  const bool rings = head.alarm_until > next_step;
  const std::size_t working =
      std::max<std::size_t>(SparedWithoutNamings(head, m), rings ? alarm : 0);
  drawn.resize(std::max(spared, std::min(working, pool.size() / 2)));

  std::vector<PeerId> candidates;
  for (const PeerId& worker : workers_proven) {
    const bool validates = std::find(drawn.begin(), drawn.end(), worker) != drawn.end();
    if (!validates && MayBeTarget(head, worker)) candidates.push_back(worker);
  }
  const std::vector<PeerId> targets = Shuffled(candidates, "targets", randomness);
  const std::uint64_t judged = next_step - (base::Planted(base::Bug::kTargetsBeforeProof) ? 1 : 2);
  std::vector<Assignment> assignments;
  for (std::size_t i = 0; i < drawn.size() && i < targets.size(); ++i) {
    assignments.push_back(
        {.validator = drawn[i], .target = targets[i], .step = judged, .works = i >= spared});
  }
  return assignments;
}

Roles AssignRoles(const Block& head, std::uint64_t dimension) {
  return AssignRolesIn(wire::kProtocolVersion, head, dimension);
}

Roles AssignRolesIn(std::uint32_t version, const Block& head, std::uint64_t dimension) {
  Roles roles;
  if (head.closing > 0) return roles;
  const std::vector<PeerId> pool = PoolIn(version, head);
  std::vector<PeerId> owners;
  for (const PeerId& peer : pool) {
    const bool owns_nothing = version == 7 && IsMember(head.joined, peer);
    if (!owns_nothing && !OnlyDials(head, peer)) owners.push_back(peer);
  }
  // [With three pairs of eight members no step had parts, and liars that had named somebody escaped
  // all validators at once.]
  const bool has_parts = owners.size() >= kFewestOwners;
  const std::vector<PeerId> may_validate = MembersBut(GradientPairs(head), head);
  for (const Assignment& assignment : head.drawn) {
    if (!IsMember(may_validate, assignment.validator)) continue;
    roles.validators.push_back(assignment);
    const bool owns = has_parts && !assignment.works && IsMember(owners, assignment.validator);
    if (!owns) continue;
    const bool is_needed = owners.size() == kFewestOwners;
    roles.validators.back().works = is_needed;
    if (!is_needed) std::erase(owners, assignment.validator);
  }
  if (!has_parts) return roles;
  for (const PeerId& peer : pool) {
    const auto assignment = roles.AssignmentOf(peer);
    if (!assignment || assignment->works) roles.workers.push_back(peer);
  }
  const bool struck_first = base::Planted(base::Bug::kStruckFirst);
  roles.owners = struck_first ? Shuffled(owners, "owners", head.randomness)
                              : InOwnersOrder(owners, head.randomness);
  roles.parts = CutParts(dimension, static_cast<std::uint32_t>(owners.size()));
  return roles;
}

Digest BatchSeed(const Digest& run_id, std::string_view data_source,
                 const Digest& previous_randomness, std::uint64_t step, const PeerId& peer) {
  return crypto::Hasher(crypto::kDomainBatch)
      .Update(run_id)
      .UpdateSized(base::AsBytes(data_source))
      .Update(previous_randomness)
      .UpdateU64(step)
      .Update(peer.view())
      .Finish();
}

Digest DirectionSeed(const Digest& randomness, std::uint64_t step, std::uint32_t part_index) {
  return crypto::Hasher(crypto::kDomainDirection)
      .Update(randomness)
      .UpdateU64(step)
      .UpdateU64(part_index)
      .Finish();
}

}  // namespace ostraka::protocol
