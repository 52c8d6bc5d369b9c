#include "tests/property/naive_cases.h"

#include <algorithm>

#include "node/wire/limits.h"

namespace ostraka::protocol::naive {
namespace {

using wire::CaseKind;
using wire::RemovalKind;
using wire::Verdict;

// "Parties do not vote." The convicted worker of a cover case is none.
bool IsParty(const Case& open, const PeerId& peer) {
  return peer == open.id.target || (open.id.kind != CaseKind::kCover && peer == open.id.accuser);
}

const Case::Ballot* BallotOf(const Case& open, const PeerId& voter) {
  for (const Case::Ballot& ballot : open.ballots) {
    if (ballot.voter == voter) return &ballot;
  }
  return nullptr;
}

// "A member that was admitted since the step that a case is about has no vote": its entry says
// kAbstain.
void NoteTheAdmitted(Case& open, const Step& step) {
  for (const PeerId& member : step.last->members) {
    std::uint64_t admitted = 0;  // the newest block that did
    for (const wire::Standing& standing : step.last->standings) {
      if (standing.peer != member) continue;
      admitted = std::max(standing.returned_step, standing.came_step);
    }
    const bool before = admitted == 0 || admitted < open.id.step;
    if (before && !Has(step.last->joined, member)) continue;
    if (IsParty(open, member) || BallotOf(open, member) != nullptr) continue;
    open.ballots.push_back({member, Verdict::kAbstain});
  }
}

std::int64_t VotesFor(const Case& open, Verdict verdict) {
  std::int64_t votes = 0;
  for (const Case::Ballot& ballot : open.ballots) votes += ballot.verdict == verdict ? 1 : 0;
  return votes;
}

std::int64_t VotesForGuilty(const Case& open) {
  return VotesFor(open, Verdict::kGuilty) + VotesFor(open, Verdict::kTwice);
}

// "The members that are no party and have not been admitted since the step".
std::int64_t Eligible(const Case& open, const Step& step) {
  std::int64_t eligible = 0;
  for (const PeerId& member : step.last->members) {
    const Case::Ballot* ballot = BallotOf(open, member);
    const bool knows = ballot == nullptr || ballot->verdict != Verdict::kAbstain;
    eligible += knows && !IsParty(open, member) ? 1 : 0;
  }
  return eligible;
}

// "F of a case": of the block before it opened, if that is less than now.
std::int64_t BoundOf(const Case& open, const Step& step) {
  const std::int64_t before = open.fault_bound;
  const std::int64_t now = step.fault_bound;
  return before < now ? before : now;
}

// "One of the two parties is at fault", if both are members.
std::int64_t FaultyVoters(const Case& open, const Step& step) {
  const std::int64_t f = BoundOf(open, step);
  if (open.id.kind == CaseKind::kCover || f == 0) return f;
  return IsMember(step, open.id.target) && IsMember(step, open.id.accuser) ? f - 1 : f;
}

// The column "decided by".
bool Decide(const Case& open, const Step& step, std::int64_t votes) {
  const std::int64_t f = BoundOf(open, step);
  const std::int64_t eligible = Eligible(open, step);
  if (open.id.kind == CaseKind::kGradient) {
    return votes > eligible - votes && votes > FaultyVoters(open, step);
  }
  if (open.id.kind == CaseKind::kCover) return votes >= f + 1;
  const std::int64_t enough = eligible < 2 * f ? f : f + 1;
  return votes >= (enough < 1 ? 1 : enough);
}

std::uint64_t BlocksOf(CaseKind kind) { return kind == CaseKind::kGradient ? 8 : 3; }

// "More than half of the eligible, and more than F, voted twice."
bool MakeTwice(const Case& open, const Step& step, std::int64_t votes) {
  return Decide(open, step, votes) && votes > BoundOf(open, step);
}

// "Two convictions about one step are one fault, of a target."
bool HasErred(const Step& step, const PeerId& peer, const Case& open) {
  for (const wire::Standing& standing : step.last->standings) {
    if (standing.peer != peer || !standing.erred) continue;
    return peer != open.id.target || standing.erred_in != open.id.step + 1;
  }
  return false;
}

// 6, "A first fault": "As long as the votes that are to come could make it twice, the case goes
// on".
bool IsStillLookedInto(const Case& open, const Step& step) {
  if (!IsExact(step) || open.id.kind != CaseKind::kGradient) return false;
  if (step.number >= open.opened_step + 8 || HasErred(step, open.id.target, open)) return false;
  if (!IsMember(step, open.id.accuser)) return false;
  const std::int64_t twice = VotesFor(open, Verdict::kTwice);
  std::int64_t to_come = 0;
  for (const PeerId& member : step.last->members) {
    to_come += IsParty(open, member) || BallotOf(open, member) != nullptr ? 0 : 1;
  }
  return !MakeTwice(open, step, twice) && MakeTwice(open, step, twice + to_come);
}

enum class CaseState { kOpen, kGuilty, kInnocent, kUndecided };
CaseState StateOf(const Case& open, const Step& step) {
  if (Decide(open, step, VotesForGuilty(open))) {
    return IsStillLookedInto(open, step) ? CaseState::kOpen : CaseState::kGuilty;
  }
  if (Decide(open, step, VotesFor(open, Verdict::kInnocent))) return CaseState::kInnocent;
  return step.number >= open.opened_step + BlocksOf(open.id.kind) ? CaseState::kUndecided
                                                                  : CaseState::kOpen;
}

// "An undecided gradient case drops its accuser only if more have voted innocent than there are
// faulty voters, another case only if the honest among the voters could have decided it": the
// members that may vote, less as many as can be at fault among them.
bool CostsAPlace(const Case& open, const Step& step) {
  const std::int64_t eligible = Eligible(open, step);
  const std::int64_t faulty = FaultyVoters(open, step);
  if (open.id.kind == CaseKind::kGradient) return VotesFor(open, Verdict::kInnocent) > faulty;
  return Decide(open, step, eligible > faulty ? eligible - faulty : 0);
}

// --- reasons: docs/protocol/removals.md, "Reasons" ---

std::string PartOf(const Case& open) {
  return "part " + std::to_string(open.id.column) + " of step " + std::to_string(open.id.step);
}

std::string VotesOf(const Case& open, const Step& step, Verdict verdict, const char* word) {
  const bool guilty = verdict == Verdict::kGuilty;
  return std::string(word) + " by " +
         std::to_string(guilty ? VotesForGuilty(open) : VotesFor(open, verdict)) + " of " +
         std::to_string(Eligible(open, step)) + " votes";
}

std::string GuiltyReason(const Case& open, const Step& step) {
  const std::string votes = VotesOf(open, step, Verdict::kGuilty, "guilty");
  const std::string accuser = open.id.accuser.Short();
  if (open.id.kind == CaseKind::kGradient) {
    return "its gradient of step " + std::to_string(open.id.step) +
           " does not follow from its batch: accused by " + accuser + ", " + votes;
  }
  if (open.id.kind == CaseKind::kNumbers) {
    return "its numbers for " + PartOf(open) + " do not follow from what it sent: named by " +
           accuser + ", " + votes;
  }
  return "it hid that the numbers of " + accuser + " for " + PartOf(open) +
         " do not follow from what it was sent: " + votes;
}

std::string InnocentReason(const Case& open, const Step& step) {
  const std::string votes = VotesOf(open, step, Verdict::kInnocent, "innocent");
  const std::string target = open.id.target.Short();
  return open.id.kind == CaseKind::kGradient
             ? "accused " + target + " falsely of step " + std::to_string(open.id.step) + ": " +
                   votes
             : "named " + target + " falsely of " + PartOf(open) + ": " + votes;
}

std::string UndecidedReason(const Case& open) {
  if (open.id.kind == CaseKind::kGradient) {
    return "its accusation of " + open.id.target.Short() + " found no majority in 8 blocks";
  }
  if (open.id.kind == CaseKind::kNumbers) {
    return "it named " + open.id.target.Short() + " for " + PartOf(open) +
           " and did not show the part in 3 blocks";
  }
  return "it did not show " + PartOf(open) + " of the convicted " + open.id.accuser.Short() +
         " in 3 blocks";
}

// --- what opens a case ---

// V1: `namer` names a sender of its own column of the step before, whose numbers are sealed.
const wire::Naming* NamingOf(const Step& step, const PeerId& namer) {
  const auto proof = step.proofs.find(namer);
  if (proof == step.proofs.end() || !proof->second.naming) return nullptr;
  const wire::Naming& naming = *proof->second.naming;
  const Block& last = *step.last;
  if (naming.step != last.step || naming.column >= last.aggregated.size()) return nullptr;
  const Block::Column& column = last.aggregated[naming.column];
  if (column.owner != namer || naming.target == namer) return nullptr;
  if (!Has(column.senders, naming.target) || !Has(last.proven, naming.target)) return nullptr;
  return &naming;
}

Case Opened(const Step& step, wire::CaseId id) {
  return {id, step.number, {}, {}, step.fault_bound};
}

// A party of a gradient case is no party of a second one, as long as its accuser is a member.
bool IsBusy(const Step& step, const std::vector<Case>& cases, const Assignment& drawn) {
  for (const Case& open : cases) {
    if (open.id.kind != CaseKind::kGradient || !IsMember(step, open.id.accuser)) continue;
    if (IsParty(open, drawn.validator) || IsParty(open, drawn.target)) return true;
  }
  return false;
}

// "At most two begin with a block, the others with one of the two blocks after it, in the order of
// the draw. For those that find no room there, nothing follows."
bool FindsRoom(const std::vector<Case>& going_on, const std::vector<Case>& opened, Case& begins) {
  for (int later = 0; later < 3; ++later, ++begins.opened_step) {
    int others = 0;
    for (const std::vector<Case>* cases : {&going_on, &opened}) {
      for (const Case& other : *cases) {
        if (other.id.kind != CaseKind::kGradient) continue;
        others += other.opened_step == begins.opened_step ? 1 : 0;
      }
    }
    if (others < 2) return true;
  }
  return false;
}

// "Only a validator may accuse, only its target, only in that step."
std::vector<Case> OfAccusations(const Step& step, const std::vector<Case>& going_on) {
  std::vector<Case> opened;
  for (const Assignment& drawn : step.roles.validators) {
    const auto proof = step.proofs.find(drawn.validator);
    if (proof == step.proofs.end() || !proof->second.accusation) continue;
    const wire::Accusation& accusation = *proof->second.accusation;
    if (accusation.target != drawn.target || accusation.step != drawn.step) continue;
    if (!StaysBefore(step, kAfterAll, drawn.validator)) continue;
    if (!MayBeBanned(step, drawn.target) || IsBanned(step, drawn.target)) continue;
    if (IsBusy(step, going_on, drawn) || IsBusy(step, opened, drawn)) continue;
    Case begins = Opened(step, {CaseKind::kGradient, drawn.validator, drawn.target, drawn.step, 0});
    if (!FindsRoom(going_on, opened, begins)) continue;
    begins.covering = drawn.covering;
    opened.push_back(begins);
  }
  return opened;
}

std::vector<Case> OfNamings(const Step& step) {
  std::vector<Case> opened;
  for (const PeerId& namer : step.last->members) {
    const wire::Naming* naming = NamingOf(step, namer);
    if (naming == nullptr || !StaysBefore(step, kAfterAll, namer)) continue;
    if (!StaysBefore(step, kAfterAll, naming->target)) continue;
    opened.push_back(
        Opened(step, {CaseKind::kNumbers, namer, naming->target, naming->step, naming->column}));
  }
  return opened;
}

// The row "cover". A member without a vote in the gradient case has none in these either.
std::vector<Case> OfConvictions(const Step& step, const std::vector<Case>& counted) {
  std::vector<Case> opened;
  for (const Case& ended : counted) {
    if (ended.id.kind != CaseKind::kGradient || StateOf(ended, step) != CaseState::kGuilty)
      continue;
    for (const wire::Covering& covering : ended.covering) {
      if (!StaysBefore(step, kAfterAll, covering.owner)) continue;
      Case cover = Opened(step, {CaseKind::kCover, ended.id.target, covering.owner, ended.id.step,
                                 covering.column});
      cover.fault_bound = static_cast<std::uint32_t>(BoundOf(ended, step));
      for (const Case::Ballot& ballot : ended.ballots) {
        if (ballot.verdict != Verdict::kAbstain || ballot.voter == covering.owner) continue;
        cover.ballots.push_back(ballot);
      }
      opened.push_back(cover);
    }
  }
  return opened;
}

// A case goes on while it is undecided in time and its parties stay. Of a cover case that is the
// target; of a gradient case nobody, but a ban must be able to hit its target.
bool GoesOn(const Case& open, const Step& step) {
  if (StateOf(open, step) != CaseState::kOpen) return false;
  const PeerId& target = open.id.target;
  if (open.id.kind == CaseKind::kCover) return StaysBefore(step, kAfterAll, target);
  if (open.id.kind == CaseKind::kNumbers) {
    return StaysBefore(step, kAfterAll, open.id.accuser) && StaysBefore(step, kAfterAll, target);
  }
  return MayBeBanned(step, target) && !IsBanned(step, target);
}

}  // namespace

std::vector<Case> CountVotes(const Step& step) {
  std::vector<Case> cases = step.last->cases;
  for (Case& open : cases) {
    std::vector<Case::Ballot> kept;
    for (const Case::Ballot& ballot : open.ballots) {
      if (IsMember(step, ballot.voter)) kept.push_back(ballot);
    }
    open.ballots = kept;
    NoteTheAdmitted(open, step);
    for (const auto& [voter, proof] : step.proofs) {
      for (const wire::Vote& vote : proof.votes) {
        if (vote.about != open.id || vote.verdict == Verdict::kAbstain) continue;
        if (IsParty(open, voter) || BallotOf(open, voter) != nullptr) continue;
        open.ballots.push_back({voter, vote.verdict});
      }
    }
  }
  return cases;
}

// docs/protocol/removals.md, "A first fault".
void Convict(Step& step, const Case& open, const PeerId& loser, const std::string& reason,
             bool of_more) {
  const bool first = !HasErred(step, loser, open) && !of_more;
  if (IsExact(step) && open.id.kind != CaseKind::kCover && first) {
    const bool is_known =
        WorstOf(step, loser) != nullptr && WorstOf(step, loser)->gravity == Gravity::kSuspension;
    if (loser == open.id.target && !is_known) step.erred_in.emplace(loser, open.id.step);
    Suspend(step, kVerdicts, loser, reason + ": a first fault");
  } else {
    Ban(step, kVerdicts, loser, RemovalKind::kVerdict, reason);
  }
}

void JudgeCases(Step& step, const std::vector<Case>& counted) {
  for (const Case& open : counted) {
    const CaseState state = StateOf(open, step);
    if (state == CaseState::kGuilty) {
      const bool of_more = MakeTwice(open, step, VotesFor(open, Verdict::kTwice));
      Convict(step, open, open.id.target, GuiltyReason(open, step), of_more);
    }
    if (state == CaseState::kInnocent && open.id.kind != CaseKind::kCover) {
      Convict(step, open, open.id.accuser, InnocentReason(open, step), false);
    }
  }
  for (const Case& open : counted) {
    if (StateOf(open, step) != CaseState::kUndecided || !CostsAPlace(open, step)) continue;
    if (!StaysBefore(step, kUndecided, open.id.target)) continue;
    const bool cover = open.id.kind == CaseKind::kCover;
    Drop(step, kUndecided, cover ? open.id.target : open.id.accuser, UndecidedReason(open));
  }
}

// V2: "An owner that owes is dropped in block t+1 if its PROOF_{t+1} names no sender."
void JudgeOwers(Step& step) {
  const Block& last = *step.last;
  for (const PeerId& owner : last.owing) {
    if (!StaysBefore(step, kOwing, owner) || NamingOf(step, owner) != nullptr) continue;
    std::string check = "sum";
    for (std::size_t j = 0; j < last.aggregated.size(); ++j) {
      const bool size = last.columns[j] == wire::ColumnFate::kSizeCheck;
      if (last.aggregated[j].owner == owner && size) check = "size";
    }
    Drop(step, kOwing, owner,
         "its part of step " + std::to_string(last.step) + " failed the " + check +
             " check and it named nobody who lied");
  }
}

std::vector<Case> OpenAfter(const Step& step, const std::vector<Case>& counted) {
  std::vector<Case> cases;
  for (const Case& open : counted) {
    if (GoesOn(open, step)) cases.push_back(open);
  }
  const std::vector<Case> going_on = cases;
  for (std::vector<Case> group :
       {OfAccusations(step, going_on), OfNamings(step), OfConvictions(step, counted)}) {
    std::sort(group.begin(), group.end(), [](const Case& a, const Case& b) { return a.id < b.id; });
    for (Case& opened : group) {
      if (cases.size() >= wire::kMaxCases) return cases;
      NoteTheAdmitted(opened, step);
      cases.push_back(opened);
    }
  }
  return cases;
}

// "The list of owners that must show u's parts."
std::vector<wire::Covering> CoveringOf(const Step& step, const PeerId& worker) {
  std::vector<wire::Covering> covering;
  const Block& last = *step.last;
  for (std::size_t j = 0; j < last.aggregated.size(); ++j) {
    const Block::Column& column = last.aggregated[j];
    if (last.columns[j] != wire::ColumnFate::kApplied || column.owner == worker) continue;
    if (!Has(column.senders, worker) || NamingOf(step, column.owner) != nullptr) continue;
    covering.push_back({static_cast<std::uint32_t>(j), column.owner});
  }
  return covering;
}

}  // namespace ostraka::protocol::naive
