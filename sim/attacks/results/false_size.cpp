// false_size: PROOF states `scale` times the true size of the own parts, so that honest columns
// fail the size check (scale < 1) or colluders' columns pass it (scale > 1; see wrong_aggregate,
// cover).
//
// Rule: the size check (docs/protocol/numbers.md).
// Cost to honest members: a void column and one case.
// Found by: the owner, as for false_proof; in void columns, by a validator.
#include "sim/adversary/lying.h"
#include "sim/attacks/results/factories.h"

namespace ostraka::sim {
namespace {

// In columns of colluders the sizes are true: their owners would have to name it, or be dropped.
class FalseSize final : public LyingEditor<protocol::ProveResult> {
 public:
  explicit FalseSize(const EditorOptions& options)
      : LyingEditor(options.from_step), scale_(options.Param("scale")) {}

 private:
  std::optional<protocol::ProveResult> Lie(const EditorTurn& turn, const protocol::JobSpec&,
                                           const protocol::ProveResult& truth) override {
    protocol::ProveResult lie = truth;
    bool differs = false;
    for (std::size_t j = 0; j < lie.columns.size(); ++j) {
      const std::vector<base::PeerId>& owners = turn.round()->roles.owners;
      if (j < owners.size() && turn.coven().Contains(owners[j])) continue;
      differs = differs || lie.columns[j].size != scale_ * lie.columns[j].size;
      lie.columns[j].size *= scale_;
    }
    return differs ? std::optional(std::move(lie)) : std::nullopt;
  }

  double scale_;
};

}  // namespace

std::unique_ptr<Editor> MakeFalseSize(const EditorOptions& options) {
  return std::make_unique<FalseSize>(options);
}

}  // namespace ostraka::sim
