#include "sim/attacks/results/gradient.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "aggregation/rules/centered_clip.h"
#include "aggregation/rules/mean.h"
#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/base/check.h"
#include "node/protocol/ground/roles.h"
#include "sim/engine/simulator.h"

namespace ostraka::sim {
namespace {

protocol::JobDone WithGradient(protocol::JobId id, protocol::SharedVector gradient) {
  return {id, std::make_shared<const protocol::JobResult>(
                  protocol::GradientResult{std::move(gradient)})};
}

// Null if the job failed.
protocol::SharedVector GradientOf(const protocol::JobDone& done) {
  const auto* result = std::get_if<protocol::GradientResult>(done.result.get());
  return result ? result->gradient : nullptr;
}

// The result of an own gradient job in an input, with its job.
struct OwnGradient {
  std::shared_ptr<const protocol::JobSpec> spec;
  protocol::SharedVector gradient;

  const protocol::GradientSpec& job() const { return std::get<protocol::GradientSpec>(*spec); }
};

// Nullopt for any other input, and before `from_step`.
std::optional<OwnGradient> OwnGradientIn(const EditorTurn& turn, const protocol::Input& input,
                                         std::uint64_t from_step) {
  const auto* done = std::get_if<protocol::JobDone>(&input);
  if (!done) return std::nullopt;
  OwnGradient own{turn.SpecOf(done->id), GradientOf(*done)};
  const auto* job = own.spec ? std::get_if<protocol::GradientSpec>(own.spec.get()) : nullptr;
  if (!job || !own.gradient || job->owner != turn.self() || job->step < from_step) {
    return std::nullopt;
  }
  return own;
}

// Parameters were checked when the adversary was made, and the view contains what the attack needs.
// So only an error that depends on the view remains (a coordinate beyond the last). An attacker
// that cannot attack is honest.
std::vector<float> Apply(const VectorAttack& attack, aggregation::AttackView view) {
  view.layout = &attack.layout;
  view.seed = attack.seed;
  auto vector = aggregation::ApplyAttack(attack.attack, view);
  if (!vector.ok()) return {view.own.begin(), view.own.end()};
  OSTRAKA_CHECK(vector->size() == view.own.size());
  return std::move(vector).value();
}

// The index of this peer among the colluders.
std::size_t NumberOf(const EditorTurn& turn) {
  const std::vector<base::PeerId>& members = turn.coven().members();
  return static_cast<std::size_t>(std::find(members.begin(), members.end(), turn.self()) -
                                  members.begin());
}

// An identity of a worker that is stable from step to step.
std::uint64_t NumberOf(const base::PeerId& peer) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number = number << 8 | peer.bytes[i];
  return number;
}

// Aggregates whole gradients as the run's aggregators do, part by part.
base::Status AggregateParts(const protocol::Manifest& manifest, double tau,
                            const std::vector<protocol::PartRange>& parts,
                            const aggregation::Rows& rows, std::span<float> out) {
  for (const protocol::PartRange& part : parts) {
    aggregation::Rows slice;
    slice.dimension = part.size();
    for (const float* row : rows.row) slice.row.push_back(row + part.begin);
    const std::span<float> target = out.subspan(part.begin, part.size());
    const aggregation::SerialExecutor serial;
    RETURN_IF_ERROR(manifest.clip ? aggregation::CenteredClip({.tau = tau, .eps = manifest.eps})
                                        .Aggregate(slice, serial, target)
                                  : aggregation::Mean().Aggregate(slice, serial, target));
  }
  return base::OkStatus();
}

}  // namespace

// --- the own gradient ---------------------------------------------------------------------------

void OwnGradientEditor::OnInput(EditorTurn& turn, protocol::Input input) {
  const auto own = OwnGradientIn(turn, input, from_step_);
  if (!own) return turn.Deliver(input);
  aggregation::AttackView view;
  view.own = *own->gradient;
  view.byzantine_count = turn.coven().members().size();
  view.step = own->job().step;
  view.attacker = NumberOf(turn);
  if (turn.round() != nullptr) view.worker_count = turn.round()->roles.workers.size();
  view.state = &state_;
  turn.Confess();
  turn.Deliver(WithGradient(std::get<protocol::JobDone>(input).id,
                            std::make_shared<const std::vector<float>>(Apply(attack_, view))));
}

// --- all honest gradients -----------------------------------------------------------------------

