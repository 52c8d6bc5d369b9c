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
  for (auto it = places_.lower_bound({step, phase, wire::MessageType::kBoot, 0, 0});
       it != places_.end() && it->first.step == step && it->first.phase == phase; ++it) {
    for (const auto& [sender, item] : it->second) {
      if (const auto found = WithDigest(item, digest)) return found.get();
    }
  }
  return nullptr;
}

void Inbox::ForgetBefore(std::uint64_t step) {
  while (!places_.empty() && places_.begin()->first.step < step) places_.erase(places_.begin());
}

void Inbox::ForgetSenderAfter(std::uint64_t step, const PeerId& sender) {
  for (auto& [place, items] : places_) {
    if (place.step > step) items.erase(sender);
  }
}

void Inbox::ForgetSlowPath(std::uint32_t iteration) {
  std::erase_if(places_, [&](const auto& entry) {
    return IsSlowPath(entry.first.type) && entry.first.iteration < iteration;
  });
}

}  // namespace ostraka::protocol
