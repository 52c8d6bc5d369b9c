// gone_donor: answers whoever fetches a state with the first `pieces` pieces, and then never again
// (0: nobody, ever); removed = 1: from the step on in which it first did so it says nothing to
// anybody, and is dropped while others still wait for its answers.
//
// Rule: each request moves on to the next member when it has waited long enough (catch_up.h).
// Cost to who catches up: the wait for one answer of each donor that is gone, and no more.
// Found by: nothing; contained (removed: dropped, as it is sealed absent).
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "node/protocol/lasting/chain_server.h"
#include "sim/adversary/frames.h"
#include "sim/attacks/messages/guest_factories.h"

namespace ostraka::sim {
namespace {

class GoneDonor final : public Editor {
 public:
  explicit GoneDonor(const EditorOptions& options)
      : from_step_(options.from_step),
        pieces_(static_cast<std::uint64_t>(options.Param("pieces"))),
        vanishes_(options.Param("removed") != 0) {}

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    const auto* send = std::get_if<protocol::Send>(&action);
    if (send == nullptr || turn.step() < from_step_) return turn.Emit(std::move(action));
    if (vanished_in_ && turn.step() > *vanished_in_) return turn.Confess();
    const auto given = given_.find(send->to);
    const bool is_gone = (given == given_.end() ? 0 : given->second) >= pieces_;
    const wire::SignedEnvelope* message = frames_.Open(send->frame);
    const bool answers = message != nullptr && wire::IsService(message->envelope.slot.type);
    if (answers && is_gone && message->envelope.slot.type != wire::MessageType::kPull) {
      return turn.Confess();
    }
    if (answers && IsPiece(*message)) {
      if (++given_[send->to] >= pieces_ && vanishes_ && !vanished_in_) vanished_in_ = turn.step();
    }
    turn.Emit(std::move(action));
  }

 private:
  // Not the leaves, which come first.
  static bool IsPiece(const wire::SignedEnvelope& message) {
    const wire::Slot& slot = message.envelope.slot;
    if (slot.type != wire::MessageType::kChunk || slot.phase != protocol::kStateChunk) return false;
    const auto* chunk = message.As<wire::Chunk>();
    return chunk != nullptr && chunk->index > 0;
  }

  std::uint64_t from_step_;
  std::uint64_t pieces_;
  bool vanishes_;
  std::map<base::PeerId, std::uint64_t> given_;  // pieces, by who fetched them
  std::optional<std::uint64_t> vanished_in_;
  FrameReader frames_;
};

}  // namespace

std::unique_ptr<Editor> MakeGoneDonor(const EditorOptions& options) {
  return std::make_unique<GoneDonor>(options);
}

}  // namespace ostraka::sim