void OmniscientEditor::OnInput(EditorTurn& turn, protocol::Input input) {
  const auto* done = std::get_if<protocol::JobDone>(&input);
  if (done && done->id >= kFirstReservedJob) return OnSpied(turn, *done);
  const auto own = OwnGradientIn(turn, input, from_step_);
  if (!own) return turn.Deliver(input);
  Spy(turn, *done, own->job(), own->gradient);
}

void OmniscientEditor::Spy(EditorTurn& turn, const protocol::JobDone& done,
                           const protocol::GradientSpec& job, const protocol::SharedVector& own) {
  const protocol::StepStarted* round = turn.round();
  OSTRAKA_CHECK(round != nullptr && round->step == job.step && !held_);
  held_ = Held{done, own, job.step, job.parameters, round->roles.parts, round->tau, 0, {}, 0};
  for (const base::PeerId& worker : round->roles.workers) {
    if (turn.coven().Contains(worker)) {
      ++held_->colluders;
      continue;
    }
    const protocol::JobId id = turn.StartOwnJob(
        protocol::GradientDue(*manifest_, round->batches, job.step, worker, job.parameters));
    held_->honest.emplace(id, Held::Spied{worker, nullptr});
    ++held_->running;
  }
  if (held_->running == 0) Release(turn);
}

void OmniscientEditor::OnSpied(EditorTurn& turn, const protocol::JobDone& done) {
  if (!held_) return;
  const auto place = held_->honest.find(done.id);
  if (place == held_->honest.end()) return;
  place->second.gradient = GradientOf(done);
  if (!place->second.gradient) held_->honest.erase(place);  // failed: go on without it
  if (--held_->running == 0) Release(turn);
}

void OmniscientEditor::Release(EditorTurn& turn) {
  const Held held = *std::exchange(held_, std::nullopt);
  if (held.honest.empty()) return turn.Deliver(held.done);
  aggregation::AttackView view;
  view.own = *held.own;
  view.honest.dimension = held.own->size();
  view.byzantine_count = held.colluders;
  view.step = held.step;
  view.state = &turn.coven().memory();
  std::vector<std::uint64_t> ids;
  for (const auto& [job, spied] : held.honest) {
    view.honest.row.push_back(spied.gradient->data());
    ids.push_back(NumberOf(spied.worker));
  }
  view.honest_ids = ids;
  const aggregation::Victim victim = [&](const aggregation::Rows& rows, std::span<float> out) {
    return AggregateParts(*manifest_, held.tau, held.parts, rows, out);
  };
  view.victim = &victim;
  turn.Confess();
  turn.Deliver(WithGradient(held.done.id, turn.coven().Agree(held.step, held.parameters, [&] {
    return Apply(attack_, view);
  })));
}

base::Digest OmniscientEditor::Fingerprint() const {
  return crypto::Hasher(crypto::kDomainFingerprint)
      .UpdateU64(held_ ? held_->running + 1 : 0)
      .Finish();
}

// --- work ---------------------------------------------------------------------------------------

void OtherWorkEditor::OnInput(EditorTurn& turn, protocol::Input input) {
  const auto own = OwnGradientIn(turn, input, from_step_);
  if (!own) return turn.Deliver(input);
  // As the job would, so that an adversary's gradient is treated like any other.
  protocol::JobResult other = protocol::RunJob(*own->spec, work_, aggregation::SerialExecutor());
  // An attacker that cannot attack is honest.
  const auto* result = std::get_if<protocol::GradientResult>(&other);
  if (result == nullptr || *result->gradient == *own->gradient) return turn.Deliver(input);
  turn.Confess();
  turn.Deliver(protocol::JobDone{std::get<protocol::JobDone>(input).id,
                                 std::make_shared<const protocol::JobResult>(std::move(other))});
}

std::unique_ptr<Editor> MakeGradientAttack(const EditorOptions& options) {
  VectorAttack vector{options.gradient, options.layout, options.coven_seed};
  switch (options.gradient.info->knowledge) {
    case aggregation::Knowledge::kWork:
      return std::make_unique<OtherWorkEditor>(options.other_work, options.from_step);
    case aggregation::Knowledge::kOwn:
      return std::make_unique<OwnGradientEditor>(std::move(vector), options.from_step);
    case aggregation::Knowledge::kHonest:
    case aggregation::Knowledge::kRule:
      return std::make_unique<OmniscientEditor>(std::move(vector), options.from_step,
                                                options.manifest);
  }
  OSTRAKA_CHECK(false);
}

}  // namespace ostraka::sim
