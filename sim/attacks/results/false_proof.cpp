// false_proof: PROOF states numbers of the own parts that are not theirs.
#include <utility>

#include "sim/adversary/lying.h"
#include "sim/attacks/results/factories.h"

namespace ostraka::sim {
namespace {

// The signs of all projections turned, the norms left: within the range of honest numbers, so only
// somebody who holds the part can tell. In the columns of friends it tells the truth: false sums
// would cost them their place.
class FalseProof final : public LyingEditor<protocol::ProveResult> {
 public:
  explicit FalseProof(const EditorOptions& options) : LyingEditor(options.from_step) {}

 private:
  std::optional<protocol::ProveResult> Lie(const Turn& turn, const protocol::JobSpec&,
                                           const protocol::ProveResult& truth) override {
    protocol::ProveResult lie = truth;
    bool differs = false;
    for (std::size_t j = 0; j < lie.columns.size(); ++j) {
      // A friend would have to name this one, or be dropped.
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
