#include "node/protocol/mail/inbox.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"

namespace ostraka::protocol {
namespace {

bool IsSlowPath(wire::MessageType type) {
  return type >= wire::MessageType::kStatus && type <= wire::MessageType::kLock;
}

wire::SharedMessage WithDigest(const Inbox::Item& item, const Digest& digest) {
  if (item.message->digest == digest) return item.message;
  for (const Inbox::Version& rival : item.rivals) {
    if (rival.message->digest == digest) return rival.message;
  }
  return nullptr;
}

}  // namespace

const Inbox::Version* Inbox::Item::Naming(const Digest& parent) const {
  if (message->envelope.entry == parent) return this;
  const auto rival = std::find_if(rivals.begin(), rivals.end(), [&](const Version& version) {
    return version.message->envelope.entry == parent;
  });
  return rival == rivals.end() ? nullptr : &*rival;
}

Inbox::Outcome Inbox::Probe(const wire::SignedEnvelope& message) const {
  const wire::Envelope& envelope = message.envelope;
  const Item* held = Find(PlaceOf(envelope.slot), envelope.sender);
  if (held == nullptr) return Outcome::kNew;
  if (WithDigest(*held, message.digest) != nullptr) return Outcome::kDuplicate;
  if (!held->equivocated() || wanted_.contains(message.digest)) return Outcome::kRival;
  return Outcome::kMore;
}

Inbox::Outcome Inbox::Add(wire::SharedMessage message, SharedBlob blob) {
  const Outcome outcome = Probe(*message);
  const Place place = PlaceOf(message->envelope.slot);
  const PeerId sender = message->envelope.sender;
  if (outcome == Outcome::kNew || outcome == Outcome::kRival) Index(message);
  if (outcome == Outcome::kNew) {
    const bool first =
        places_[place].emplace(sender, Item{{std::move(message), std::move(blob)}, {}}).second;
    OSTRAKA_CHECK(first);  // X1
  } else if (outcome == Outcome::kRival) {
    Item& item = places_[place].at(sender);
    OSTRAKA_CHECK(WithDigest(item, message->digest) == nullptr);  // X2
    item.rivals.push_back({std::move(message), std::move(blob)});
  }
  return outcome;
}

void Inbox::Replace(wire::SharedMessage message) {
  const Place place = PlaceOf(message->envelope.slot);
  const PeerId sender = message->envelope.sender;
  const auto held = places_[place].find(sender);
  if (held != places_[place].end()) Unindex(held->second);
  Index(message);
  places_[place].insert_or_assign(sender, Item{{std::move(message), nullptr}, {}});
}

const Inbox::Item* Inbox::Find(const Place& place, const PeerId& sender) const {
  const auto& items = At(place);
  const auto item = items.find(sender);
  return item == items.end() ? nullptr : &item->second;
}

const wire::SignedEnvelope* Inbox::Find(const Place& place, const PeerId& sender,
                                        const Digest& digest) const {
  return Shared(place, sender, digest).get();  // the inbox holds it too
}

wire::SharedMessage Inbox::Shared(const Place& place, const PeerId& sender,
                                  const Digest& digest) const {
  const Item* item = Find(place, sender);
  return item == nullptr ? nullptr : WithDigest(*item, digest);
}

const std::map<PeerId, Inbox::Item>& Inbox::At(const Place& place) const {
  static const std::map<PeerId, Item> kNone;
  const auto items = places_.find(place);
  return items == places_.end() ? kNone : items->second;
}

std::size_t Inbox::CountIterations(const Place& place, const PeerId& sender) const {
  std::size_t count = 0;
  Place first = place;
  first.iteration = 0;
  for (auto it = places_.lower_bound(first); it != places_.end(); ++it) {
    Place base = it->first;
    base.iteration = 0;
    if (base != first) break;
    count += it->second.count(sender);
  }
  return count;
}

const wire::SignedEnvelope* Inbox::FindDigest(std::uint64_t step, wire::Phase phase,
                                              const Digest& digest) const {
  const auto found = by_digest_.find({step, phase, digest});
  return found == by_digest_.end() ? nullptr : found->second.get();
}

void Inbox::Index(const wire::SharedMessage& message) {
  const wire::Slot& slot = message->envelope.slot;
  by_digest_.emplace(Named{slot.step, slot.phase, message->digest}, message);
}

void Inbox::Unindex(const Item& item) {
  const wire::Slot& slot = item.message->envelope.slot;
  by_digest_.erase(Named{slot.step, slot.phase, item.message->digest});
  for (const Version& rival : item.rivals) {
    by_digest_.erase(Named{slot.step, slot.phase, rival.message->digest});
  }
}

void Inbox::ForgetBefore(std::uint64_t step) {
  while (!places_.empty() && places_.begin()->first.step < step) places_.erase(places_.begin());
  by_digest_.erase(by_digest_.begin(), by_digest_.lower_bound({step, wire::Phase::kGenesis, {}}));
}

void Inbox::ForgetSenderAfter(std::uint64_t step, const PeerId& sender) {
  for (auto& [place, items] : places_) {
    if (place.step <= step) continue;
    const auto held = items.find(sender);
    if (held == items.end()) continue;
    Unindex(held->second);
    items.erase(held);
  }
}

void Inbox::ForgetSlowPath(std::uint32_t iteration) {
  std::erase_if(places_, [&](const auto& entry) {
    const bool goes = IsSlowPath(entry.first.type) && entry.first.iteration < iteration;
    if (!goes) return false;
    for (const auto& [sender, item] : entry.second) Unindex(item);
    return true;
  });
}

void Inbox::CheckInvariants() const {
  std::size_t held = 0;
  for (const auto& [place, items] : places_) {
    for (const auto& [sender, item] : items) {
      held += 1 + item.rivals.size();
      OSTRAKA_CHECK(FindDigest(place.step, place.phase, item.message->digest) != nullptr);
    }
  }
  OSTRAKA_CHECK(held == by_digest_.size());  // X4
}

void Inbox::HashInto(crypto::Hasher& hasher) const {
  for (const auto& [place, items] : places_) {
    crypto::Feed(hasher, items.size());
    for (const auto& [sender, item] : items) crypto::Feed(hasher, item);
  }
  crypto::Feed(hasher, wanted_);
}

}  // namespace ostraka::protocol
