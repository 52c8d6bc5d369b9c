#include "sim/adversary/adversary.h"

#include <utility>
#include <variant>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "sim/engine/simulator.h"

namespace ostraka::sim {

const base::PeerId& EditorTurn::self() const { return machine_.self_; }
const protocol::StepStarted* EditorTurn::round() const {
  return machine_.round_ ? &*machine_.round_ : nullptr;
}
Coven& EditorTurn::coven() const { return *machine_.coven_; }
void EditorTurn::Confess() { coven().Confess(self(), step()); }
void EditorTurn::Emit(protocol::Action action) { out_.actions().push_back(std::move(action)); }

void EditorTurn::Deliver(const protocol::Input& input) {
  protocol::Outbox said;
  machine_.inside_->Step(now_, input, said);
  if (const auto* done = std::get_if<protocol::JobDone>(&input)) machine_.jobs_.erase(done->id);
  for (protocol::Action& action : said.actions()) {
    machine_.Note(action);
    machine_.editor_->OnAction(*this, std::move(action));
  }
}

protocol::JobId EditorTurn::StartOwnJob(protocol::JobSpec spec) {
  const protocol::JobId id = machine_.next_own_job_++;
  Emit(protocol::StartJob{id, std::make_shared<const protocol::JobSpec>(std::move(spec))});
  return id;
}

std::shared_ptr<const protocol::JobSpec> EditorTurn::SpecOf(protocol::JobId id) const {
  const auto job = machine_.jobs_.find(id);
  return job == machine_.jobs_.end() ? nullptr : job->second;
}

AdversarialMachine::AdversarialMachine(base::PeerId self, std::unique_ptr<protocol::Machine> inside,
                                       std::unique_ptr<Editor> editor, std::shared_ptr<Coven> coven)
    : self_(self),
      inside_(std::move(inside)),
      editor_(std::move(editor)),
      coven_(std::move(coven)),
      next_own_job_(kFirstReservedJob) {}

void AdversarialMachine::Step(base::Time now, const protocol::Input& input, protocol::Outbox& out) {
  EditorTurn turn(*this, now, out);
  editor_->OnInput(turn, StandByColluders(input));
}

protocol::Input AdversarialMachine::StandByColluders(protocol::Input input) const {
  auto* done = std::get_if<protocol::JobDone>(&input);
  if (!done) return input;
  const auto job = jobs_.find(done->id);
  if (job == jobs_.end()) return input;

  const auto* recompute = std::get_if<protocol::RecomputeSpec>(job->second.get());
  if (recompute && coven_->Contains(recompute->gradient.owner)) {
    done->result = std::make_shared<const protocol::JobResult>(protocol::RecomputeResult{});
  }
  if (const auto* check = std::get_if<protocol::CrossCheckResult>(done->result.get())) {
    protocol::CrossCheckResult loyal = *check;
    std::erase_if(loyal.liars, [&](const base::PeerId& peer) { return coven_->Contains(peer); });
    if (loyal.liars.size() != check->liars.size()) {
      done->result = std::make_shared<const protocol::JobResult>(std::move(loyal));
    }
  }
  return input;
}

void AdversarialMachine::Note(const protocol::Action& action) {
  if (const auto* job = std::get_if<protocol::StartJob>(&action)) jobs_[job->id] = job->spec;
  if (const auto* observe = std::get_if<protocol::Observe>(&action)) {
    if (const auto* started = std::get_if<protocol::StepStarted>(&observe->what)) round_ = *started;
  }
}

base::Digest AdversarialMachine::Fingerprint() const {
  return crypto::Hasher(crypto::kDomainFingerprint)
      .Update(inside_->Fingerprint())
      .Update(editor_->Fingerprint())
      .UpdateU64(round_ ? round_->step : 0)
      .UpdateU64(next_own_job_)
      .Finish();
}

}  // namespace ostraka::sim
