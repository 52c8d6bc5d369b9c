// leave_reroll, join_churn, rotate_keys: honest in all that they send but for one flag: they say in
// COMMIT that they leave, as often as the rules let them. What makes each an attack is when it says
// so and when it comes back (sim/setup/travels.h), and neither is a matter of messages.
//
// Rule: leaving.h, coming.h and standing.h (decisions/0027).
// Cost to honest members: a state for each return, and a line in blocks for each key.
// Found by: a second departure within 1000 steps bars, and a seat is lost after 1000 more, so a key
// that used an invite up comes in by it again once in as many steps; no other key does. Contained.
#include <memory>
#include <utility>

#include "sim/adversary/frames.h"
#include "sim/attacks/messages/guest_factories.h"

namespace ostraka::sim {
namespace {

class ComeAndGo final : public Editor {
 public:
  explicit ComeAndGo(const EditorOptions& options) : from_step_(options.from_step) {}

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    const wire::SignedEnvelope* message = frames_.ReadOwn(turn, action, from_step_);
    const bool commits = message && message->envelope.slot.type == wire::MessageType::kCommit;
    if (commits && message->envelope.slot.step != last_ && SaysSo(message->envelope)) {
      last_ = message->envelope.slot.step;
      turn.Confess();
    }
    turn.Emit(std::move(action));
  }

 private:
  static bool SaysSo(const wire::Envelope& envelope) {
    const auto commit = wire::Decode<wire::Commit>(envelope.body);
    return commit.ok() && commit->leaving;
  }

  std::uint64_t from_step_;
  std::uint64_t last_ = 0;  // step in which it said so
  FrameReader frames_;
};

}  // namespace

std::unique_ptr<Editor> MakeComeAndGo(const EditorOptions& options) {
  return std::make_unique<ComeAndGo>(options);
}

}  // namespace ostraka::sim
