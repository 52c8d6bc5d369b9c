// What this member does for cases and disputes: it shows and forwards parts, compares the numbers
// of others with them, names who lied to it, and votes.
#include <algorithm>
#include <utility>

#include "node/base/planted.h"
#include "node/protocol/ground/numbers.h"
#include "node/protocol/member/peer_machine.h"
#include "node/protocol/sync/widening.h"
#include "node/wire/bitmap.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

using wire::CaseKind;
using wire::MessageType;
using wire::Phase;
using wire::Verdict;

// --- disputes -----------------------------------------------------------------------------------

std::size_t PeerMachine::DisputesOfWorker(const PeerId& worker) const {
  return static_cast<std::size_t>(
      std::count_if(chain_.head().disputes.begin(), chain_.head().disputes.end(),
                    [&](const Dispute& dispute) { return dispute.worker == worker; }));
}

// True iff the pair's part is here with its COMMIT, and its owner can take it in: no copy with a
// false header is a part held in time. Spoilt parts are the worker's fault, and looked at once.
bool PeerMachine::CanPassOn(const LivePair& pair) {
  if (round_->spoilt_parts.contains(pair.index)) return false;
  const Inbox::Item* commit =
      Usable({CurrentStep(), Phase::kA, MessageType::kCommit, 0, 0}, pair.worker);
  const Inbox::Item* part =
      Usable({CurrentStep(), Phase::kA, MessageType::kPart, 0, pair.column}, pair.worker);
  if (commit == nullptr || part == nullptr) return false;
  if (!PartFault(*commit, *part, pair.column)) return true;
  round_->spoilt_parts.insert(pair.index);
  return false;
}

// What a disputed pair owes each other comes to all; whoever has it in time passes it on. Whether
// the own column is complete does not matter: others may lack what comes late.
void PeerMachine::ForwardDisputed() {
  Round& round = *round_;
  if (now_ > round.forward_until) return;
  for (const LivePair& pair : round.pairs) {
    if (pair.worker == self_ || pair.aggregator == self_) continue;
    if (stage_ == Stage::kCollect && !round.forwarded_parts.contains(pair.index) &&
        CanPassOn(pair)) {
      const Inbox::Item* commit =
          Usable({CurrentStep(), Phase::kA, MessageType::kCommit, 0, 0}, pair.worker);
      const Inbox::Item* part =
          Usable({CurrentStep(), Phase::kA, MessageType::kPart, 0, pair.column}, pair.worker);
      round.forwarded_parts.insert(pair.index);
      // With the COMMIT, without which no part counts: the worker may have kept it from its owner.
      out_->Add(Send{pair.aggregator, commit->message->frame, nullptr});
      out_->Add(Send{pair.aggregator, part->message->frame, part->blob});
    }
    if (stage_ == Stage::kProve && !round.forwarded_results.contains(pair.index) &&
        ResultWanted(pair.column) && round.results[pair.column] != nullptr) {
      round.forwarded_results.insert(pair.index);
      AnswerResult(pair.worker, CurrentStep(), pair.column);
    }
  }
}

// --- V1 -----------------------------------------------------------------------------------------

// What everyone stated of my column against the parts that I hold.
void PeerMachine::StartCrossCheck() {
  Round& round = *round_;
  naming_.reset();
  cross_checking_.reset();
  if (!round.my_part || round.results[*round.my_part] == nullptr) return;
  CrossCheckSpec spec;
  spec.column = ColumnOf(*round.my_part);
  spec.tau = round.sealed.tau;
  for (const auto& [worker, held] : round.held) {
    const auto proof = round.sealed.proofs.find(worker);
    if (proof == round.sealed.proofs.end()) continue;
    if (proof->second.columns.size() != round.sealed.roles.parts.size()) continue;
    const wire::ColumnNumbers& numbers = proof->second.columns[*round.my_part];
    if (!numbers.missing) spec.claims.push_back({worker, held.blob, numbers});
  }
  cross_checking_ = CurrentStep();
  StartJob({.purpose = Purpose::kCrossCheck, .step = CurrentStep()}, std::move(spec));
}

void PeerMachine::OnCrossChecked(const PendingJob& job, const CrossCheckResult& result) {
  if (cross_checking_ != job.step) return;  // steps have passed: too late to name anybody
  cross_checking_.reset();
  const PastStep& past = *chain_.Past(job.step);
  for (const PeerId& liar : result.liars) {
    Suspect(liar, "V1",
            "its sealed numbers of step " + std::to_string(job.step) +
                " do not follow from the part that it sent me");
    // One who is gone already owes no answer, but clears me of having failed the sum myself.
    if (naming_ && (IsMember(chain_.head().members, naming_->target) ||
                    !IsMember(chain_.head().members, liar))) {
      continue;
    }
    for (const Column& column : past.columns) {
      if (past.parts.contains({column.part_index, liar})) {
        naming_ = wire::Naming{liar, job.step, column.part_index};
      }
    }
  }
}

// --- exhibits -----------------------------------------------------------------------------------

PartKey PeerMachine::ExhibitOf(const wire::CaseId& id) {
  return {id.column, id.kind == CaseKind::kCover ? id.accuser : id.target};
}

