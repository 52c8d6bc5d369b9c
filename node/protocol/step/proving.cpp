#include "node/protocol/step/proving.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/mail/timers.h"
#include "node/protocol/rules/recomputing.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

JobId Proving::Start(std::uint64_t about, JobSpec spec) {
  return uses_.jobs->Start({.about = about, .asked_in = facts_->number()}, std::move(spec));
}

// --- as the step begins -------------------------------------------------------------------------

void Proving::Begin() {
  const bool closing = uses_.chain->head().closing > 0;
  if (closing || facts_->number() % uses_.manifest->state_root_every == 0) {
    root_ = Start(facts_->number(), RootSpec{uses_.chain->state(), uses_.layout});
  }
  StartAccusation();
  StartVotes();
}

void Proving::StartAccusation() {
  const auto assignment = facts_->roles().AssignmentOf(uses_.self);
  if (!assignment || !MayBeTarget(uses_.chain->head(), assignment->target)) return;
  auto spec = uses_.duties->Recomputation(assignment->step, assignment->target);
  if (!spec) return;
  target_ = wire::Accusation{assignment->target, assignment->step};
  accuse_ = Start(assignment->step, *std::move(spec));
}

// A case for which there is no room is voted on in a later step.
void Proving::StartVotes() {
  for (const wire::CaseId& about : uses_.duties->GradientCases()) {
    auto spec = uses_.duties->Recomputation(about.step, about.target);
    if (spec && !uses_.duty_jobs->HasRoom(facts_->number())) continue;
    uses_.duties->BeginVote(about, spec.has_value());
    if (!spec) continue;
    spec->purpose = RecomputeSpec::Purpose::kVote;
    uses_.duty_jobs->StartVote(facts_->number(), about, *std::move(spec), about.step);
  }
  uses_.duty_jobs->StartLook(facts_->number());
}

// --- the PROOF ----------------------------------------------------------------------------------

void Proving::BeginWait() {
  const Block& head = uses_.chain->head();
  const base::Duration margin = uses_.chain->delta() * 3;
  const base::Duration due =
      std::min(uses_.manifest->patience + margin +
                   ProofExtraFor(uses_.self, head, facts_->roles(), *uses_.manifest),
               ProofDeadlineAfter(head, *uses_.manifest));
  if (base::Planted(base::Bug::kProofWaitsForAll)) return;
  uses_.turn->Do(SetTimer{kProofTimer, uses_.turn->now() + std::max(due - margin, Duration{})});
}

bool Proving::Try() {
  OSTRAKA_CHECK(facts_->coin_known());
  TryNumbers();
  TryExhibits();
  if (!Ready()) return false;
  said_ = true;
  uses_.turn->Do(CancelTimer{kProofTimer});
  if (accuse_) uses_.jobs->Stop(*std::exchange(accuse_, std::nullopt));
  wire::Proof proof = Compose();
  uses_.voice->Prepare(
      uses_.voice->MakeDraft(uses_.voice->SlotOf(facts_->number(), Phase::kC, MessageType::kProof),
                             facts_->parent_c, wire::Encode(proof), uses_.chain->head().members));
  return true;
}

void Proving::TryNumbers() {
  const OwnGradient& gradient = *holdings_.gradient;
  const Results& results = *holdings_.results;
  if (started_ || gradient.parts_lost() || !results.closed()) return;  // W2
  const bool worker = facts_->roles().IsWorker(uses_.self);
  // After a restart the seals of the step may be there before the own gradient is, or before it is
  // known whether it is the one that the COMMIT names.
  if (worker && !gradient.ready()) return;
  started_ = true;
  if (!worker) {  // nothing to prove
    numbers_.emplace();
    return;
  }
  ProveSpec spec;
  spec.parts = gradient.parts();
  for (std::size_t j = 0; j < results.all().size(); ++j)
    spec.columns.push_back(results.ColumnOf(j));
  spec.tau = facts_->reading.sealed.tau;
  prove_ = Start(facts_->number(), std::move(spec));
}

// An exhibit that comes after the own PROOF is judged in the next step: no job of a vote that a
// PROOF waits for outlives its step.
void Proving::TryExhibits() {
  if (said_) return;
  for (auto& [about, spec] : uses_.duties->ExhibitsToJudge()) {
    uses_.duty_jobs->StartVote(facts_->number(), about, std::move(spec), facts_->number());
  }
}

bool Proving::Recomputes() const {
  return accuse_ || uses_.duty_jobs->Pending(facts_->number()) > 0;
}

bool Proving::Ready() const {
  if (said_ || !numbers_ || root_) return false;
  if (Recomputes() && !waited_) return false;  // W3
  if (uses_.duties->AwaitsCrossCheck()) return false;
  return !uses_.duties->AwaitsExhibits() || holdings_.results->expired();  // W1
}

wire::Proof Proving::Compose() {
  const Block& head = uses_.chain->head();
  wire::Proof proof;
  proof.columns = *numbers_;
  proof.accusation = accusation_;
  uses_.duties->StateIn(proof);
  proof.state_root = state_root_;
  if (!base::Planted(base::Bug::kGuiltKeptSecret)) proof.evidence = uses_.charges->ForProof();
  proof.held =
      HeldBitmap(head, holdings_.pairs->forwarded_parts(), holdings_.pairs->forwarded_results());
  const auto is_stranger = [&head](const PeerId& peer) { return !IsKey(head, peer); };
  const Asking asking = uses_.followers->ToConfirm(uses_.chain->recent(), is_stranger);
  proof.joins = JoinsToState(head, asking, facts_->number());
  proof.arrivals = ArrivalsToState(head, *uses_.manifest, asking, facts_->number());
  // If no lag was measured: the lag that leaves Delta as it is.
  uses_.reports->StateIn(proof, head.members, head.delta_us / 4);
  return proof;
}

// --- jobs ---------------------------------------------------------------------------------------

void Proving::OnJob(JobId id, const JobResult& result) {
  OSTRAKA_CHECK(Owns(id));
  if (prove_ == id) {
    prove_.reset();
    numbers_ = std::get<ProveResult>(result).columns;
  } else if (accuse_ == id) {
    accuse_.reset();
    if (std::get<RecomputeResult>(result).accuse) accusation_ = target_;
  } else {
    root_.reset();
    const auto& root = std::get<RootResult>(result);
    state_root_ = root.root;
    uses_.chain->Serve(facts_->number(), root.leaves);
  }
}

void Proving::CheckInvariants() const {
  OSTRAKA_CHECK(!said_ || (numbers_ && !prove_ && !accuse_ && !root_));  // W1
  OSTRAKA_CHECK(!started_ || !holdings_.gradient->parts_lost());         // W2
  OSTRAKA_CHECK(started_ || (!prove_ && !numbers_));
}

void Proving::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, prove_, accuse_, root_, target_, started_, numbers_, accusation_,
               state_root_, waited_, said_);
}

}  // namespace ostraka::protocol
