// other_steps: a worker does other local steps than it owes.
//
// Rule: what is owed is a function of the common parameters, the batch seed and the manifest, and a
// validator computes all of it again.
// Cost to honest members: those of a false gradient.
// Found by: a validator's recomputation; banned by verdict.
#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "sim/attacks/results/factories.h"

namespace ostraka::sim {
namespace {

class OtherSteps final : public Editor {
 public:
  explicit OtherSteps(const EditorOptions& options)
      : from_step_(options.from_step), how_(static_cast<int>(options.Param("how"))) {}

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    const auto* start = std::get_if<protocol::StartJob>(&action);
    const auto* job = start ? std::get_if<protocol::GradientSpec>(start->spec.get()) : nullptr;
    const bool own = job && job->owner == turn.self() && job->step >= from_step_;
    if (!own || !turn.round() || turn.step() != job->step) {
      if (job) before_ = job->parameters;
      return turn.Emit(std::move(action));
    }
    protocol::GradientSpec other = *job;
    Change(other);
    before_ = job->parameters;
    if (other.local == job->local && other.parameters == job->parameters &&
        other.batch_seed == job->batch_seed && other.batches == job->batches) {
      return turn.Emit(std::move(action));  // there is nothing to leave out
    }
    turn.Confess();
    turn.Emit(
        protocol::StartJob{start->id, std::make_shared<const protocol::JobSpec>(std::move(other))});
  }

 private:
  void Change(protocol::GradientSpec& spec) const {
    const bool local = spec.local.count > 1 && spec.local.rate > 0;
    switch (how_) {
      case 0:  // one step fewer
        if (spec.local.count > 2) --spec.local.count;
        return;
      case 1:  // longer steps
        if (local) spec.local.rate = std::min(2 * spec.local.rate, 1.0);
        return;
      case 2:  // unclipped
        if (local) spec.local.clip_norm = 1e6;
        return;
      case 3:  // from the parameters of the step before
        if (before_) spec.parameters = before_;
        return;
      case 4:  // on batches of its own choice
        spec.batch_seed.bytes[0] ^= 1;
        return;
      default:  // on fewer batches than it said
        if (spec.batches > 1) --spec.batches;
    }
  }

  std::uint64_t from_step_;
  int how_;
  protocol::SharedVector before_;
};

}  // namespace

std::unique_ptr<Editor> MakeOtherSteps(const EditorOptions& options) {
  return std::make_unique<OtherSteps>(options);
}

}  // namespace ostraka::sim
