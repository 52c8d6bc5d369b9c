// selective_send: an honest owner does not get the attacker's part.
//
// By default one owner is the victim for the whole coven and run, and only it lacks the part. Once
// the two are in dispute the part goes to all members, and the others forward it. With stubborn = 1
// nobody gets that part. With rotate = 1 the victim is another owner in each step.
//
// Rule: disputes (docs/protocol/removals.md), which must not remove the honest party.
// Cost to honest members: one column of one step without that part; then forwarding it.
// Found by: stubborn and rotate run into the limits on disputes (dropped); the default is
// contained.
#include <memory>
#include <optional>
#include <utility>

#include "sim/adversary/frames.h"
#include "sim/attacks/messages/factories.h"

namespace ostraka::sim {
namespace {

class SelectiveSend final : public Editor {
 public:
  explicit SelectiveSend(const EditorOptions& options)
      : from_step_(options.from_step),
        stubborn_(options.Param("stubborn") != 0),
        rotate_(options.Param("rotate") != 0),
        victims_(options) {}

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    const wire::SignedEnvelope* message = frames_.ReadOwn(turn, action, from_step_);
    if (!message || message->envelope.slot.type != wire::MessageType::kPart ||
        !Withholds(turn, message->envelope.slot, std::get<protocol::Send>(action).to)) {
      return turn.Emit(std::move(action));
    }
    turn.Confess();
  }

 private:
  bool Withholds(const EditorTurn& turn, const wire::Slot& slot, const base::PeerId& to) const {
    const auto victim = victims_.At(turn, rotate_ ? slot.step : 0);
    if (!victim) return false;
    if (!stubborn_) return to == *victim;
    return turn.round()->roles.PartOwnedBy(*victim) == slot.iteration;
  }

  std::uint64_t from_step_;
  bool stubborn_;
  bool rotate_;
  Victims victims_;
  FrameReader frames_;
};

}  // namespace

std::unique_ptr<Editor> MakeSelectiveSend(const EditorOptions& options) {
  return std::make_unique<SelectiveSend>(options);
}

}  // namespace ostraka::sim
