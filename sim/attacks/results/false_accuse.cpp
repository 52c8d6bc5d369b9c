// false_accuse: as a validator it accuses honest members, and as a voter it convicts them; with
// victim = 1 only one honest member.
//
// Rule: the vote on a validator's accusation (docs/protocol/checks.md).
// Cost to honest members: each accusation makes every member recompute one gradient, and the
// accused holds no role while its case is open.
// Found by: the votes. A majority acquits the accused, and the accuser is banned by verdict.
#include "sim/adversary/frames.h"
#include "sim/adversary/lying.h"
#include "sim/attacks/results/factories.h"

namespace ostraka::sim {
namespace {

class FalseAccuse final : public LyingEditor<protocol::RecomputeResult> {
 public:
  explicit FalseAccuse(const EditorOptions& options)
      : LyingEditor(options.from_step),
        victim_only_(options.Param("victim") != 0),
        victims_(options) {}

 private:
  std::optional<protocol::RecomputeResult> Lie(const EditorTurn& turn,
                                               const protocol::JobSpec& spec,
                                               const protocol::RecomputeResult& truth) override {
    const base::PeerId& target = std::get<protocol::RecomputeSpec>(spec).gradient.owner;
    if (turn.coven().Contains(target) || truth.accuse) return std::nullopt;
    if (victim_only_ && target != victims_.At(turn)) return std::nullopt;
    return protocol::RecomputeResult{.accuse = true, .convict = true, .worst_ratio = 1000};
  }

  bool victim_only_;
  Victims victims_;
};

}  // namespace

std::unique_ptr<Editor> MakeFalseAccuse(const EditorOptions& options) {
  return std::make_unique<FalseAccuse>(options);
}

}  // namespace ostraka::sim
