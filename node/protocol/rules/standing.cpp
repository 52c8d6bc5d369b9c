#include "node/protocol/rules/standing.h"

#include <algorithm>
#include <set>

namespace ostraka::protocol {
namespace {

void Note(Standing& standing, FaultKind fault, std::uint64_t step) {
  if (fault == FaultKind::kBan) {
    standing.banned = true;
    return;
  }
  // A first silence may be a crash; one that comes after the coin, or again, has to wait.
  if (fault >= FaultKind::kDropAtReveal || standing.drops > 0) {
    standing.barred_until = step + kBarredSteps;
  }
  standing.erred |= fault == FaultKind::kSuspend;
  ++standing.drops;
  standing.last_drop_step = step;
}

void NoteDeparture(Standing& standing, std::uint64_t step) {
  standing.left_step = step;
  if (standing.returned_step == 0 || step >= standing.returned_step + kBarredSteps) return;
  ++standing.drops;
  standing.last_drop_step = step;
  standing.barred_until = step + kBarredSteps;
}

// How many members confirm each peer. Naming it twice is naming it once.
std::map<PeerId, std::size_t> Confirmations(const SealedStep& sealed, const Block& head) {
  std::map<PeerId, std::size_t> confirmations;
  for (const auto& [member, proof] : sealed.proofs) {
    if (!IsMember(head.members, member)) continue;
    const std::set<PeerId> joins(proof.joins.begin(), proof.joins.end());
    for (const PeerId& peer : joins) ++confirmations[peer];
  }
  return confirmations;
}

}  // namespace

const Standing* StandingOf(const std::vector<Standing>& standings, const PeerId& peer) {
  const auto standing = std::find_if(standings.begin(), standings.end(),
                                     [&](const Standing& s) { return s.peer == peer; });
  return standing == standings.end() ? nullptr : &*standing;
}

std::vector<PeerId> KeysOf(const Block& head) {
  std::set<PeerId> keys(head.members.begin(), head.members.end());
  for (const Standing& standing : head.standings) keys.insert(standing.peer);
  return {keys.begin(), keys.end()};
}

bool IsKey(const Block& head, const PeerId& peer) {
  return IsMember(head.members, peer) || StandingOf(head.standings, peer) != nullptr;
}

std::vector<Standing> StandingsAfter(const Block& head, const std::map<PeerId, FaultKind>& losers,
                                     const std::vector<PeerId>& left,
                                     const std::vector<PeerId>& joined, std::uint64_t step) {
  std::map<PeerId, Standing> standings;
  for (const Standing& standing : head.standings) standings.emplace(standing.peer, standing);
  for (const auto& [peer, fault] : losers) {
    Standing& standing = standings[peer];
    standing.peer = peer;
    Note(standing, fault, step);
  }
  for (const PeerId& peer : left) {
    Standing& standing = standings[peer];
    standing.peer = peer;
    NoteDeparture(standing, step);
  }
  for (const PeerId& peer : joined) standings.at(peer).returned_step = step;
  std::vector<Standing> all;
  for (const auto& [peer, standing] : standings) all.push_back(standing);
  return all;
}

bool MayRejoin(const Block& head, const PeerId& peer, std::uint64_t step) {
  if (!IsKey(head, peer) || IsMember(head.members, peer)) return false;
  const Standing& standing = *StandingOf(head.standings, peer);
  return !standing.banned && step >= standing.barred_until;
}

Returns ReturnsAfter(const SealedStep& sealed, const Block& head, const Manifest& manifest,
                     const std::map<PeerId, FaultKind>& losers) {
  Returns returns;
  for (const auto& [peer, confirmations] : Confirmations(sealed, head)) {
    if (confirmations <= FaultBound(head.thresholds) || losers.contains(peer)) continue;
    if (!MayRejoin(head, peer, sealed.step)) continue;
    // The head has exactly those that its own block confirmed: a gap starts again.
    const auto before = std::find_if(head.candidates.begin(), head.candidates.end(),
                                     [&who = peer](const Candidate& c) { return c.peer == who; });
    const std::uint64_t since = before == head.candidates.end() ? sealed.step : before->since;
    if (sealed.step - since + 1 >= manifest.probation) {
      returns.joined.push_back(peer);
    } else {
      returns.candidates.push_back({peer, since, sealed.step});
    }
  }
  return returns;
}

}  // namespace ostraka::protocol
