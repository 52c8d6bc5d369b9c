// bad_reveal: REVEAL opens a coin that COMMIT did not commit to.
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
  // The first draw only: later ones follow decisions that depend on what happened to this one.
  std::optional<base::Bytes> Another(const Turn&, const wire::Envelope& own) override {
    if (own.slot.draw != 0) return std::nullopt;
    wire::Reveal reveal;
    reveal.opening.coin.value = own.entry;  // any value serves
    return wire::Encode(reveal);
  }
};

}  // namespace

std::unique_ptr<Editor> MakeBadReveal(const EditorOptions& options) {
  return std::make_unique<BadReveal>(options);
}

}  // namespace ostraka::sim
