#include "node/protocol/inbox.h"

#include <utility>

namespace ostraka::protocol {

Inbox::Outcome Inbox::Probe(const wire::SignedEnvelope& message) const {
  const wire::Envelope& envelope = message.envelope;
  const Item* held = Find(PlaceOf(envelope.slot), envelope.sender);
  if (held == nullptr) return Outcome::kNew;
  if (held->message.digest == message.digest) return Outcome::kDuplicate;
  if (held->message.envelope.slot != envelope.slot) return Outcome::kRefused;
  return held->rival == nullptr ? Outcome::kEquivocation : Outcome::kDuplicate;
}

Inbox::Outcome Inbox::Add(wire::SignedEnvelope message, SharedBlob blob) {
  const Outcome outcome = Probe(message);
  const Place place = PlaceOf(message.envelope.slot);
  const PeerId sender = message.envelope.sender;
  if (outcome == Outcome::kNew) {
    places_[place].emplace(sender, Item{std::move(message), std::move(blob), nullptr});
  } else if (outcome == Outcome::kEquivocation) {
    places_[place].at(sender).rival = message.frame;
  }
  return outcome;
}

void Inbox::Replace(wire::SignedEnvelope message) {
  const Place place = PlaceOf(message.envelope.slot);
  const PeerId sender = message.envelope.sender;
  places_[place].insert_or_assign(sender, Item{std::move(message), nullptr, nullptr});
}

const Inbox::Item* Inbox::Find(const Place& place, const PeerId& sender) const {
  const auto& items = At(place);
  const auto item = items.find(sender);
  return item == items.end() ? nullptr : &item->second;
}

const std::map<PeerId, Inbox::Item>& Inbox::At(const Place& place) const {
  static const std::map<PeerId, Item> kNone;
  const auto items = places_.find(place);
  return items == places_.end() ? kNone : items->second;
}

void Inbox::HashInto(crypto::Hasher& hasher) const {
  for (const auto& [place, items] : places_) {
    for (const auto& [sender, item] : items) {
      hasher.Update(item.message.digest).UpdateU64(item.rival != nullptr ? 1 : 0);
    }
  }
}

void Inbox::ForgetBefore(std::uint64_t step) {
  while (!places_.empty() && places_.begin()->first.step < step) places_.erase(places_.begin());
}

void Inbox::ForgetSender(const PeerId& sender) {
  for (auto& [place, items] : places_) items.erase(sender);
}

}  // namespace ostraka::protocol
