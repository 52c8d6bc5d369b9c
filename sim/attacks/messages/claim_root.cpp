// claim_root: its COMMITs name other parameters than the run has, so that nobody can hold the
// gradients that it sends against it.
//
// Rule: a step uses no gradient at other parameters than more than F members name
// (docs/protocol/step.md).
// Cost to honest members: none beyond that of silence; its parts are left out, and b falls with it.
// Found by: seal A. It is dropped, and from the second time on barred for 1000 steps.
#include <memory>
#include <optional>

#include "sim/adversary/substitute.h"
#include "sim/attacks/messages/factories.h"

namespace ostraka::sim {
namespace {

class ClaimRoot final : public SubstitutingEditor {
 public:
  explicit ClaimRoot(const EditorOptions& options)
      : SubstitutingEditor(options, wire::MessageType::kCommit) {}

 private:
  // COMMITs of other profiles, and that of a member that has finished, name no parameters.
  std::optional<base::Bytes> Another(const EditorTurn&, const wire::Envelope& own) override {
    auto commit = wire::Decode<wire::Commit>(own.body);
    if (!commit.ok() || !commit->parameters_root) return std::nullopt;
    commit->parameters_root->bytes[0] ^= 1;
    return wire::Encode(*commit);
  }
};

}  // namespace

std::unique_ptr<Editor> MakeClaimRoot(const EditorOptions& options) {
  return std::make_unique<ClaimRoot>(options);
}

}  // namespace ostraka::sim
