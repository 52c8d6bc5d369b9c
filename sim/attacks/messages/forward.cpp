// forward: does with the messages that it carries for members that only dial what a carrier can.
// mode = 1 drop: passes on none. 2 delay: each `deltas` Delta later. 3 split: only to every second
// of them. 4 replay: each twice, and one that it has kept in place of every fourth. 5 flood:
// carried_flood.cpp. (0: honest.)
//
// Rule: a message goes to F + 1 carriers, so an honest one passes it on in time; what a carrier
// does ends no wait and is no fault (docs/decisions/0024).
// Cost to honest members: none while one of the carriers of each pair is honest.
// Found by: nothing, as it harms nobody.
#include <memory>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "sim/adversary/frames.h"
#include "sim/adversary/later.h"
#include "sim/attacks/messages/factories.h"

namespace ostraka::sim {
namespace {

enum class Mode : int { kHonest = 0, kDrop = 1, kDelay = 2, kSplit = 3, kReplay = 4, kFlood = 5 };

class FalseCarrier final : public Editor {
 public:
  FalseCarrier(const EditorOptions& options, const char* mode)
      : mode_(static_cast<Mode>(static_cast<int>(options.Param(mode)))),
        deltas_(options.Param("deltas")),
        from_step_(options.from_step),
        delta_(options.manifest->delta),
        victims_(options) {}

  void OnInput(EditorTurn& turn, protocol::Input input) override {
    if (!later_.OnInput(turn, input)) turn.Deliver(input);
  }

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    if (mode_ == Mode::kHonest || turn.step() < from_step_ || !Carries(turn, action)) {
      return turn.Emit(std::move(action));
    }
    turn.Confess();
    ++carried_;
    const base::PeerId to = std::get<protocol::Send>(action).to;
    switch (mode_) {
      case Mode::kHonest:
      case Mode::kDrop:
      case Mode::kFlood:
        return;
      case Mode::kDelay: {
        const auto wait = static_cast<std::int64_t>(deltas_ * static_cast<double>(delta_.ns));
        return later_.Hold(turn, turn.now() + base::Duration{wait}, std::move(action));
      }
      case Mode::kSplit:
        if (victims_.InSecondHalf(to)) turn.Emit(std::move(action));
        return;
      case Mode::kReplay:
        if (carried_ % 4 == 0 && kept_.frame != nullptr) return turn.Emit(kept_);
        kept_ = std::get<protocol::Send>(action);
        turn.Emit(action);
        return turn.Emit(std::move(action));
    }
  }

  base::Digest Fingerprint() const override {
    return crypto::Hasher(crypto::kDomainFingerprint)
        .UpdateU64(later_.size())
        .UpdateU64(carried_)
        .Finish();
  }

 private:
  // The action passes on what somebody else said.
  bool Carries(const EditorTurn& turn, const protocol::Action& action) {
    const wire::SignedEnvelope* message = frames_.Read(action);
    if (message == nullptr || message->envelope.slot.type != wire::MessageType::kForward) {
      return false;
    }
    const auto* forward = message->As<wire::Forward>();
    return forward != nullptr && forward->from != turn.self();
  }

  Mode mode_;
  double deltas_;
  std::uint64_t from_step_;
  base::Duration delta_;  // of the manifest
  Victims victims_;
  FrameReader frames_;
  Later later_;
  std::uint64_t carried_ = 0;
  protocol::Send kept_;
};

// The attack is in what its machine declares (AdversaryOptions::FlipsReach).
class FlagFlip final : public Editor {
 public:
  explicit FlagFlip(const EditorOptions& options) : from_step_(options.from_step) {}
  void OnAction(EditorTurn& turn, protocol::Action action) override {
    if (turn.step() >= from_step_) turn.Confess();
    turn.Emit(std::move(action));
  }

 private:
  std::uint64_t from_step_;
};

}  // namespace

std::unique_ptr<Editor> MakeForward(const EditorOptions& options) {
  const auto mode = static_cast<Mode>(static_cast<int>(options.Param("mode")));
  if (mode == Mode::kFlood) return MakeCarriedFlood(options);
  return std::make_unique<FalseCarrier>(options, "mode");
}

std::unique_ptr<Editor> MakeFlagFlip(const EditorOptions& options) {
  return std::make_unique<FlagFlip>(options);
}

std::vector<std::unique_ptr<Editor>> MakeFreeCarrier(const EditorOptions& options) {
  std::vector<std::unique_ptr<Editor>> editors;
  editors.push_back(MakeFree(options));
  if (options.Param("carry") != 0) {
    editors.push_back(std::make_unique<FalseCarrier>(options, "carry"));
  }
  return editors;
}

}  // namespace ostraka::sim
