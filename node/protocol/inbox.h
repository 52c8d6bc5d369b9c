// The messages of the current step and the first phase of the next, one per sender and place.
//
// Why bounded: a place is (step, phase, type, draw) and a sender fills it once; the window is two
// steps; draws are limited. So a peer can make us hold at most a dozen frames and two blobs a step.
// A second, different message for the same slot is equivocation: its frame is kept as the proof. A
// second message for another iteration of the same place (a PART for an index I do not own) is
// refused.
//
// Thread safety: one owner.
#pragma once

#include <compare>
#include <cstdint>
#include <map>

#include "crypto/hash.h"
#include "crypto/merkle.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

using base::PeerId;
using crypto::SharedBlob;

class Inbox {
 public:
  struct Place {
    std::uint64_t step = 0;
    wire::Phase phase = wire::Phase::kGenesis;
    wire::MessageType type = wire::MessageType::kBoot;
    std::uint32_t draw = 0;
    auto operator<=>(const Place&) const = default;
  };
  struct Item {
    wire::SignedEnvelope message;
    SharedBlob blob;          // null if none came
    base::SharedBytes rival;  // another frame signed for the same slot; null unless equivocated
  };
  enum class Outcome : std::uint8_t { kNew, kDuplicate, kEquivocation, kRefused };

  // What Add would return, without changing anything. Lets a caller skip the signature check of a
  // duplicate.
  Outcome Probe(const wire::SignedEnvelope& message) const;
  // REQUIRES: the signature was verified, and the caller checked the window.
  Outcome Add(wire::SignedEnvelope message, SharedBlob blob);

  // The same, but a different message takes the place of the one held: for BOOT, where the newest
  // start of a process counts and two are no offence.
  void Replace(wire::SignedEnvelope message);

  // Null if that sender filled that place with nothing yet.
  const Item* Find(const Place& place, const PeerId& sender) const;
  // All messages of a place, by sender.
  const std::map<PeerId, Item>& At(const Place& place) const;

  // Feeds every message held, in order: for fingerprints.
  void HashInto(crypto::Hasher& hasher) const;

  void ForgetBefore(std::uint64_t step);
  // A removed member's messages mean nothing any more.
  void ForgetSender(const PeerId& sender);

  static Place PlaceOf(const wire::Slot& slot) {
    return {slot.step, slot.phase, slot.type, slot.draw};
  }

 private:
  std::map<Place, std::map<PeerId, Item>> places_;
};

}  // namespace ostraka::protocol
