#include "sim/script/events.h"

#include <algorithm>

namespace ostraka::sim {
namespace {

using Side = Happening::Side;

constexpr std::uint64_t kRememberedSteps = 2;

bool IsOf(Side wanted, Side side) {
  return wanted == Side::kAny ? side != Side::kFriends : wanted == side;
}

std::size_t CountOf(const Sides& sides, Side side) {
  switch (side) {
    case Side::kAny:
      return sides.first + sides.second;
    case Side::kFirst:
      return sides.first;
    case Side::kSecond:
      return sides.second;
    case Side::kFriends:
      return sides.friends;
  }
  return 0;
}

}  // namespace

SealName SealOf(const wire::Slot& slot) {
  const bool genesis = slot.phase == wire::Phase::kGenesis;
  return {genesis ? 0 : slot.step + 1, static_cast<std::uint8_t>(slot.phase), slot.draw};
}

void EventLog::NoteWord(const wire::Slot& slot, const base::PeerId& author, Side side,
                        base::Time now) {
  Seal& seal = seals_[SealOf(slot)];
  Heard& heard = seal.words[{slot.type, slot.iteration, side}];
  if (!heard.authors.insert(author).second) return;
  heard.at.push_back(now);
  auto& first = seal.first_word[static_cast<std::size_t>(side)];
  if (!first) first = now;
}

void EventLog::NoteBegin(const SealName& seal, base::Time now) {
  seals_[seal].begun = now;
  std::erase_if(seals_, [&](const auto& entry) {
    return entry.first.height + kRememberedSteps < seal.height;
  });
}

void EventLog::NoteDeadline(const SealName& seal, base::Time at) { seals_[seal].deadline = at; }

// In order; an author counts once for each iteration in which its message came.
std::vector<base::Time> EventLog::TimesOf(const Seal& seal, const Happening& event) const {
  std::vector<base::Time> times;
  for (const auto& [kind, heard] : seal.words) {
    if (kind.type != event.type || !IsOf(event.side, kind.side)) continue;
    if (event.iteration != 0 && kind.iteration != event.iteration) continue;
    times.insert(times.end(), heard.at.begin(), heard.at.end());
  }
  std::sort(times.begin(), times.end());
  return times;
}

std::optional<base::Time> EventLog::NextAfter(const SealName& name, Side side) const {
  std::optional<base::Time> next;
  for (auto later = seals_.upper_bound(name); later != seals_.end(); ++later) {
    for (std::size_t i = 0; i < later->second.first_word.size(); ++i) {
      const auto& word = later->second.first_word[i];
      if (word && IsOf(side, static_cast<Side>(i)) && (!next || *word < *next)) next = word;
    }
  }
  return next;
}

std::optional<base::Time> EventLog::BaseOf(const Happening& event, const SealName& name,
                                           const Sides& sides) const {
  if (event.kind == Happening::Kind::kNext) return NextAfter(name, event.side);
  const auto place = seals_.find(name);
  if (place == seals_.end()) return std::nullopt;
  const Seal& seal = place->second;
  if (event.kind == Happening::Kind::kBegin) return seal.begun;
  if (event.kind == Happening::Kind::kDeadline) return seal.deadline;
  const std::vector<base::Time> times = TimesOf(seal, event);
  std::size_t number = 1;
  if (event.which == Happening::Which::kLast) number = CountOf(sides, event.side);
  if (event.which == Happening::Which::kShort) number = sides.short_of_quorum;
  if (number == 0 || times.size() < number) return std::nullopt;
  return times[number - 1];
}

std::optional<base::Time> EventLog::DueAt(const Happening& event, const SealName& seal,
                                          const Sides& sides, base::Duration d) const {
  const auto base = BaseOf(event, seal, sides);
  if (!base) return std::nullopt;
  const base::Time due = *base + d * event.offset;
  // A hold cannot end before the event is known.
  return event.kind == Happening::Kind::kDeadline ? due : std::max(due, *base);
}

}  // namespace ostraka::sim
