#include "node/protocol/rules/standing.h"

#include <algorithm>
#include <set>

#include "node/base/planted.h"

namespace ostraka::protocol {
namespace {

void Note(Standing& standing, FaultKind fault, bool excused, std::uint64_t step) {
  if (fault == FaultKind::kBan) {
    standing.banned = true;
    return;
  }
  const bool is_first =
      standing.last_drop_step == 0 || step >= standing.last_drop_step + kBarredSteps;
  if (fault == FaultKind::kDrop && excused && is_first) {
    standing.last_drop_step = step;
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
  if (!LeavesTooSoon(standing, step)) return;
  if (base::Planted(base::Bug::kLeavesAreFree)) return;
  ++standing.drops;
  standing.last_drop_step = step;
  standing.barred_until = step + kBarredSteps;
}

// Of a key that nobody knew it is no return, so it may leave as early as it likes.
void NoteAdmission(Standing& standing, const PeerId& peer, std::uint64_t step) {
  if (standing.peer == peer) standing.returned_step = step;
  standing.peer = peer;
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

std::vector<Standing> StandingsAfter(const Block& head, const Removed& removed,
                                     const std::vector<PeerId>& left, const Admitted& admitted,
                                     std::uint64_t step) {
  std::map<PeerId, Standing> standings;
  for (const Standing& standing : head.standings) standings.emplace(standing.peer, standing);
  for (const auto& [peer, fault] : removed.losers) {
    Standing& standing = standings[peer];
    standing.peer = peer;
    Note(standing, fault, removed.excused.contains(peer), step);
  }
  for (const PeerId& peer : left) {
    Standing& standing = standings[peer];
    standing.peer = peer;
    NoteDeparture(standing, step);
  }
  for (const PeerId& peer : admitted.joined) NoteAdmission(standings[peer], peer, step);
  for (const PeerId& peer : admitted.came) {
    standings.at(peer).came_step = step;
    if (base::Planted(base::Bug::kReturnsAreFree)) standings.at(peer).returned_step = 0;
  }
  std::vector<Standing> all;
  for (const auto& [peer, standing] : standings) all.push_back(standing);
  return all;
}

void NoteFirstFaults(const std::vector<wire::Removal>& removals, std::vector<Standing>& standings) {
  for (const wire::Removal& removal : removals) {
    const wire::Reason& reason = removal.reason;
    const bool as_target =
        reason.cause == wire::Cause::kFalseGradient || reason.cause == wire::Cause::kFalseNumbers;
    if (!reason.first_fault || !as_target) continue;
    for (Standing& standing : standings) {
      if (standing.peer == removal.peer && standing.erred_in == 0) {
        standing.erred_in = reason.step + 1;
      }
    }
  }
}

bool HasErredBefore(const Block& head, const PeerId& peer,
                    std::optional<std::uint64_t> as_target_in) {
  const Standing* standing = StandingOf(head.standings, peer);
  if (standing == nullptr || !standing->erred) return false;
  return !as_target_in || standing->erred_in != *as_target_in + 1;
}

bool LeavesTooSoon(const Standing& standing, std::uint64_t step) {
  return standing.returned_step != 0 && step < standing.returned_step + kBarredSteps;
}

std::uint64_t SeatIsKeptUntil(const Standing& standing) {
  return std::max({standing.left_step, standing.last_drop_step, standing.barred_until}) +
         kSeatSteps;
}

bool KeepsSeat(const Standing& standing, std::uint64_t step) {
  if (base::Planted(base::Bug::kSeatsAreForEver)) return true;
  return step < SeatIsKeptUntil(standing);
}

bool MayReturn(const Block& head, const PeerId& peer, std::uint64_t step) {
  if (!IsKey(head, peer) || IsMember(head.members, peer)) return false;
  const Standing& standing = *StandingOf(head.standings, peer);
  return !standing.banned && step >= standing.barred_until && KeepsSeat(standing, step);
}

}  // namespace ostraka::protocol
