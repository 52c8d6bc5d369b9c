// impersonate: sends a copy of every message that it signs in the name of an honest member. It has
// no key of that member, so only a receiver that checks no signature would accept the copy; then
// the victim would have signed two messages for every slot.
//
// Rule: signatures; no member is blamed for a frame that it did not sign.
// Cost to honest members: one signature check for each copy.
// Found by: the signature check, which discards the copy; contained.
#include <memory>
#include <utility>

#include "sim/adversary/frames.h"
#include "sim/attacks/messages/factories.h"

namespace ostraka::sim {
namespace {

class Impersonate final : public Editor {
 public:
  explicit Impersonate(const EditorOptions& options)
      : from_step_(options.from_step), victims_(options) {}

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    const wire::SignedEnvelope* message = frames_.ReadOwn(turn, action, from_step_);
    const auto victim = victims_.At(turn);
    if (!message || !victim) {
      return turn.Emit(std::move(action));
    }
    const auto& send = std::get<protocol::Send>(action);
    if (send.frame != original_) {
      original_ = send.frame;
      forged_ = InNameOf(*victim, turn.self(), send.frame);
      turn.Confess();
    }
    protocol::Send forged{send.to, forged_, send.blob};
    turn.Emit(std::move(action));
    if (forged.to != *victim) turn.Emit(std::move(forged));
  }

 private:
  std::uint64_t from_step_;
  Victims victims_;
  FrameReader frames_;
  base::SharedBytes original_;
  base::SharedBytes forged_;
};

}  // namespace

std::unique_ptr<Editor> MakeImpersonate(const EditorOptions& options) {
  return std::make_unique<Impersonate>(options);
}

}  // namespace ostraka::sim
