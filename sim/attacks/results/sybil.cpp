// sybil: several identities share one computation. The machine computes the gradient of one
// identity, and all sign it.
//
// Rule: each worker's batch follows from its own key, so that every identity costs a worker's work.
// Cost to honest members: fewer independent gradients in the mean.
// Found by: a validator's recomputation; banned by verdict, except for the identity that computed.
#include <memory>
#include <utility>
#include <variant>

#include "node/protocol/ground/roles.h"
#include "sim/attacks/results/factories.h"

namespace ostraka::sim {
namespace {

class Sybil final : public Editor {
 public:
  explicit Sybil(const EditorOptions& options)
      : from_step_(options.from_step), manifest_(options.manifest) {}

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    const auto* start = std::get_if<protocol::StartJob>(&action);
    const auto* job = start ? std::get_if<protocol::GradientSpec>(start->spec.get()) : nullptr;
    // The identity whose gradient is computed stays honest.
    const base::PeerId& computes = turn.coven().members().front();
    const bool own = job && job->owner == turn.self() && job->step >= from_step_;
    if (!own || computes == turn.self() || !turn.round() || turn.step() != job->step) {
      return turn.Emit(std::move(action));
    }
    turn.Confess();
    turn.Emit(protocol::StartJob{
        start->id, std::make_shared<const protocol::JobSpec>(protocol::GradientDue(
                       *manifest_, turn.round()->batches, job->step, computes, job->parameters))});
  }

 private:
  std::uint64_t from_step_;
  std::shared_ptr<const protocol::Manifest> manifest_;
};

}  // namespace

std::unique_ptr<Editor> MakeSybil(const EditorOptions& options) {
  return std::make_unique<Sybil>(options);
}

}  // namespace ostraka::sim
