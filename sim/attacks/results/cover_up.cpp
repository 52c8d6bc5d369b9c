// cover_up: an aggregator shifts its aggregate, and a colluding worker hides the shift.
//
// What the attackers do: the worker (the absorber) states numbers of its own part that make the sum
// of the column vanish again. The sum check passes, and the aggregator, which alone could name the
// absorber, does not. The absorber needs the others' numbers before they are sealed. So it
// recomputes their gradients from the public seeds, as every omniscient attack does; colluders send
// honest gradients. The absorber of a column is the next colluder by key after its owner, among the
// step's workers; with one = 1 the first colluder by key absorbs all columns.
// Rule: the sum check V2 and the naming that follows it (docs/protocol/checks.md).
// Cost to honest members: one shifted column in each step until the absorber is validated.
// Found by: a validator that recomputes the absorber's gradient. The conviction opens a cover case,
// and the aggregator must show a part that contradicts the absorber's numbers.
#include "sim/attacks/results/cover_up.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "aggregation/kernels/projection.h"
#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/base/check.h"
#include "node/protocol/ground/numbers.h"
#include "node/protocol/ground/roles.h"
#include "sim/adversary/frames.h"
#include "sim/adversary/shift.h"
#include "sim/attacks/results/factories.h"
#include "sim/engine/simulator.h"

namespace ostraka::sim {
namespace {

// As large as a size can be, and above that of any aggregate.
constexpr double kClaimedSize = 1e38;

// Shifts by one row's clipped difference divided by the number of rows: as much as one absorber can
// plausibly state.
std::optional<protocol::AggregateResult> ShiftedByARow(const protocol::AggregateSpec& spec,
                                                       const protocol::AggregateResult& truth,
                                                       double scale) {
  const std::vector<float> values = ResultOf(spec, truth);
  std::vector<double> radii;
  for (const protocol::SharedBlob& part : spec.parts) {
    std::vector<float> difference = ValuesIn(spec.codecs.parts, *part, spec.size);
    for (std::size_t c = 0; c < difference.size(); ++c) difference[c] -= values[c];
    radii.push_back(std::min(spec.tau, aggregation::Norm(difference)));
  }
  const auto middle = radii.begin() + static_cast<std::ptrdiff_t>(radii.size() / 2);
  std::nth_element(radii.begin(), middle, radii.end());
  return Shifted(spec, values,
                 scale * *middle / static_cast<double>(radii.size()) /
                     std::sqrt(static_cast<double>(values.size())));
}

class CoverUp final : public Editor {
 public:
  CoverUp(const EditorOptions& options, CoverStyle style)
      : from_step_(options.from_step), style_(std::move(style)), manifest_(options.manifest) {}

  void OnInput(EditorTurn& turn, protocol::Input input) override {
    const auto* done = std::get_if<protocol::JobDone>(&input);
    if (!done || turn.step() < from_step_) return turn.Deliver(input);
    if (done->id >= kFirstReservedJob) return OnSpied(turn, *done);
    const auto spec = turn.SpecOf(done->id);
    if (!spec) return turn.Deliver(input);
    if (const auto* result = std::get_if<protocol::AggregateResult>(done->result.get())) {
      return OnAggregate(turn, *done, std::get<protocol::AggregateSpec>(*spec), *result);
    }
    if (std::holds_alternative<protocol::ProveResult>(*done->result)) {
      return OnProve(turn, *done, spec);
    }
    turn.Deliver(input);
  }

  // With show = 0, withholds the parts of convicted colluders.
  void OnAction(EditorTurn& turn, protocol::Action action) override {
    const auto* part = style_.show ? nullptr : frames_.ReadShownPart(turn, action);
    if (part == nullptr || !turn.coven().Contains(part->envelope.sender)) {
      turn.Emit(std::move(action));
    }
  }

  base::Digest Fingerprint() const override {
    return crypto::Hasher(crypto::kDomainFingerprint)
        .UpdateU64(held_ ? held_->running + 1 : 0)
        .Finish();
  }

 private:
  struct Held {  // the own numbers, until all gradients of the step are computed
    protocol::JobDone done;
    std::shared_ptr<const protocol::JobSpec> spec;
    std::vector<std::uint32_t> columns;  // columns whose sum it hides
    std::vector<std::uint32_t> claimed;  // columns in which it states a huge size
    std::map<protocol::JobId, protocol::SharedVector> gradients;  // of the other workers
    std::size_t running = 0;
  };

  std::optional<base::PeerId> AbsorberOf(const EditorTurn& turn, const base::PeerId& owner) const {
    std::vector<base::PeerId> friends;
    for (const base::PeerId& member : turn.coven().members()) {
      if (turn.round()->roles.IsWorker(member) && member != owner) friends.push_back(member);
    }
    if (friends.empty()) return std::nullopt;
    if (style_.one) return friends.front();
    const auto next = std::upper_bound(friends.begin(), friends.end(), owner);
    return next == friends.end() ? friends.front() : *next;
  }

