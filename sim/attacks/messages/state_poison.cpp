// state_poison: who asks for blocks, results or a state gets other bytes than were asked for.
//
// Whoever comes back from a crash takes all of that from others. Each piece proves itself by hashes
// up to what a quorum sealed, so a poisoned one has to be seen for what it is, and asked of
// another.
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

  void OnAction(Turn& turn, protocol::Action action) override {
    if (turn.step() < from_step_ || !IsAnswer(action)) return turn.Emit(std::move(action));
    turn.Confess();
    auto& send = std::get<protocol::Send>(action);
    send.blob = crypto::MakeBlob(Poisoned(send.blob->data));
    turn.Emit(std::move(action));
  }

 private:
  // With bulk data: a block, a piece of a state, a result.
  bool IsAnswer(const protocol::Action& action) {
    const auto* send = std::get_if<protocol::Send>(&action);
    if (!send || !send->blob || send->blob->data.empty()) return false;
    const wire::SignedEnvelope* message = frames_.Open(send->frame);
    return message && wire::IsService(message->envelope.slot.type);
  }

  // As long and one bit off, as finite floats may be; or one byte short.
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
