// selective_send: one honest owner, the same for the whole coven and run, does not get its part.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/adversary/editors.h"
#include "sim/adversary/frames.h"

namespace ostraka::sim {
namespace {

class SelectiveSend final : public Editor {
 public:
  explicit SelectiveSend(const EditorOptions& options)
      : from_step_(options.from_step), seed_(options.coven_seed), manifest_(options.manifest) {}

  void OnAction(Turn& turn, protocol::Action action) override {
    const wire::SignedEnvelope* message = frames_.Read(action);
    const bool is_part = message && message->envelope.sender == turn.self() &&
                         message->envelope.slot.type == wire::MessageType::kPart;
    if (!is_part || message->envelope.slot.step < from_step_ ||
        std::get<protocol::Send>(action).to != Victim(turn)) {
      return turn.Emit(std::move(action));
    }
    turn.Confess();
  }

 private:
  // Nullopt if everybody is in the coven.
  const std::optional<base::PeerId>& Victim(const Turn& turn) {
    if (victim_) return victim_;
    std::vector<base::PeerId> honest;
    for (const protocol::Member& member : manifest_->members) {
      if (!turn.coven().Contains(member.id)) honest.push_back(member.id);
    }
    if (!honest.empty()) victim_ = honest[seed_ % honest.size()];
    return victim_;
  }

  std::uint64_t from_step_;
  std::uint64_t seed_;
  std::shared_ptr<const protocol::Manifest> manifest_;
  FrameReader frames_;
  std::optional<base::PeerId> victim_;
};

}  // namespace

std::unique_ptr<Editor> MakeSelectiveSend(const EditorOptions& options) {
  return std::make_unique<SelectiveSend>(options);
}

}  // namespace ostraka::sim
