// state_poison: answers requests for blocks, results or a state with other bytes.
//
// A member that comes back from a crash gets all of these from others. Each piece is proven by
// hashes up to a block that a quorum sealed, so the member must detect a poisoned piece and ask
// another member.
//
// Rule: catching up trusts hashes only (docs/protocol/network.md).
// Cost to honest members: one more request for each poisoned piece.
// Found by: the hash check; contained.
#include <memory>
#include <utility>

#include "sim/adversary/frames.h"
#include "sim/attacks/messages/factories.h"

namespace ostraka::sim {
namespace {

class StatePoison final : public Editor {
 public:
  explicit StatePoison(const EditorOptions& options)
      : from_step_(options.from_step), cut_(options.Param("cut") != 0) {}

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    if (turn.step() < from_step_ || !IsAnswer(action)) return turn.Emit(std::move(action));
    turn.Confess();
    auto& send = std::get<protocol::Send>(action);
    send.blob = crypto::MakeBlob(Poisoned(crypto::InMemory(send.blob)->data));
    turn.Emit(std::move(action));
  }

 private:
  // True for bulk data that answers a request: a block, a piece of a state, a result.
  bool IsAnswer(const protocol::Action& action) {
    const auto* send = std::get_if<protocol::Send>(&action);
    if (!send || !send->blob || send->blob->size() == 0) return false;
    const wire::SignedEnvelope* message = frames_.Open(send->frame);
    return message && wire::IsService(message->envelope.slot.type);
  }

  // The true bytes with one bit changed, so that they still read as finite floats; or without the
  // last byte.
  base::Bytes Poisoned(base::Bytes bytes) const {
    if (cut_) {
      bytes.pop_back();
    } else {
      bytes[bytes.size() / 2] ^= 1;
    }
    return bytes;
  }

  std::uint64_t from_step_;
  bool cut_;
  FrameReader frames_;
};

}  // namespace

std::unique_ptr<Editor> MakeStatePoison(const EditorOptions& options) {
  return std::make_unique<StatePoison>(options);
}

}  // namespace ostraka::sim
