// false_proof: PROOF states false projections of the own parts.
//
// Rule: V1, each owner's check of the numbers against the parts that it holds
// (docs/protocol/checks.md).
// Cost to honest members: a column whose sum check fails, and one case.
// Found by: the honest owner of the column, which names the worker and shows its part; banned by
// verdict.
#include <utility>

#include "sim/adversary/lying.h"
#include "sim/attacks/results/factories.h"

namespace ostraka::sim {
namespace {

// Turns the signs of all projections and keeps the norms. The numbers stay in the honest range, so
// only a holder of the part can tell. In columns of colluders the numbers are true: false sums
// there would cost the colluders their membership.
class FalseProof final : public LyingEditor<protocol::ProveResult> {
 public:
  explicit FalseProof(const EditorOptions& options) : LyingEditor(options.from_step) {}

 private:
  std::optional<protocol::ProveResult> Lie(const EditorTurn& turn, const protocol::JobSpec&,
                                           const protocol::ProveResult& truth) override {
    protocol::ProveResult lie = truth;
    bool differs = false;
    for (std::size_t j = 0; j < lie.columns.size(); ++j) {
      // A colluding owner would have to name this worker, or be dropped.
      const std::vector<base::PeerId>& owners = turn.round()->roles.owners;
      if (j < owners.size() && turn.coven().Contains(owners[j])) continue;
      for (double& s : lie.columns[j].s) {
        differs = differs || s != 0;
        s = -s;
      }
    }
    return differs ? std::optional(std::move(lie)) : std::nullopt;
  }
};

}  // namespace

std::unique_ptr<Editor> MakeFalseProof(const EditorOptions& options) {
  return std::make_unique<FalseProof>(options);
}

}  // namespace ostraka::sim
