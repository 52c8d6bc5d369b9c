// bad_reveal: REVEAL opens a coin that COMMIT did not commit to.
//
// Rule: commit and reveal of the coin (docs/protocol/step.md).
// Cost to honest members: none; the coin of a banned member does not count.
// Found by: COMMIT and REVEAL together are evidence; banned in that step.
#include <memory>
#include <optional>

#include "sim/adversary/substitute.h"
#include "sim/attacks/messages/factories.h"

namespace ostraka::sim {
namespace {

class BadReveal final : public SubstitutingEditor {
 public:
  explicit BadReveal(const EditorOptions& options)
      : SubstitutingEditor(options, wire::MessageType::kReveal) {}

 private:
  // Only the first draw, because later draws depend on its outcome.
  std::optional<base::Bytes> Another(const EditorTurn&, const wire::Envelope& own) override {
    if (own.slot.draw != 0) return std::nullopt;
    wire::Reveal reveal;
    reveal.opening.coin.value = own.entry;  // any value that is not the coin
    return wire::Encode(reveal);
  }
};

}  // namespace

std::unique_ptr<Editor> MakeBadReveal(const EditorOptions& options) {
  return std::make_unique<BadReveal>(options);
}

}  // namespace ostraka::sim
