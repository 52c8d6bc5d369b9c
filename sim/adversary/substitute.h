// Base of attacks that sign another body for a slot than the inner machine would. Only one body is
// signed, so there is no evidence of equivocation.
//
// The inner machine must not sign its own. So the editor does not deliver Stored for the record of
// that message, signs the other body itself and gives it to all members and the inner machine.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "node/wire/codec.h"
#include "sim/adversary/adversary.h"
#include "sim/adversary/editor_options.h"

namespace ostraka::sim {

// Messages that one colluder signs in place of its machine's.
class Substitutes {
 public:
  explicit Substitutes(const EditorOptions& options)
      : key_(options.key), manifest_(options.manifest) {}

  // Calls `edit` for each message of the store; it returns true if it changed the message. If any
  // was changed, this class signs and sends all of them.
  template <typename Edit>
  void Prepare(const protocol::Store& store, Edit edit) {
    std::vector<wire::Envelope> own;
    bool changed = false;
    for (const protocol::Record& record : store.records) {
      if (record.kind != protocol::RecordKind::kSlot) return;
      auto envelope = wire::OpenUnsigned(record.value);
      if (!envelope.ok()) return;
      changed = edit(*envelope) || changed;
      own.push_back(std::move(envelope).value());
    }
    if (changed) prepared_[store.id] = std::move(own);
  }

  // Returns false unless the input is Stored of a changed store. Then it sends the messages to all
  // others through `send` and to the inner machine, which does not get Stored. `result`: the data
  // of a RESULT among them.
  template <typename Send>
  bool OnInput(EditorTurn& turn, const protocol::Input& input, const protocol::SharedBlob& result,
               Send send) {
    const auto* stored = std::get_if<protocol::Stored>(&input);
    auto prepared = stored ? prepared_.extract(stored->id) : decltype(prepared_)::node_type();
    if (prepared.empty()) return false;
    turn.Confess();
    for (const wire::Envelope& envelope : prepared.mapped()) {
      const base::SharedBytes frame = wire::Seal(envelope, *key_).frame;
      const bool has_blob = envelope.slot.type == wire::MessageType::kResult;
      const protocol::SharedBlob blob = has_blob ? result : nullptr;
      for (const protocol::Member& member : manifest_->members) {
        if (member.id != turn.self()) send(protocol::Send{member.id, frame, blob});
      }
      turn.Deliver(protocol::MessageReceived{turn.self(), frame, blob});
    }
    return true;
  }
  // As above; sends directly.
  bool OnInput(EditorTurn& turn, const protocol::Input& input,
               const protocol::SharedBlob& result = nullptr) {
    return OnInput(turn, input, result,
                   [&turn](protocol::Send send) { turn.Emit(std::move(send)); });
  }

 private:
  std::shared_ptr<const crypto::SigningKey> key_;
  std::shared_ptr<const protocol::Manifest> manifest_;
  std::map<protocol::StoreId, std::vector<wire::Envelope>> prepared_;
};

// Replaces broadcasts of `type` from a step on.
class SubstitutingEditor : public Editor {
 public:
  SubstitutingEditor(const EditorOptions& options, wire::MessageType type)
      : from_step_(options.from_step), type_(type), substitutes_(options) {}

  void OnInput(EditorTurn& turn, protocol::Input input) final {
    if (!substitutes_.OnInput(turn, input)) turn.Deliver(input);
  }

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    const auto* store = std::get_if<protocol::Store>(&action);
    // A message to all is alone in its store.
    if (store && store->records.size() == 1) {
      substitutes_.Prepare(*store, [&](wire::Envelope& own) {
        if (own.slot.type != type_ || own.slot.step < from_step_) return false;
        std::optional<base::Bytes> body = Another(turn, own);
        if (body) own.body = std::move(*body);
        return body.has_value();
      });
    }
    turn.Emit(std::move(action));
  }

 private:
  // Nullopt lets the inner machine sign its own.
  virtual std::optional<base::Bytes> Another(const EditorTurn& turn, const wire::Envelope& own) = 0;

  std::uint64_t from_step_;
  wire::MessageType type_;
  Substitutes substitutes_;
};

}  // namespace ostraka::sim