// True iff this member should vote on the case and lacks the part for it.
bool PeerMachine::ExhibitMissing(const Case& open) const {
  if (open.id.kind == CaseKind::kGradient || my_verdicts_.contains(open.id)) return false;
  if (open.id.accuser == self_ || open.id.target == self_) return false;
  const PastStep* past = chain_.Past(open.id.step);
  if (past == nullptr || open.id.column >= past->columns.size()) return false;
  if (past->columns[open.id.column].result == nullptr) return false;
  const PartKey exhibit = ExhibitOf(open.id);
  return past->proofs.contains(exhibit.author) && !past->parts.contains(exhibit);
}

bool PeerMachine::AwaitsExhibits() const {
  return std::any_of(chain_.head().cases.begin(), chain_.head().cases.end(),
                     [this](const Case& open) { return ExhibitMissing(open); });
}

// From whoever must show it, and from more and more of those that may have seen it: it may have
// been shown to a few, and PROOFs wait for it [with one asked at a time those to whom it was not
// shown were late by n Delta/2].
bool PeerMachine::PullExhibits() {
  bool missing = false;
  for (const Case& open : chain_.head().cases) {
    if (!ExhibitMissing(open)) continue;
    missing = true;
    const PartKey exhibit = ExhibitOf(open.id);
    const PeerId& debtor = open.id.kind == CaseKind::kCover ? open.id.target : open.id.accuser;
    const std::vector<PeerId>& members = chain_.head().members;
    const std::size_t attempt = exhibit_attempts_ % WideningSweep(members.size());
    const auto [first, count] = WideningAt(attempt, members.size());
    std::set<PeerId> sources = {debtor};
    for (std::size_t k = first; k < first + count; ++k) {
      sources.insert(members[(exhibit.column + k) % members.size()]);
    }
    wire::Slot slot = SlotOf(Phase::kA, MessageType::kPull);
    slot.step = open.id.step;
    for (const PeerId& whom : sources) {
      Ask(whom, slot,
          {.kind = wire::PullKind::kPart,
           .type = MessageType::kPart,
           .members = wire::BitmapOf({exhibit.author}, chain_.Past(open.id.step)->members),
           .digests = {},
           .index = exhibit.column});
    }
  }
  exhibit_attempts_ = missing ? exhibit_attempts_ + 1 : 0;
  return missing;
}

void PeerMachine::OnExhibit(const wire::SignedEnvelope& message, const PeerId& from,
                            const SharedBlob& blob) {
  const wire::Slot& slot = message.envelope.slot;
  const PartKey key{slot.iteration, message.envelope.sender};
  const bool wanted =
      std::any_of(chain_.head().cases.begin(), chain_.head().cases.end(), [&](const Case& open) {
        return open.id.step == slot.step && ExhibitMissing(open) && ExhibitOf(open.id) == key;
      });
  if (!InStep() || !wanted) return;
  const PastStep& past = *chain_.Past(slot.step);
  const auto commit = past.commits.find(key.author);
  const auto body = wire::DecodePart(message.envelope.body);
  if (commit == past.commits.end() || !commit->second.gradient_root || !body.ok()) return;
  if (body->root != blob->root ||
      !crypto::VerifyMerklePath(*commit->second.gradient_root, body->root, key.column,
                                past.columns.size(), body->path) ||
      !HoldsFiniteFloats(*blob, past.columns[key.column].range.size())) {
    return;
  }
  if (!Verified(message, from)) return;  // it is passed on as its author's
  chain_.KeepPart(slot.step, key, {message.frame, blob});
}

// Numbers that do not follow from the part shown: guilty in either kind of case.
void PeerMachine::TryJudgeExhibits() {
  // What comes after my PROOF is judged in the next step: no job of a vote outlives its round.
  if (round_->proof_prepared) return;
  for (const Case& open : chain_.head().cases) {
    if (open.id.kind == CaseKind::kGradient || my_verdicts_.contains(open.id)) continue;
    if (open.id.accuser == self_ || open.id.target == self_) continue;
    const PastStep* past = chain_.Past(open.id.step);
    if (past == nullptr) continue;
    const PartKey exhibit = ExhibitOf(open.id);
    const auto part = past->parts.find(exhibit);
    const auto proven = past->NumbersOf(exhibit.author);
    if (part == past->parts.end() || !proven) continue;
    if (past->columns[exhibit.column].result == nullptr) continue;
    const wire::ColumnNumbers& numbers = (*proven)[exhibit.column];
    CrossCheckSpec spec;
    spec.column = past->columns[exhibit.column];
    spec.tau = past->tau;
    if (base::Planted(base::Bug::kEvidenceOfAnotherStep))
      spec.column.direction_seed = chain_.head().decision;
    if (!numbers.missing) spec.claims.push_back({exhibit.author, part->second.blob, numbers});
    my_verdicts_[open.id] = std::nullopt;
    ++round_->recomputations_pending;
    StartJob({.purpose = Purpose::kExhibit, .step = CurrentStep(), .about = open.id},
             std::move(spec));
  }
}

void PeerMachine::TakeVerdict(const wire::CaseId& about, const JobResult& result) {
  const auto verdict = my_verdicts_.find(about);
  if (verdict == my_verdicts_.end()) return;
  const auto* recomputed = std::get_if<RecomputeResult>(&result);
  const bool guilty = recomputed != nullptr ? recomputed->convict
                                            : !std::get<CrossCheckResult>(result).liars.empty();
  verdict->second = guilty ? Verdict::kGuilty : Verdict::kInnocent;
}

}  // namespace ostraka::protocol
