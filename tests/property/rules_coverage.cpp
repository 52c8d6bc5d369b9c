#include "tests/property/rules_coverage.h"

#include <algorithm>

#include "node/protocol/ground/roles.h"
#include "node/protocol/rules/cases.h"
#include "node/wire/codec.h"
#include "node/wire/limits.h"
#include "tests/property/world/admission_coverage.h"

namespace ostraka::protocol {
namespace {

using wire::Block;
using wire::CaseKind;

// A piece of a removal's reason, and the name of the situation.
struct Reason {
  const char* text;
  const char* name;
};
constexpr Reason kReasons[] = {
    {"its COMMIT did not come", "removal: COMMIT absent"},
    {"its AGG did not come", "removal: AGG absent"},
    {"its REVEAL did not come", "removal: REVEAL absent"},
    {"its PROOF did not come", "removal: PROOF absent"},
    {"signed two different COMMITs", "removal: two COMMITs"},
    {"signed two different AGGs", "removal: two AGGs"},
    {"signed two different REVEALs", "removal: two REVEALs"},
    {"signed two different PROOFs", "removal: two PROOFs"},
    {"its COMMIT is malformed", "removal: malformed COMMIT"},
    {"its AGG is malformed", "removal: malformed AGG"},
    {"its PROOF is malformed", "removal: malformed PROOF"},
    {"names other parameters", "removal: other parameters"},
    {"does not open its COMMIT", "removal: false REVEAL"},
    {"no worker of the step", "removal: AGG with a non-worker"},
    {"impossible numbers", "removal: impossible numbers"},
    {"does not follow from its batch", "removal: guilty of its gradient"},
    {"do not follow from what it sent:", "removal: guilty of its numbers"},
    {"it hid that the numbers", "removal: guilty of covering"},
    {"falsely of step", "removal: false accuser"},
    {"falsely of part", "removal: false namer"},
    {"found no majority", "removal: undecided gradient case"},
    {"did not show the part", "removal: undecided numbers case"},
    {"of the convicted", "removal: undecided cover case"},
    {"failed the sum check", "removal: owed a name after V2"},
    {"failed the size check", "removal: owed a name after the size check"},
    {"columns by its own word", "removal: third void"},
    {"members miss it", "removal: withheld its aggregate from many"},
    {"withheld its echo", "removal: silent"},
    {"echoed without what", "removal: hasty"},
    {"echoed what it did not show", "removal: unshown"},
    {"let the others wait", "removal: slow"},
    {"which others held in time", "removal: left out a part that others held"},
    {"and from the others, in dispute", "removal: withheld a part or result in dispute"},
    {"which others passed to it", "removal: claims to miss what others held"},
    {"more than can be at fault", "removal: in too many disputes"},
};

constexpr const char* kOthers[] = {
    "removal: inline evidence",
    "removal: inline evidence against a member that had left",
    "removal: guilty of its gradient after it had left",
    "removal: suspended",
    "removal: suspended after it had left",
    "removal: suspended in a numbers case",
    "removal: banned in profile exact/1 for two gradients",
    "removal: banned in profile exact/1 after a suspension",
    "drops forgiven",
    "bans stay when drops are forgiven",
    "more draws than one",
    "no member's column: fewer than three in role",
    "members in quarantine",
    "a quarantined member absent in seal A",
    "a validator drawn",
    "an owner must show a part if the target is convicted",
    "an owner owes a name",
    "case opened: gradient",
    "case opened: numbers",
    "case opened: cover",
    "case opened: gradient of a member that had left",
    "case goes on",
    "case of a gradient goes on without its accuser",
    "a drawn validator or its target is in a numbers case",
    "case of profile exact/1 goes on after a majority found it guilty",
    "case ended without a loser",
    "no room for a case",
    "a ballot struck",
    "a member without a vote",
    "standing: first drop",
    "standing: later drop, barred",
    "standing: first drop at REVEAL, barred",
    "candidate: first",
    "candidate: confirmed again",
    "candidate: gap",
    "alarm: begins",
    "alarm: a validator works",
    "batches: more than the least",
    "batches: as before, of one whose COMMIT is not sealed",
    "leaving: said so",
    "leaving: goes",
    "leaving: stays for a case, a name or a part that it may have to show",
    "leaving: stays as one of three",
    "leaving: dropped meanwhile",
    "leaving: soon after a return, barred",
    "leaving: b is lower than that of all members",
    "refused: barred",
    "refused: banned",
    "dispute: begun",
    "dispute: begun by a late part",
    "dispute: over",
    "lateness: charged",
    "lateness: forgiven a little",
    "lateness: at the allowance",
    "lateness: half of the allowance on return",
    "void: counted",
    "void: forgotten",
    "tau: the manifest's",
    "tau: follows",
    "tau: smallest",
    "tau: largest",
    "tau: stays",
    "Delta: the manifest's",
    "Delta: raised",
    "Delta: ceiling",
    "Delta: stays for want of PROOFs",
    "state root sealed",
    "state root not sealed",
    "closing: the last step that trains",
    "closing: the state is sealed",
    "closing: the state is not sealed",
};

bool Has(const std::vector<PeerId>& list, const PeerId& peer) {
  return std::find(list.begin(), list.end(), peer) != list.end();
}

class Notes {
 public:
  Notes(const Block& head, const Manifest& manifest, const naive::Sealed& sealed,
        const Block& block, Coverage& coverage)
      : head_(head),
        manifest_(manifest),
        block_(block),
        coverage_(coverage),
        proofs_(ProofsOf(sealed)) {
    const std::vector<PeerId> in_role = InRole(head);
    for (std::size_t i = 0; i < head.members.size(); ++i) {
      if (sealed.commits[i].state != naive::Entry::State::kAbsent) continue;
      ++absent_;
      silent_.push_back(head.members[i]);
      If(!Has(in_role, head.members[i]), "a quarantined member absent in seal A");
    }
    If(sealed.reveals.size() > 1, "more draws than one");
  }

