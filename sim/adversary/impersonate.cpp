// impersonate: beside everything that it signs, the same in the name of an honest member. It has no
// key of that member, so only a receiver that checks no signature believes it; then the victim has
// signed two things for every slot.
#include <algorithm>
#include <memory>
#include <utility>

#include "sim/adversary/editors.h"
#include "sim/adversary/frames.h"

namespace ostraka::sim {
namespace {

class Impersonate final : public Editor {
 public:
  explicit Impersonate(const EditorOptions& options)
      : from_step_(options.from_step), victims_(options) {}

  void OnAction(Turn& turn, protocol::Action action) override {
    const wire::SignedEnvelope* message = frames_.ReadOwn(turn, action, from_step_);
    const auto victim = victims_.At(turn);
    if (!message || !victim) {
      return turn.Emit(std::move(action));
    }
    const auto& send = std::get<protocol::Send>(action);
    if (send.frame != original_) Forge(turn, send.frame, *victim);
    protocol::Send forged{send.to, forged_, send.blob};
    turn.Emit(std::move(action));
    if (forged.to != *victim) turn.Emit(std::move(forged));
  }

 private:
  // The sender's id is 32 bytes somewhere in the frame.
  void Forge(Turn& turn, const base::SharedBytes& frame, const base::PeerId& victim) {
    base::Bytes bytes = *frame;
    const base::PeerId& self = turn.self();
    const auto place =
        std::search(bytes.begin(), bytes.end(), self.bytes.begin(), self.bytes.end());
    if (place != bytes.end()) std::copy(victim.bytes.begin(), victim.bytes.end(), place);
    original_ = frame;
    forged_ = std::make_shared<const base::Bytes>(std::move(bytes));
    turn.Confess();
  }

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
