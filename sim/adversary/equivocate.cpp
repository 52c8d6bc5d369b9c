// equivocate: two different COMMITs for one slot.
//
// By default everyone gets both, the rival first, and so does the machine inside: all peers, the
// attacker among them, see the same equivocation, and the seal can say so. With split = 1 every
// second member gets only the rival: no two halves agree on what was sent.
#include <memory>
#include <utility>

#include "node/base/check.h"
#include "sim/adversary/editors.h"
#include "sim/adversary/frames.h"

namespace ostraka::sim {
namespace {

class Equivocate final : public Editor {
 public:
  explicit Equivocate(const EditorOptions& options)
      : from_step_(options.from_step),
        split_(options.Param("split") != 0),
        key_(options.key),
        victims_(options) {}

  void OnAction(Turn& turn, protocol::Action action) override {
    const wire::SignedEnvelope* message = frames_.ReadOwn(turn, action, from_step_);
    if (!message || message->envelope.slot.type != wire::MessageType::kCommit) {
      return turn.Emit(std::move(action));
    }
    MakeRival(turn, *message);
    const base::PeerId to = std::get<protocol::Send>(action).to;
    if (split_) {
      if (victims_.InSecondHalf(to)) std::get<protocol::Send>(action).frame = rival_;
      return turn.Emit(std::move(action));
    }
    turn.Emit(protocol::Send{to, rival_, nullptr});
    turn.Emit(std::move(action));
  }

 private:
  void MakeRival(Turn& turn, const wire::SignedEnvelope& original) {
    if (rival_ && original.frame == rival_of_) return;
    wire::Envelope envelope = original.envelope;
    auto commit = wire::DecodeCommit(envelope.body);
    OSTRAKA_CHECK(commit.ok());
    commit->coins_root.bytes[0] ^= 1;
    envelope.body = wire::Encode(*commit);
    rival_ = wire::Seal(std::move(envelope), *key_).frame;
    rival_of_ = original.frame;
    turn.Confess();
    if (!split_) turn.Deliver(protocol::MessageReceived{turn.self(), rival_, nullptr});
  }

  std::uint64_t from_step_;
  bool split_;
  std::shared_ptr<const crypto::SigningKey> key_;
  Victims victims_;
  FrameReader frames_;
  base::SharedBytes rival_of_;
  base::SharedBytes rival_;
};

}  // namespace

std::unique_ptr<Editor> MakeEquivocate(const EditorOptions& options) {
  return std::make_unique<Equivocate>(options);
}

}  // namespace ostraka::sim