  void OfRemovals();
  void OfColumns();
  void OfCases();
  void OfReturns();
  void OfBatches();
  void OfDepartures();
  void OfDisputes();
  void OfLateness();
  void OfNumbers();

 private:
  void If(bool met, const std::string& name) { coverage_.at(name) += met ? 1 : 0; }
  std::uint64_t bound() const { return FaultBound(head_.thresholds); }

  const Block& head_;
  const Manifest& manifest_;
  const Block& block_;
  Coverage& coverage_;
  std::vector<wire::Proof> proofs_;
  std::size_t absent_ = 0;  // COMMITs
  std::vector<PeerId> silent_;
};

void Notes::OfRemovals() {
  std::size_t drops = 0;
  for (const wire::Removal& removal : block_.removals) {
    bool known = false;
    for (const Reason& reason : kReasons) {
      const bool found = wire::TextOf(removal.reason).find(reason.text) != std::string::npos;
      If(found, reason.name);
      known = known || found;
    }
    const bool left = !Has(head_.members, removal.peer);
    const bool verdict = removal.kind == wire::RemovalKind::kVerdict;
    If(!known, "removal: inline evidence");
    If(!known && left, "removal: inline evidence against a member that had left");
    If(verdict && left, "removal: guilty of its gradient after it had left");
    const bool exact = manifest_.compute_profile == kExact;
    const wire::Standing* before = EntryOf(head_.standings, removal.peer);
    const bool erred = before != nullptr && before->erred;
    const bool of_gradient = wire::TextOf(removal.reason).find("its gradient of step") == 0;
    If(exact && verdict && of_gradient && !erred,
       "removal: banned in profile exact/1 for two gradients");
    If(exact && verdict && erred, "removal: banned in profile exact/1 after a suspension");
    if (wire::IsBan(removal.kind)) continue;
    const bool suspended =
        wire::TextOf(removal.reason).find(": a first fault") != std::string::npos;
    If(suspended, "removal: suspended");
    If(suspended && left, "removal: suspended after it had left");
    const bool of_numbers =
        wire::TextOf(removal.reason).find("its numbers for") == 0 ||
        wire::TextOf(removal.reason).find("falsely of part") != std::string::npos;
    If(suspended && of_numbers, "removal: suspended in a numbers case");
    if (suspended) continue;
    ++drops;
    const wire::Standing& standing = *EntryOf(block_.standings, removal.peer);
    const bool at_reveal = wire::TextOf(removal.reason).find("REVEAL") != std::string::npos;
    const bool barred = standing.barred_until == block_.step + 1000;
    If(standing.drops == 1 && !barred, "standing: first drop");
    If(standing.drops > 1 && barred, "standing: later drop, barred");
    If(standing.drops == 1 && at_reveal && barred, "standing: first drop at REVEAL, barred");
  }
  const bool forgiven = absent_ > bound() && drops == 0;
  If(forgiven, "drops forgiven");
  If(forgiven && !block_.removals.empty(), "bans stay when drops are forgiven");
}

void Notes::OfColumns() {
  for (const wire::ColumnFate fate : block_.columns) {
    If(true, std::string("fate: ") + wire::ColumnFateName(fate));
  }
  If(block_.columns.empty(), "no member's column: fewer than three in role");
  If(!QuarantinedPairs(head_).empty(), "members in quarantine");
  If(!block_.owing.empty(), "an owner owes a name");
  If(!block_.drawn.empty(), "a validator drawn");
  for (const wire::Assignment& drawn : block_.drawn) {
    If(!drawn.covering.empty(), "an owner must show a part if the target is convicted");
    for (const wire::Case& open : block_.cases) {
      const bool named = open.id.kind == CaseKind::kNumbers &&
                         (IsParty(open, drawn.validator) || IsParty(open, drawn.target));
      If(named, "a drawn validator or its target is in a numbers case");
    }
  }
}

void Notes::OfCases() {
  for (const wire::Case& open : block_.cases) {
    const bool opened = open.opened_step == block_.step;
    If(opened, std::string("case opened: ") + wire::CaseKindName(open.id.kind));
    const bool left = open.id.kind == CaseKind::kGradient && !Has(head_.members, open.id.target);
    If(opened && left, "case opened: gradient of a member that had left");
    If(!opened, "case goes on");
    const bool of_gradient = open.id.kind == CaseKind::kGradient;
    If(of_gradient && !Has(block_.members, open.id.accuser),
       "case of a gradient goes on without its accuser");
    std::size_t guilty = 0;
    for (const wire::Case::Ballot& ballot : open.ballots) guilty += Condemns(ballot.verdict);
    // At most n - 1 are eligible, so this is a majority whoever has left.
    const bool found = open.id.kind == CaseKind::kGradient && 2 * guilty >= head_.members.size();
    If(!opened && found, "case of profile exact/1 goes on after a majority found it guilty");
    for (const wire::Case::Ballot& ballot : open.ballots) {
      If(ballot.verdict == wire::Verdict::kAbstain, "a member without a vote");
    }
  }
  If(block_.cases.size() == wire::kMaxCases, "no room for a case");
  for (const wire::Case& before : head_.cases) {
    const auto same = [&](const wire::Case& open) { return open.id == before.id; };
    const bool goes_on = std::any_of(block_.cases.begin(), block_.cases.end(), same);
    for (const wire::Case::Ballot& ballot : before.ballots) {
      If(goes_on && !Has(head_.members, ballot.voter), "a ballot struck");
    }
    const bool parties_stay =
        Has(block_.members, before.id.target) &&
        (before.id.kind == CaseKind::kCover || Has(block_.members, before.id.accuser));
    If(!goes_on && parties_stay, "case ended without a loser");
  }
}

void Notes::OfReturns() {
  for (const wire::Candidate& candidate : block_.candidates) {
    If(candidate.since == block_.step, "candidate: first");
    If(candidate.since < block_.step, "candidate: confirmed again");
  }
  for (const wire::Candidate& before : head_.candidates) {
    const bool goes_on = EntryOf(block_.candidates, before.peer) != nullptr;
    If(!goes_on && !Has(block_.joined, before.peer), "candidate: gap");
  }
  for (const wire::Standing& standing : head_.standings) {
    if (Has(head_.members, standing.peer)) continue;
    const auto confirms = [&](const wire::Proof& proof) { return Has(proof.joins, standing.peer); };
    const auto confirmed = std::count_if(proofs_.begin(), proofs_.end(), confirms);
    if (static_cast<std::uint64_t>(confirmed) <= bound()) continue;
    If(standing.banned, "refused: banned");
    If(!standing.banned && block_.step < standing.barred_until, "refused: barred");
  }
}

void Notes::OfBatches() {
  If(block_.alarm_until > head_.alarm_until, "alarm: begins");
  const auto works = [](const Assignment& drawn) { return drawn.works; };
  If(std::any_of(block_.drawn.begin(), block_.drawn.end(), works), "alarm: a validator works");
  for (const wire::BatchCount& count : block_.batch_counts) {
    If(true, "batches: more than the least");
    const auto before = std::find(head_.batch_counts.begin(), head_.batch_counts.end(), count);
    If(before != head_.batch_counts.end() && Has(silent_, count.peer),
       "batches: as before, of one whose COMMIT is not sealed");
  }
}

void Notes::OfDepartures() {
  std::size_t staying = 0;
  for (const PeerId& member : head_.members) staying += Has(block_.members, member) ? 1 : 0;
  for (const PeerId& member : block_.leaving) {
    const bool before = Has(head_.leaving, member);
    If(!before, "leaving: said so");
    If(before && head_.closing == 0 && staying > 3,
       "leaving: stays for a case, a name or a part that it may have to show");
    If(before && head_.closing == 0 && staying == 3, "leaving: stays as one of three");
  }
  for (const PeerId& member : block_.left) {
    If(true, "leaving: goes");
    const wire::Standing* after = EntryOf(block_.standings, member);
    If(after != nullptr && after->barred_until == block_.step + 1000,
       "leaving: soon after a return, barred");
  }
  for (const PeerId& member : head_.leaving) {
    If(!Has(block_.leaving, member) && !Has(block_.left, member), "leaving: dropped meanwhile");
  }
  If(!block_.leaving.empty() && block_.t_s_in_role < block_.thresholds.t_s,
     "leaving: b is lower than that of all members");
}

void Notes::OfDisputes() {
  const auto holds = [](const Block& block, const wire::Dispute& wanted) {
    return std::any_of(block.disputes.begin(), block.disputes.end(), [&](const wire::Dispute& d) {
      return d.worker == wanted.worker && d.aggregator == wanted.aggregator;
    });
  };
  for (const wire::Dispute& dispute : block_.disputes) {
    if (holds(head_, dispute)) continue;
    If(dispute.since == block_.step, "dispute: begun");
    If(dispute.since > block_.step, "dispute: begun by a late part");
  }
  for (const wire::Dispute& before : head_.disputes) {
    const bool stay = Has(block_.members, before.worker) && Has(block_.members, before.aggregator);
    If(stay && !holds(block_, before), "dispute: over");
  }
}

void Notes::OfLateness() {
  const auto part_ms = static_cast<std::uint64_t>(manifest_.part_timeout.ns / 1'000'000);
  const std::uint64_t allowance = 2 * (2 * part_ms + 2 * head_.delta_us / 1000);
  for (const wire::Lateness& late : block_.lateness) {
    const wire::Lateness* before = EntryOf(head_.lateness, late.peer);
    const bool joined = Has(block_.joined, late.peer);
    If(!joined && (before == nullptr || late.ms > before->ms), "lateness: charged");
    If(before != nullptr && late.ms < before->ms, "lateness: forgiven a little");
    If(late.ms == allowance, "lateness: at the allowance");
    If(joined && late.ms == allowance / 2, "lateness: half of the allowance on return");
  }
  for (const wire::Voids& voids : block_.voids) {
    If(voids.last_step == block_.step, "void: counted");
  }
  for (const wire::Voids& before : head_.voids) {
    const bool stays = Has(block_.members, before.peer);
    const wire::Voids* after = EntryOf(block_.voids, before.peer);
    const bool anew = after != nullptr && after->last_step == block_.step && after->count == 1;
    If(stays && (after == nullptr || anew), "void: forgotten");
  }
}

void Notes::OfNumbers() {
  const auto n = static_cast<double>(SeatsIn(manifest_));
  const double least = std::max(64.0, 8 * n) * manifest_.eps;
  const double most = 0x1.0p44 * manifest_.eps / n;
  const auto counts = [](wire::ColumnFate fate) {
    return fate == wire::ColumnFate::kApplied || fate == wire::ColumnFate::kBlind;
  };
  const bool any = std::any_of(block_.columns.begin(), block_.columns.end(), counts);
  const bool automatic = manifest_.tau == 0;
  If(!automatic, "tau: the manifest's");
  If(automatic && !any, "tau: stays");
  If(automatic && any && block_.tau == least, "tau: smallest");
  If(automatic && any && block_.tau == most, "tau: largest");
  If(automatic && any && block_.tau > least && block_.tau < most, "tau: follows");
  const auto floor = static_cast<std::uint64_t>(manifest_.delta.ns / 1000);
  const auto ceiling = static_cast<std::uint64_t>(manifest_.delta_ceiling.ns / 1000);
  If(block_.delta_us == floor, "Delta: the manifest's");
  If(block_.delta_us > floor && block_.delta_us < ceiling, "Delta: raised");
  If(block_.delta_us == ceiling, "Delta: ceiling");
  const bool few = proofs_.size() <= bound();
  If(few && head_.delta_us > floor && block_.delta_us == head_.delta_us,
     "Delta: stays for want of PROOFs");
  If(block_.state_root.has_value(), "state root sealed");
  const auto states = [](const wire::Proof& proof) { return proof.state_root.has_value(); };
  const bool stated = std::any_of(proofs_.begin(), proofs_.end(), states);
  If(stated && !block_.state_root, "state root not sealed");
  If(block_.closing == 1, "closing: the last step that trains");
  If(block_.closing > 1 && block_.state_root, "closing: the state is sealed");
  If(block_.closing > 1 && !block_.state_root, "closing: the state is not sealed");
}

}  // namespace

std::vector<wire::Proof> ProofsOf(const naive::Sealed& sealed) {
  std::vector<wire::Proof> proofs;
  for (const naive::Entry& entry : sealed.proofs) {
    if (entry.state != naive::Entry::State::kPresent) continue;
    auto proof = wire::Decode<wire::Proof>(entry.message->envelope.body);
    if (proof.ok()) proofs.push_back(*std::move(proof));
  }
  return proofs;
}

Coverage NothingYet() {
  Coverage coverage;
  for (const Reason& reason : kReasons) coverage[reason.name] = 0;
  for (const char* name : AdmissionSituations()) coverage[name] = 0;
  for (const char* name : kOthers) coverage[name] = 0;
  for (std::uint8_t fate = 0; fate < wire::kColumnFateCount; ++fate) {
    coverage[std::string("fate: ") + wire::ColumnFateName(static_cast<wire::ColumnFate>(fate))] = 0;
  }
  return coverage;
}

void NoteSituations(const Block& head, const Manifest& manifest, const naive::Sealed& sealed,
                    const Block& block, Coverage& coverage) {
  Notes notes(head, manifest, sealed, block, coverage);
  notes.OfRemovals();
  notes.OfColumns();
  notes.OfCases();
  notes.OfReturns();
  notes.OfBatches();
  notes.OfDepartures();
  notes.OfDisputes();
  notes.OfLateness();
  notes.OfNumbers();
  NoteAdmissions(head, manifest, sealed, block, coverage);
}

}  // namespace ostraka::protocol