  void OnAggregate(EditorTurn& turn, const protocol::JobDone& done,
                   const protocol::AggregateSpec& spec, const protocol::AggregateResult& truth) {
    const bool covered = AbsorberOf(turn, turn.self()) && spec.hash;
    auto lie = covered ? style_.lie(turn, spec, truth) : std::nullopt;
    if (!lie) return turn.Deliver(done);
    turn.Confess();
    turn.Deliver(
        protocol::JobDone{done.id, std::make_shared<const protocol::JobResult>(*std::move(lie))});
  }

  void OnProve(EditorTurn& turn, const protocol::JobDone& done,
               std::shared_ptr<const protocol::JobSpec> spec) {
    const protocol::Roles& roles = turn.round()->roles;
    Held held{done, std::move(spec), {}, {}, {}, 0};
    for (std::uint32_t j = 0; j < roles.owners.size(); ++j) {
      const base::PeerId& owner = roles.owners[j];
      const auto& columns = std::get<protocol::ProveSpec>(*held.spec).columns;
      if (!turn.coven().Contains(owner) || owner == turn.self() || !columns[j].result) continue;
      if (style_.claim_size) held.claimed.push_back(j);
      if (AbsorberOf(turn, owner) == turn.self()) held.columns.push_back(j);
    }
    if ((held.columns.empty() && held.claimed.empty()) || held_) return turn.Deliver(done);
    if (held.columns.empty()) {  // no sums to compute
      held_ = std::move(held);
      return Absorb(turn);
    }
    for (const base::PeerId& worker : roles.workers) {
      if (worker == turn.self()) continue;
      const protocol::JobId id = turn.StartOwnJob(protocol::GradientDue(
          *manifest_, turn.round()->batches, turn.step(), worker, turn.round()->state.parameters));
      held.gradients.emplace(id, nullptr);
    }
    held.running = held.gradients.size();
    held_ = std::move(held);
    if (held_->running == 0) Absorb(turn);
  }

  void OnSpied(EditorTurn& turn, const protocol::JobDone& done) {
    const auto* result = std::get_if<protocol::GradientResult>(done.result.get());
    if (!held_ || !held_->gradients.contains(done.id)) return;
    if (result) held_->gradients[done.id] = result->gradient;
    if (--held_->running == 0) Absorb(turn);
  }

  void Absorb(EditorTurn& turn) {
    const Held held = *std::exchange(held_, std::nullopt);
    const auto& spec = std::get<protocol::ProveSpec>(*held.spec);
    protocol::ProveResult lie = std::get<protocol::ProveResult>(*held.done.result);
    for (const std::uint32_t j : held.claimed) lie.columns[j].size = kClaimedSize;
    for (const std::uint32_t j : held.columns) {
      const protocol::Column& column = spec.columns[j];
      wire::ColumnNumbers& own = lie.columns[j];
      own.s = {};
      for (const auto& [id, gradient] : held.gradients) {
        if (!gradient) continue;
        const auto part = std::span(*gradient).subspan(column.range.begin, column.range.size());
        const crypto::Blob sent{protocol::Encode(spec.codec, part), {}};
        const protocol::Values values(spec.codec, sent, part.size());
        const wire::ColumnNumbers numbers = protocol::NumbersOf(values, column, spec.tau);
        for (std::size_t k = 0; k < own.s.size(); ++k) own.s[k] -= numbers.s[k];
      }
      // A larger number than an honest peer can state would itself be evidence.
      const double p = static_cast<double>(column.range.size());
      const double most = 0.99 * std::min(1.0, 10 / std::sqrt(p)) * std::min(spec.tau, own.norm);
      for (double& s : own.s) s = std::clamp(s, -most, most);
    }
    turn.Confess();
    turn.Deliver(protocol::JobDone{held.done.id,
                                   std::make_shared<const protocol::JobResult>(std::move(lie))});
  }

  std::uint64_t from_step_;
  CoverStyle style_;
  std::shared_ptr<const protocol::Manifest> manifest_;
  FrameReader frames_;
  std::optional<Held> held_;
};

}  // namespace

std::unique_ptr<Editor> MakeCoverUp(const EditorOptions& options) {
  const double scale = options.Param("scale");
  CoverStyle style;
  style.lie = [scale](const EditorTurn&, const protocol::AggregateSpec& spec,
                      const protocol::AggregateResult& truth) {
    return ShiftedByARow(spec, truth, scale);
  };
  style.show = options.Param("show") != 0;
  style.one = options.Param("one") != 0;
  return MakeCovered(options, std::move(style));
}

std::unique_ptr<Editor> MakeCovered(const EditorOptions& options, CoverStyle style) {
  return std::make_unique<CoverUp>(options, std::move(style));
}

}  // namespace ostraka::sim
