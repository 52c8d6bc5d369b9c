// equivocate: two different COMMITs for one slot.
//
// By default every member gets both, the rival first, and so does the inner machine: all peers,
// including the attacker, see the same equivocation, and the seal can state it. With split = 1
// every second member gets only the rival, so the two halves disagree on what was sent. With one =
// 1 every member gets one COMMIT, and after seal A is decided one honest member gets the rival too.
//
// Rule: one message for each slot (docs/protocol.md 2); agreement of the seal on what was sent.
// Cost to honest members: split = 1 makes seal A take the slow path.
// Found by: the two signatures are evidence; banned in the step that shows them.
#include <memory>
#include <utility>

#include "node/base/check.h"
#include "sim/adversary/frames.h"
#include "sim/attacks/messages/factories.h"

namespace ostraka::sim {
namespace {

class Equivocate final : public Editor {
 public:
  explicit Equivocate(const EditorOptions& options)
      : from_step_(options.from_step),
        split_(options.Param("split") != 0),
        one_(options.Param("one") != 0),
        key_(options.key),
        victims_(options) {}

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    if (one_ && shown_in_ < turn.step() + 1 && SealsA(action, turn.step())) ShowToOne(turn);
    const wire::SignedEnvelope* message = frames_.ReadOwn(turn, action, from_step_);
    if (!message || message->envelope.slot.type != wire::MessageType::kCommit) {
      return turn.Emit(std::move(action));
    }
    MakeRival(turn, *message);
    if (one_) return turn.Emit(std::move(action));
    const base::PeerId to = std::get<protocol::Send>(action).to;
    if (split_) {
      if (victims_.InSecondHalf(to)) std::get<protocol::Send>(action).frame = rival_;
      return turn.Emit(std::move(action));
    }
    turn.Emit(protocol::Send{to, rival_, nullptr});
    turn.Emit(std::move(action));
  }

 private:
  static bool SealsA(const protocol::Action& action, std::uint64_t step) {
    const auto* observe = std::get_if<protocol::Observe>(&action);
    const auto* sealed = observe ? std::get_if<protocol::Sealed>(&observe->what) : nullptr;
    return sealed && sealed->step == step &&
           sealed->phase == static_cast<std::uint8_t>(wire::Phase::kA);
  }

  void ShowToOne(EditorTurn& turn) {
    const auto witness = victims_.At(turn);
    if (!rival_ || !witness) return;
    shown_in_ = turn.step() + 1;
    turn.Confess();
    turn.Emit(protocol::Send{*witness, rival_, nullptr});
  }

  void MakeRival(EditorTurn& turn, const wire::SignedEnvelope& original) {
    if (rival_ && original.frame == rival_of_) return;
    wire::Envelope envelope = original.envelope;
    auto commit = wire::Decode<wire::Commit>(envelope.body);
    OSTRAKA_CHECK(commit.ok());
    commit->coins_root.bytes[0] ^= 1;
    envelope.body = wire::Encode(*commit);
    rival_ = wire::Seal(std::move(envelope), *key_).frame;
    rival_of_ = original.frame;
    if (one_) return;
    turn.Confess();
    if (!split_) turn.Deliver(protocol::MessageReceived{turn.self(), rival_, nullptr});
  }

  std::uint64_t from_step_;
  bool split_;
  bool one_;
  std::shared_ptr<const crypto::SigningKey> key_;
  Victims victims_;
  FrameReader frames_;
  std::uint64_t shown_in_ = 0;  // the last step in which the rival was shown, plus one; 0: none
  base::SharedBytes rival_of_;
  base::SharedBytes rival_;
};

}  // namespace

std::unique_ptr<Editor> MakeEquivocate(const EditorOptions& options) {
  return std::make_unique<Equivocate>(options);
}

}  // namespace ostraka::sim
