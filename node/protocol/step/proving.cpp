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
  return core_.jobs.Start({.about = about, .asked_in = facts_.number()}, std::move(spec));
}

// --- as the step begins -------------------------------------------------------------------------

void Proving::Begin() {
  const bool closing = core_.chain.head().closing > 0;
  if (closing || facts_.number() % core_.manifest->state_root_every == 0) {
    root_ = Start(facts_.number(), RootSpec{core_.chain.state(), core_.layout});
  }
  StartAccusation();
  StartVotes();
}

void Proving::StartAccusation() {
  const auto assignment = facts_.roles().AssignmentOf(core_.self);
  if (!assignment || !MayBeTarget(core_.chain.head(), assignment->target)) return;
  auto spec = duties_.Recomputation(assignment->step, assignment->target);
  if (!spec) return;
  target_ = wire::Accusation{assignment->target, assignment->step};
  accuse_ = Start(assignment->step, *std::move(spec));
}

// A case for which there is no room is voted on in a later step.
void Proving::StartVotes() {
  for (const wire::CaseId& about : duties_.GradientCases()) {
    auto spec = duties_.Recomputation(about.step, about.target);
    if (spec && !duty_jobs_.HasRoom(facts_.number())) continue;
    duties_.BeginVote(about, spec.has_value());
    if (!spec) continue;
    spec->purpose = RecomputeSpec::Purpose::kVote;
    duty_jobs_.StartVote(facts_.number(), about, *std::move(spec), about.step);
  }
  duty_jobs_.StartLook(facts_.number());
}

// --- the PROOF ----------------------------------------------------------------------------------

void Proving::BeginWait() {
  const Block& head = core_.chain.head();
  const base::Duration margin = core_.chain.delta() * 3;
  const base::Duration due =
      std::min(core_.manifest->patience + margin +
                   ProofExtraFor(core_.self, head, facts_.roles(), *core_.manifest),
               ProofDeadlineAfter(head, *core_.manifest));
  if (base::Planted(base::Bug::kProofWaitsForAll)) return;
  core_.turn.Do(SetTimer{kProofTimer, core_.turn.now() + std::max(due - margin, Duration{})});
}

bool Proving::Try() {
  OSTRAKA_CHECK(facts_.coin_known());
  TryNumbers();
  TryExhibits();
  if (!Ready()) return false;
  said_ = true;
  core_.turn.Do(CancelTimer{kProofTimer});
  if (accuse_) core_.jobs.Stop(*std::exchange(accuse_, std::nullopt));
  wire::Proof proof = Compose();
  core_.voice.Prepare(
      core_.voice.MakeDraft(core_.voice.SlotOf(facts_.number(), Phase::kC, MessageType::kProof),
                            facts_.parent_c, wire::Encode(proof), core_.chain.head().members));
  return true;
}

void Proving::TryNumbers() {
  const OwnGradient& gradient = gradient_;
  const Results& results = results_;
  if (started_ || gradient.parts_lost() || !results.closed()) return;  // W2
  const bool worker = facts_.roles().IsWorker(core_.self);
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
  spec.codec = core_.manifest->codecs.parts;
  for (std::size_t j = 0; j < results.all().size(); ++j)
    spec.columns.push_back(results.ColumnOf(j));
  spec.tau = facts_.reading.sealed.tau;
  prove_ = Start(facts_.number(), std::move(spec));
}

// An exhibit that comes after the own PROOF is judged in the next step: no job of a vote that a
// PROOF waits for outlives its step.
void Proving::TryExhibits() {
  if (said_) return;
  for (auto& [about, spec] : duties_.ExhibitsToJudge()) {
    duty_jobs_.StartVote(facts_.number(), about, std::move(spec), facts_.number());
  }
}

bool Proving::Recomputes() const { return accuse_ || duty_jobs_.Pending(facts_.number()) > 0; }

bool Proving::Ready() const {
  if (said_ || !numbers_ || root_) return false;
  if (Recomputes() && !waited_) return false;  // W3
  if (duties_.AwaitsCrossCheck()) return false;
  return !duties_.AwaitsExhibits() || results_.expired();  // W1
}

wire::Proof Proving::Compose() {
  const Block& head = core_.chain.head();
  wire::Proof proof;
  proof.columns = *numbers_;
  proof.accusation = accusation_;
  duties_.StateIn(proof);
  proof.state_root = state_root_;
  if (!base::Planted(base::Bug::kGuiltKeptSecret)) proof.evidence = charges_.ForProof();
  proof.held = HeldBitmap(head, pairs_.forwarded_parts(), pairs_.forwarded_results());
  const auto is_stranger = [&head](const PeerId& peer) { return !IsKey(head, peer); };
  const Asking asking = followers_.ToConfirm(core_.chain.recent(), is_stranger);
  proof.joins = JoinsToState(head, asking, facts_.number());
  proof.arrivals = ArrivalsToState(head, *core_.manifest, asking, facts_.number());
  // If no lag was measured: the lag that leaves Delta as it is.
  reports_.StateIn(proof, head.members, head.delta_us / 4);
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
    core_.chain.Serve(facts_.number(), root.leaves);
  }
}

void Proving::CheckInvariants() const {
  OSTRAKA_CHECK(!said_ || (numbers_ && !prove_ && !accuse_ && !root_));  // W1
  OSTRAKA_CHECK(!started_ || !gradient_.parts_lost());                   // W2
  OSTRAKA_CHECK(started_ || (!prove_ && !numbers_));
}

void Proving::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, prove_, accuse_, root_, target_, started_, numbers_, accusation_,
               state_root_, waited_, said_);
}

}  // namespace ostraka::protocol
