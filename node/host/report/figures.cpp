#include "node/host/report/figures.h"

#include <algorithm>

#include "node/protocol/rules/standing.h"

namespace ostraka::host {
namespace {

using protocol::IsMember;
using protocol::StandingOf;

bool IsBarred(const wire::Standing* standing, const wire::Block& block) {
  return standing != nullptr && wire::HeightOf(block) < standing->barred_until;
}

Place PlaceOf(const NodeStatus& status) {
  if (status.outcome) return Place::kEnded;
  if (status.block == nullptr) {
    // An unprotected run has no genesis block.
    if (status.met) return status.away.empty() ? Place::kMember : Place::kFollowing;
    return status.progress.phase == "follow" ? Place::kComing : Place::kMeeting;
  }
  const wire::Block& block = *status.block;
  if (IsMember(block.members, status.self)) {
    if (!status.away.empty()) return Place::kFollowing;
    return IsMember(block.leaving, status.self) ? Place::kLeaving : Place::kMember;
  }
  const wire::Standing* standing = StandingOf(block.standings, status.self);
  if (standing == nullptr) return Place::kComing;
  return IsBarred(standing, block) ? Place::kBarred : Place::kFollowing;
}

base::Duration Times(base::Duration each, std::uint64_t steps) {
  // In double: the product may pass 2^63 for an absurdly long run.
  constexpr double kLongest = 1e9;  // thirty years
  const double seconds = static_cast<double>(steps) * each.seconds();
  return base::Milliseconds(static_cast<std::int64_t>(std::min(seconds, kLongest) * 1e3));
}

Figures::Absence AbsenceOf(const NodeStatus& status, const Figures& figures) {
  Figures::Absence absence{.since = {}, .reason = status.away, .may_return = {}, .seconds = {}};
  if (status.block == nullptr || figures.member) return absence;
  const wire::Standing* standing = StandingOf(status.block->standings, status.self);
  if (standing == nullptr) return absence;
  absence.since = HasLeft(*standing) ? standing->left_step : standing->last_drop_step;
  if (figures.place != Place::kBarred) return absence;
  absence.may_return = standing->barred_until;
  if (figures.step_takes) {
    const std::uint64_t steps = standing->barred_until - wire::HeightOf(*status.block);
    absence.seconds = Times(*figures.step_takes, steps).seconds();
  }
  return absence;
}

// The block knows that `peer` is out of the run, and the history has no removal of that.
bool IsUnseen(const RunHistory& history, const wire::Standing& standing) {
  const auto& seen = history.removals();
  return std::none_of(seen.begin(), seen.end(), [&](const PastRemoval& past) {
    return past.removal.peer == standing.peer &&
           (standing.banned ? wire::IsBan(past.removal.kind)
                            : past.removal.step == standing.last_drop_step);
  });
}

std::optional<base::Duration> TimeLeft(const NodeStatus& status, std::uint64_t steps) {
  if (status.outcome || status.recent_step.ns == 0) return std::nullopt;
  return Times(status.recent_step, steps - std::min(status.progress.step, steps));
}

}  // namespace

const char* PlaceName(Place place) {
  switch (place) {
    case Place::kMeeting:
      return "meeting";
    case Place::kComing:
      return "coming";
    case Place::kMember:
      return "member";
    case Place::kLeaving:
      return "leaving";
    case Place::kFollowing:
      return "following";
    case Place::kBarred:
      return "barred";
    case Place::kEnded:
      break;
  }
  return "ended";
}

bool HasLeft(const wire::Standing& standing) {
  // Who leaves soon after a return has that step as its drop, too.
  return standing.left_step > 0 && standing.left_step >= standing.last_drop_step;
}

Figures FiguresOf(const NodeStatus& status, std::uint64_t steps) {
  Figures figures;
  figures.place = PlaceOf(status);
  figures.step = status.progress.step;
  figures.steps = steps;
  figures.member = figures.place != Place::kComing;
  figures.members = status.others.size() + (figures.member ? 1 : 0);
  if (status.block != nullptr) {
    figures.member = IsMember(status.block->members, status.self);
    figures.members = status.block->members.size();
  }
  if (status.outcome) {
    // The machine may halt in the step after the last.
    figures.step = status.block == nullptr ? 0 : wire::TrainedSteps(*status.block);
  }
  if (status.recent_step.ns > 0) figures.step_takes = status.recent_step;
  figures.left = TimeLeft(status, steps);
  const bool works = figures.member && status.away.empty();
  if (works && status.learning.batch_loss) {
    figures.batch = {*status.learning.batch_loss, status.learning.batch_step};
  }
  if (figures.place == Place::kFollowing || figures.place == Place::kBarred) {
    figures.absence = AbsenceOf(status, figures);
  }
  return figures;
}

Outside OutsideOf(const wire::Block& block) {
  Outside outside;
  for (const wire::Standing& standing : block.standings) {
    if (standing.banned) {
      outside.banned.push_back(standing.peer);
    } else if (!IsMember(block.members, standing.peer)) {
      (HasLeft(standing) ? outside.left : outside.dropped).push_back(standing.peer);
    }
  }
  return outside;
}

std::vector<PastRemoval> RemovalsAsOf(const RunHistory& history, const wire::Block* newest) {
  std::vector<PastRemoval> removals(history.removals().begin(), history.removals().end());
  if (newest == nullptr) return removals;
  bool more = false;
  for (const wire::Standing& standing : newest->standings) {
    const bool out = !IsMember(newest->members, standing.peer);
    if (!standing.banned && (!out || HasLeft(standing))) continue;
    if (!IsUnseen(history, standing)) continue;
    const wire::RemovalKind kind =
        standing.banned ? wire::RemovalKind::kVerdict : wire::RemovalKind::kDrop;
    PastRemoval unseen;
    unseen.removal = {standing.peer,
                      kind,
                      standing.banned ? 0 : standing.last_drop_step,
                      {.old_text = "this node was away then: a member that was there knows the "
                                   "reason (`ostraka ledger explain`)"}};
    unseen.seen = false;
    removals.push_back(std::move(unseen));
    more = true;
  }
  if (!more) return removals;
  std::stable_sort(removals.begin(), removals.end(),
                   [](const auto& a, const auto& b) { return a.removal.step < b.removal.step; });
  return removals;
}

}  // namespace ostraka::host
