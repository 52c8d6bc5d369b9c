// Copies of own messages that a colluder signs beside the true ones: unreadable, or for the slot
// before or after.
//
// Promises:
//   F1  A message has one copy of each kind, whose frame stays equal until Forget.
//
// May not know: who gets a copy.
//
// Memory: the copies made since the last Forget.
//
// Thread safety: none; one owner.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "crypto/sign.h"
#include "node/wire/codec.h"
#include "sim/script/script.h"

namespace ostraka::sim {

// The slot of the next or the previous step (or iteration), if it exists.
inline std::optional<wire::Slot> Shifted(wire::Slot slot, bool later) {
  using wire::MessageType;
  const bool by_iteration = slot.type == MessageType::kStatus ||
                            slot.type == MessageType::kPropose || slot.type == MessageType::kVote ||
                            slot.type == MessageType::kLock;
  if (by_iteration) {
    if (!later && slot.iteration <= 1) return std::nullopt;
    slot.iteration = later ? slot.iteration + 1 : slot.iteration - 1;
    return slot;
  }
  if (slot.phase == wire::Phase::kGenesis || (!later && slot.step == 0)) return std::nullopt;
  slot.step = later ? slot.step + 1 : slot.step - 1;
  return slot;
}

class ForgedCopies {
 public:
  explicit ForgedCopies(std::shared_ptr<const crypto::SigningKey> key) : key_(std::move(key)) {}

  // `what`: kUnreadable, kOlder or kLater. Null if another author signed the message, or no such
  // slot exists. Valid until Forget.
  const base::SharedBytes* Of(const wire::SignedEnvelope& word, Deviation::Do what) {
    if (word.envelope.sender != key_->id()) return nullptr;
    const auto [place, is_new] = made_.try_emplace({word.digest, what});
    if (is_new) {
      wire::Envelope envelope = word.envelope;
      if (what == Deviation::Do::kUnreadable) {
        envelope.body = {0xff};
      } else if (const auto slot = Shifted(envelope.slot, what == Deviation::Do::kLater)) {
        envelope.slot = *slot;
      } else {
        return nullptr;
      }
      place->second = wire::Seal(std::move(envelope), *key_).frame;
    }
    return place->second ? &place->second : nullptr;
  }
  // Copies that are made again have equal frames.
  void Forget() { made_.clear(); }

 private:
  std::shared_ptr<const crypto::SigningKey> key_;
  // By the message that they replace; null: there is no such slot.
  std::map<std::pair<base::Digest, Deviation::Do>, base::SharedBytes> made_;
};

}  // namespace ostraka::sim
