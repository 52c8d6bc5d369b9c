// bad_reveal: REVEAL opens a coin that COMMIT did not commit to.
//
// The machine inside must not sign its true REVEAL, or there would be two and the offence another.
// So the editor keeps it from learning that the record of its REVEAL is stored, signs a false one
// itself, and hands that to everybody, the machine inside included.
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "node/protocol/signer.h"
#include "node/wire/codec.h"
#include "sim/adversary/editors.h"

namespace ostraka::sim {
namespace {

class BadReveal final : public Editor {
 public:
  explicit BadReveal(const EditorOptions& options)
      : from_step_(options.from_step), key_(options.key), manifest_(options.manifest) {}

  void OnInput(Turn& turn, protocol::Input input) override {
    const auto* stored = std::get_if<protocol::Stored>(&input);
    if (!stored || !prepared_ || stored->id != *prepared_) return turn.Deliver(input);
    prepared_.reset();
    turn.Confess();
    const base::SharedBytes frame = ForgeReveal(turn);
    for (const protocol::Member& member : manifest_->members) {
      if (member.id != turn.self()) turn.Emit(protocol::Send{member.id, frame, nullptr});
    }
    turn.Deliver(protocol::MessageReceived{turn.self(), frame, nullptr});
  }

  void OnAction(Turn& turn, protocol::Action action) override {
    if (const auto* observe = std::get_if<protocol::Observe>(&action)) {
      const auto* sealed = std::get_if<protocol::Sealed>(&observe->what);
      if (sealed && sealed->phase == static_cast<std::uint8_t>(wire::Phase::kA)) {
        entry_ = sealed->decision;
      }
    }
    if (const auto* store = std::get_if<protocol::Store>(&action)) {
      if (turn.step() >= from_step_ && HoldsReveal(*store, turn.step())) prepared_ = store->id;
    }
    turn.Emit(std::move(action));
  }

 private:
  // The first draw only: later ones follow decisions that depend on what happened to this one.
  wire::Slot SlotOf(std::uint64_t step) const {
    return {.run_id = manifest_->run_id,
            .incarnation = 0,
            .step = step,
            .phase = wire::Phase::kB,
            .type = wire::MessageType::kReveal,
            .draw = 0,
            .iteration = 0};
  }

  bool HoldsReveal(const protocol::Store& store, std::uint64_t step) const {
    const base::Bytes key = protocol::SlotKey(SlotOf(step));
    for (const protocol::Record& record : store.records) {
      if (record.kind == protocol::RecordKind::kSlot && record.key == key) return true;
    }
    return false;
  }

  base::SharedBytes ForgeReveal(const Turn& turn) const {
    wire::Reveal reveal;
    reveal.opening.coin.value = entry_;  // any value serves
    return wire::Seal({SlotOf(turn.step()), entry_, turn.self(), wire::Encode(reveal)}, *key_)
        .frame;
  }

  std::uint64_t from_step_;
  std::shared_ptr<const crypto::SigningKey> key_;
  std::shared_ptr<const protocol::Manifest> manifest_;
  base::Digest entry_;                         // decision of the last seal A: what REVEAL names
  std::optional<protocol::StoreId> prepared_;  // the store that the next REVEAL waits for
};

}  // namespace

std::unique_ptr<Editor> MakeBadReveal(const EditorOptions& options) {
  return std::make_unique<BadReveal>(options);
}

}  // namespace ostraka::sim
