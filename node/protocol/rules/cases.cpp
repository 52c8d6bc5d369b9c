#include "node/protocol/rules/cases.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "node/base/planted.h"
#include "node/protocol/rules/standing.h"
#include "node/wire/limits.h"

namespace ostraka::protocol {
namespace {

using wire::CaseId;
using wire::CaseKind;
using wire::Cause;
using wire::Naming;
using wire::Reason;
using wire::RemovalKind;
using wire::Verdict;

std::size_t Count(const Case& open, Verdict verdict) {
  return static_cast<std::size_t>(
      std::count_if(open.ballots.begin(), open.ballots.end(),
                    [&](const Case::Ballot& ballot) { return ballot.verdict == verdict; }));
}

bool VotedFor(const Case& open, const PeerId& voter, Verdict verdict) {
  return std::any_of(open.ballots.begin(), open.ballots.end(), [&](const Case::Ballot& ballot) {
    return ballot.voter == voter && ballot.verdict == verdict;
  });
}

// Ballots that find against the target.
std::size_t CountGuilty(const Case& open) {
  return Count(open, Verdict::kGuilty) + Count(open, Verdict::kTwice);
}

// Faults among the members that can know of the case.
std::uint32_t BoundOf(const Case& open, const Block& head) {
  return std::min(open.fault_bound, FaultBound(head.thresholds));
}

// Faults among the voters: of two parties one is at fault, and a member unless it has left.
std::uint32_t FaultsAmongVoters(const Case& open, const Block& head) {
  const std::uint32_t faults = BoundOf(open, head);
  const bool two_parties = open.id.kind != CaseKind::kCover &&
                           IsMember(head.members, open.id.target) &&
                           IsMember(head.members, open.id.accuser);
  return two_parties && faults > 0 ? faults - 1 : faults;
}

// True iff this number of ballots for one verdict decides the case. Never those of faulty members
// alone.
bool IsEnough(const Case& open, const Block& head, std::size_t ballots) {
  switch (open.id.kind) {
    case CaseKind::kGradient:
      return 2 * ballots > VotersIn(open, head).size() && ballots > FaultsAmongVoters(open, head);
    case CaseKind::kNumbers:
      return ballots >= DecidingBallots(BoundOf(open, head), VotersIn(open, head).size());
    case CaseKind::kCover:
      return ballots > BoundOf(open, head);
  }
  return false;
}

// Whether so many ballots of kTwice would ban a target: not those of liars alone.
bool BansAsTwice(const Case& open, const Block& head, std::size_t ballots) {
  return IsEnough(open, head, ballots) && ballots > BoundOf(open, head);
}

bool IsFoundTwice(const Case& open, const Block& head) {
  return BansAsTwice(open, head, Count(open, Verdict::kTwice));
}

// The ballots that are still to come could make it twice. [If the first majority decided, friends
// of a cheat could vote guilty before the others have looked at more than one of its steps.]
bool MayBecomeTwice(const Case& open, const Block& head) {
  const std::vector<PeerId> voters = VotersIn(open, head);
  const auto to_come = std::count_if(voters.begin(), voters.end(),
                                     [&](const PeerId& voter) { return !HasVoted(open, voter); });
  return BansAsTwice(open, head, Count(open, Verdict::kTwice) + static_cast<std::size_t>(to_come));
}

// The first step in which it takes part is the one after.
bool WasAdmittedSince(std::uint64_t step, const PeerId& member, const Block& head) {
  if (IsMember(head.joined, member)) return true;
  const Standing* standing = StandingOf(head.standings, member);
  if (standing == nullptr) return false;
  const std::uint64_t admitted = std::max(standing->returned_step, standing->came_step);
  return admitted > 0 && admitted >= step;
}

// Members that took no part in the disputed step hold no data about it, so they abstain. Their
// ballots say so for as long as the case is open. [With those that the block of the step itself
// admitted among the voters, three newcomers of eight left a liar undecided, and its honest accuser
// was dropped.]
void ExcuseJoined(Case& open, const Block& head) {
  for (const PeerId& member : head.members) {
    if (!WasAdmittedSince(open.id.step, member, head)) continue;
    if (IsParty(open, member) || HasVoted(open, member)) continue;
    open.ballots.push_back({member, Verdict::kAbstain});
  }
}

// True iff a case that stayed open says something about a party. Of a gradient: an honest voter
// found the target innocent. [Half of the voters were started again, and had lost the step that the
// case was about: no majority came, and the honest accuser of a liar lost its place. When ballots
// were counted alone, two friends of the liar voted in place of one that had been started again.]
// Else: the honest members that hold the data could have decided it by themselves.
bool CostsAPlace(const Case& open, const Block& head) {
  const std::size_t faulty = FaultsAmongVoters(open, head);
  if (open.id.kind == CaseKind::kGradient) return Count(open, Verdict::kInnocent) > faulty;
  const std::size_t knowing = VotersIn(open, head).size();
  return IsEnough(open, head, knowing > faulty ? knowing - faulty : 0);
}

// --- reasons ------------------------------------------------------------------------------------

Reason WithBallots(Reason reason, const Case& open, std::size_t ballots, const Block& head) {
  reason.count = ballots;
  reason.of = static_cast<std::uint32_t>(VotersIn(open, head).size());
  return reason;
}

Reason GuiltyReason(const Case& open, const Block& head) {
  const CaseId& id = open.id;
  const Cause cause = id.kind == CaseKind::kGradient  ? Cause::kFalseGradient
                      : id.kind == CaseKind::kNumbers ? Cause::kFalseNumbers
                                                      : Cause::kHidNumbers;
  return WithBallots({.cause = cause, .other = id.accuser, .step = id.step, .part = id.column},
                     open, CountGuilty(open), head);
}

Reason InnocentReason(const Case& open, const Block& head) {
  const CaseId& id = open.id;
  const bool gradient = id.kind == CaseKind::kGradient;
  const Cause cause = gradient ? Cause::kFalseAccusation : Cause::kFalseNaming;
  return WithBallots({.cause = cause, .other = id.target, .step = id.step, .part = id.column}, open,
                     Count(open, Verdict::kInnocent), head);
}

Reason UndecidedReason(const Case& open) {
  const CaseId& id = open.id;
  Reason reason{.step = id.step, .part = id.column, .count = BlocksOf(id.kind)};
  switch (id.kind) {
    case CaseKind::kGradient:
      reason.cause = Cause::kUndecidedAccusation;
      reason.other = id.target;
      break;
    case CaseKind::kNumbers:
      reason.cause = Cause::kUnshownNaming;
      reason.other = id.target;
      break;
    case CaseKind::kCover:
      reason.cause = Cause::kUnshownCover;
      reason.other = id.accuser;
      break;
  }
  return reason;
}

// The member that loses by the ruling; nullopt: nobody.
std::optional<PeerId> LoserOf(const Case& open, Ruling ruling) {
  if (ruling == Ruling::kGuilty) return open.id.target;
  if (ruling == Ruling::kInnocent && open.id.kind != CaseKind::kCover) return open.id.accuser;
  return std::nullopt;
}

// Which check of the owner's column failed in the head's step.
ColumnFate FailedCheck(const PeerId& owner, const Block& head) {
  for (std::size_t j = 0; j < std::min(head.aggregated.size(), head.columns.size()); ++j) {
    if (head.aggregated[j].owner == owner && head.columns[j] == ColumnFate::kSizeCheck) {
      return ColumnFate::kSizeCheck;
    }
  }
  return ColumnFate::kSumCheck;
}

// --- who loses a case ---------------------------------------------------------------------------

// Where gradients are equal to the bit, one flipped bit of an honest machine is as false as a lie,
// in a gradient, in a part after it was sent, or in the check of others. So a key loses its place
// for a first one, and is banned for another [a cheat that lies in one of any five steps is banned
// at its second conviction, a thousand steps later]. To overlook a liar, which a cover case is
// about, is no flipped bit: numbers that differ do not become equal by chance.
void Lose(const PeerId& loser, const Case& open, const Block& head, bool may_be_chance,
          Reason reason, Docket& docket) {
  const bool again = HasErredBefore(
      head, loser, loser == open.id.target ? std::optional(open.id.step) : std::nullopt);
  if (may_be_chance && open.id.kind != CaseKind::kCover && !again) {
    reason.first_fault = true;
    docket.Suspend(loser, reason);
  } else {
    docket.Ban(loser, RemovalKind::kVerdict, reason);
  }
}

// --- what opens a case --------------------------------------------------------------------------

// One whose accuser has left protects nobody: its target is in role again.
bool InGradientCase(const std::vector<Case>& cases, const Block& head, const PeerId& peer) {
  return std::any_of(cases.begin(), cases.end(), [&](const Case& open) {
    return open.id.kind == CaseKind::kGradient && IsParty(open, peer) &&
           IsMember(head.members, open.id.accuser);
  });
}

// The first step from `step` on with which another gradient case may begin; nullopt: none is near.
std::optional<std::uint64_t> BeginsIn(std::uint64_t step, const std::vector<Case>& open,
                                      const std::vector<Case>& opened) {
  if (base::Planted(base::Bug::kCasesAtOnce)) return step;
  for (std::uint64_t begins = step; begins <= step + kLongestCaseWait; ++begins) {
    const auto begins_then = [begins](const Case& other) {
      return other.id.kind == CaseKind::kGradient && other.opened_step == begins;
    };
    const auto taken = std::count_if(open.begin(), open.end(), begins_then) +
                       std::count_if(opened.begin(), opened.end(), begins_then);
    if (static_cast<std::size_t>(taken) < kGradientCasesABlock) return begins;
  }
  return std::nullopt;
}

// Only a validator may accuse, only its target, only in the step it was drawn for. In the order of
// the draw, which nobody chooses, cases begin.
std::vector<Case> OfAccusations(const SealedStep& sealed, const Block& head,
                                const std::vector<Case>& open, const Docket& docket) {
  std::vector<Case> opened;
  const auto is_free = [&](const PeerId& peer) {
    return !InGradientCase(open, head, peer) && !InGradientCase(opened, head, peer);
  };
  for (const Assignment& assignment : sealed.roles.validators) {
    const auto proof = sealed.proofs.find(assignment.validator);
    if (proof == sealed.proofs.end() || !proof->second.accusation) continue;
    const wire::Accusation& accusation = *proof->second.accusation;
    if (accusation.target != assignment.target || accusation.step != assignment.step) continue;
    if (!docket.Stays(assignment.validator) || !docket.Answers(assignment.target)) continue;
    if (!is_free(assignment.validator) || !is_free(assignment.target)) continue;
    const auto begins = BeginsIn(sealed.step, open, opened);
    if (!begins) break;
    opened.push_back({.id = {.kind = CaseKind::kGradient,
                             .accuser = assignment.validator,
                             .target = assignment.target,
                             .step = assignment.step,
                             .column = 0},
                      .opened_step = *begins,
                      .ballots = {},
                      .covering = assignment.covering,
                      .fault_bound = FaultBound(head.thresholds)});
  }
  return opened;
}

std::vector<Case> OfNamings(const SealedStep& sealed, const Block& head, const Docket& docket) {
  std::vector<Case> opened;
  for (const auto& [namer, naming] : NamingsInOrder(sealed, head)) {
    if (!docket.Stays(namer) || !docket.Stays(naming.target)) continue;
    opened.push_back({.id = {.kind = CaseKind::kNumbers,
                             .accuser = namer,
                             .target = naming.target,
                             .step = naming.step,
                             .column = naming.column},
                      .opened_step = sealed.step,
                      .ballots = {},
                      .covering = {},
                      .fault_bound = FaultBound(head.thresholds)});
  }
  return opened;
}

std::vector<Case> OfConvictions(const SealedStep& sealed, const Block& head,
                                const std::vector<Case>& convicted, const Docket& docket) {
  std::vector<Case> opened;
  for (const Case& ended : convicted) {
    for (const wire::Covering& covering : ended.covering) {
      if (!docket.Stays(covering.owner)) continue;
      opened.push_back({.id = {.kind = CaseKind::kCover,
                               .accuser = ended.id.target,
                               .target = covering.owner,
                               .step = ended.id.step,
                               .column = covering.column},
                        .opened_step = sealed.step,
                        .ballots = {},
                        .covering = {},
                        .fault_bound = BoundOf(ended, head)});
      for (const Case::Ballot& ballot : ended.ballots) {  // who knew nothing of that step then
        const bool excused = ballot.verdict == Verdict::kAbstain && ballot.voter != covering.owner;
        if (excused) opened.back().ballots.push_back(ballot);
      }
    }
  }
  return opened;
}

}  // namespace

std::vector<PeerId> VotersIn(const Case& open, const Block& head) {
  std::vector<PeerId> voters;
  for (const PeerId& member : head.members) {
    const bool knows = !VotedFor(open, member, Verdict::kAbstain);
    if (knows && !IsParty(open, member)) voters.push_back(member);
  }
  return voters;
}

bool HasBegun(const Case& open, const Block& head) { return open.opened_step <= head.step; }

std::vector<const Case*> CasesInWork(const Block& head, bool exact) {
  const std::uint64_t blocks = exact ? kLookBlocks : 1;
  std::vector<const Case*> in_work;
  for (const Case& open : head.cases) {
    if (open.id.kind != CaseKind::kGradient || !HasBegun(open, head)) continue;
    if (head.step < open.opened_step + blocks) in_work.push_back(&open);
  }
  return in_work;
}

bool HasVoted(const Case& open, const PeerId& voter) {
  return std::any_of(open.ballots.begin(), open.ballots.end(),
                     [&](const Case::Ballot& ballot) { return ballot.voter == voter; });
}

LookRange LooksIn(const Manifest& manifest) {
  if (manifest.compute_profile != kExact) return {};
  return {.before = manifest.training.inner.steps == 1 ? 4U : 0U, .after = 2};
}

std::uint64_t BlocksOf(CaseKind kind) {
  switch (kind) {
    case CaseKind::kGradient:
      return kGradientCaseBlocks;
    case CaseKind::kNumbers:
      return kNumbersCaseBlocks;
    case CaseKind::kCover:
      return kCoverCaseBlocks;
  }
  return 0;
}

bool IsParty(const Case& open, const PeerId& peer) {
  if (open.id.target == peer) return true;
  return open.id.kind != CaseKind::kCover && open.id.accuser == peer;
}

std::vector<Case> CountBallots(const SealedStep& sealed, const Block& head) {
  std::vector<Case> cases = head.cases;
  std::map<CaseId, Case*> by_id;
  for (Case& open : cases) {
    std::erase_if(open.ballots, [&](const Case::Ballot& ballot) {
      return !IsMember(head.members, ballot.voter);
    });
    ExcuseJoined(open, head);
    by_id[open.id] = &open;
  }
  for (const auto& [voter, proof] : sealed.proofs) {
    if (!IsMember(head.members, voter)) continue;
    for (const wire::Vote& vote : proof.votes) {
      const auto about = by_id.find(vote.about);
      if (vote.verdict == Verdict::kAbstain || about == by_id.end()) continue;
      Case& open = *about->second;
      if (IsParty(open, voter) || HasVoted(open, voter)) continue;
      open.ballots.push_back({voter, vote.verdict});
    }
  }
  return cases;
}

Ruling RuleOn(const Case& open, const Block& head, std::uint64_t step, bool exact) {
  const bool last = step >= open.opened_step + BlocksOf(open.id.kind);
  if (IsEnough(open, head, CountGuilty(open))) {
    const bool grave =
        IsFoundTwice(open, head) || HasErredBefore(head, open.id.target, open.id.step);
    const bool waits = exact && open.id.kind == CaseKind::kGradient && !grave && !last &&
                       IsMember(head.members, open.id.accuser) && MayBecomeTwice(open, head);
    return waits ? Ruling::kPending : Ruling::kGuilty;
  }
  if (IsEnough(open, head, Count(open, Verdict::kInnocent))) return Ruling::kInnocent;
  return last ? Ruling::kUndecided : Ruling::kPending;
}

std::vector<RuledCase> RuledCases(const SealedStep& sealed, const Block& head, bool exact) {
  std::vector<RuledCase> ruled;
  for (Case& open : CountBallots(sealed, head)) {
    const Ruling ruling = RuleOn(open, head, sealed.step, exact);
    const auto loser = LoserOf(open, ruling);
    if (!loser) continue;
    const auto voters = static_cast<std::uint32_t>(VotersIn(open, head).size());
    for (auto& [voter, verdict] : open.ballots) {
      if (verdict == Verdict::kTwice) verdict = Verdict::kGuilty;
    }
    ruled.push_back({*loser, ruling == Ruling::kGuilty ? Verdict::kGuilty : Verdict::kInnocent,
                     std::move(open.ballots), voters});
  }
  return ruled;
}

std::uint32_t DecidingBallots(std::uint32_t faults, std::size_t voters) {
  // In the smallest memberships the honest voters are no more than the faults.
  return std::max(1U, voters >= 2 * std::size_t{faults} ? faults + 1 : faults);
}

bool NamingIsInOrder(const PeerId& namer, const Naming& naming, const Block& head) {
  if (naming.step != head.step || naming.column >= head.aggregated.size()) return false;
  const Block::Column& column = head.aggregated[naming.column];
  return column.owner == namer && naming.target != namer &&
         IsMember(column.senders, naming.target) && IsMember(head.proven, naming.target);
}

std::map<PeerId, Naming> NamingsInOrder(const SealedStep& sealed, const Block& head) {
  std::map<PeerId, Naming> namings;
  for (const auto& [namer, proof] : sealed.proofs) {
    if (!proof.naming || !IsMember(head.members, namer)) continue;
    if (NamingIsInOrder(namer, *proof.naming, head)) namings.emplace(namer, *proof.naming);
  }
  return namings;
}

std::vector<wire::Covering> CoveringOf(const PeerId& worker, const Block& head,
                                       const std::map<PeerId, Naming>& namings) {
  std::vector<wire::Covering> covering;
  const std::size_t columns = std::min(head.aggregated.size(), head.columns.size());
  for (std::size_t j = 0; j < columns; ++j) {
    const Block::Column& column = head.aggregated[j];
    if (head.columns[j] != ColumnFate::kApplied || column.owner == worker) continue;
    if (!IsMember(column.senders, worker) || namings.contains(column.owner)) continue;
    covering.push_back({static_cast<std::uint32_t>(j), column.owner});
  }
  return covering;
}

std::vector<Case> OpenCases(const SealedStep& sealed, const Block& head,
                            const std::vector<Case>& open, const std::vector<Case>& convicted,
                            const Docket& docket) {
  std::vector<Case> opened;
  for (std::vector<Case> group :
       {OfAccusations(sealed, head, open, docket), OfNamings(sealed, head, docket),
        OfConvictions(sealed, head, convicted, docket)}) {
    std::sort(group.begin(), group.end(), [](const Case& a, const Case& b) { return a.id < b.id; });
    for (Case& one : group) {
      if (open.size() + opened.size() >= wire::kMaxCases) return opened;
      ExcuseJoined(one, head);
      opened.push_back(std::move(one));
    }
  }
  return opened;
}

void RuleOnCases(const std::vector<Case>& cases, const Block& head, std::uint64_t step,
                 const Manifest& manifest, Docket& docket) {
  const bool exact = manifest.compute_profile == kExact;
  for (const Case& open : cases) {
    const Ruling ruling = RuleOn(open, head, step, exact);
    const auto loser = LoserOf(open, ruling);
    if (!loser) continue;
    const bool guilty = ruling == Ruling::kGuilty;
    const bool twice = guilty && IsFoundTwice(open, head);
    Lose(*loser, open, head, exact && !twice,
         guilty ? GuiltyReason(open, head) : InnocentReason(open, head), docket);
  }
  docket.EndPass();
  for (const Case& open : cases) {
    if (RuleOn(open, head, step, exact) != Ruling::kUndecided || !docket.Stays(open.id.target))
      continue;
    if (!CostsAPlace(open, head)) continue;
    const bool cover = open.id.kind == CaseKind::kCover;
    docket.Drop(cover ? open.id.target : open.id.accuser, UndecidedReason(open));
  }
  docket.EndPass();
}

void DropSilentOwers(const SealedStep& sealed, const Block& head, Docket& docket) {
  const auto namings = NamingsInOrder(sealed, head);
  for (const PeerId& owner : head.owing) {
    if (!docket.Stays(owner) || namings.contains(owner)) continue;
    docket.Drop(owner, {.cause = Cause::kNamedNobody,
                        .step = head.step,
                        .count = static_cast<std::uint64_t>(FailedCheck(owner, head))});
  }
  docket.EndPass();
}

}  // namespace ostraka::protocol
