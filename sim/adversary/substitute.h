// The shape of attacks that sign another body for a slot than the machine inside would: one body,
// so nobody can show two.
//
// The machine inside must not sign its own. So the editor keeps it from learning that the record of
// its message is stored, signs the other body itself, and gives that to everybody, the machine
// inside included.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "node/wire/codec.h"
#include "sim/adversary.h"
#include "sim/adversary/editors.h"

namespace ostraka::sim {

// Replaces messages of `type` to all members, from a step on.
class SubstitutingEditor : public Editor {
 public:
  SubstitutingEditor(const EditorOptions& options, wire::MessageType type)
      : from_step_(options.from_step),
        type_(type),
        key_(options.key),
        manifest_(options.manifest) {}

  void OnInput(Turn& turn, protocol::Input input) final {
    const auto* stored = std::get_if<protocol::Stored>(&input);
    auto prepared = stored ? prepared_.extract(stored->id) : decltype(prepared_)::node_type();
    if (prepared.empty()) return turn.Deliver(input);
    turn.Confess();
    const base::SharedBytes& frame = prepared.mapped();
    for (const protocol::Member& member : manifest_->members) {
      if (member.id != turn.self()) turn.Emit(protocol::Send{member.id, frame, nullptr});
    }
    turn.Deliver(protocol::MessageReceived{turn.self(), frame, nullptr});
  }

  void OnAction(Turn& turn, protocol::Action action) override {
    if (const auto* store = std::get_if<protocol::Store>(&action)) Prepare(turn, *store);
    turn.Emit(std::move(action));
  }

 private:
  // Nullopt to let the machine inside sign its own.
  virtual std::optional<base::Bytes> Another(const Turn& turn, const wire::Envelope& own) = 0;

  // A message to all is alone in its store.
  void Prepare(const Turn& turn, const protocol::Store& store) {
    if (store.records.size() != 1 || store.records[0].kind != protocol::RecordKind::kSlot) return;
    auto own = wire::OpenUnsigned(store.records[0].value);
    if (!own.ok() || own->slot.type != type_ || own->slot.step < from_step_) return;
    std::optional<base::Bytes> body = Another(turn, *own);
    if (!body) return;
    own->body = std::move(*body);
    prepared_[store.id] = wire::Seal(std::move(own).value(), *key_).frame;
  }

  std::uint64_t from_step_;
  wire::MessageType type_;
  std::shared_ptr<const crypto::SigningKey> key_;
  std::shared_ptr<const protocol::Manifest> manifest_;
  std::map<protocol::StoreId, base::SharedBytes> prepared_;  // what is sent once that is stored
};

}  // namespace ostraka::sim
