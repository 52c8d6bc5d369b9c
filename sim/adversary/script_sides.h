// Members in a script's terms: honest members and colluders by key, and the two halves.
//
// Promises:
//   S1  Every genesis member is honest or a colluder, and has one index among its like, by key.
//   S2  Every honest member is in one half. The script names the second half of the first 64.
//
// May not know: messages, time.
//
// Memory: a key for each genesis member.
//
// Thread safety: none; one owner. Constant after construction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "node/base/check.h"
#include "node/protocol/ground/manifest.h"
#include "sim/adversary/coven.h"
#include "sim/script/events.h"
#include "sim/script/script.h"

namespace ostraka::sim {

class ScriptSides {
 public:
  ScriptSides(const protocol::Manifest& manifest, const Coven& coven, const Script& script)
      : friends_(coven.members()), second_half_(script.second_half) {
    for (const protocol::Member& member : manifest.members) {
      if (!coven.Contains(member.id)) honest_.push_back(member.id);
    }
    std::sort(honest_.begin(), honest_.end());
    OSTRAKA_CHECK(std::is_sorted(friends_.begin(), friends_.end()));  // S1
  }

  std::optional<std::uint32_t> Honest(const base::PeerId& peer) const {
    return PlaceIn(honest_, peer);
  }
  std::optional<std::uint32_t> Friend(const base::PeerId& peer) const {
    return PlaceIn(friends_, peer);
  }
  // 0: the first half; 1: the second.
  std::uint8_t HalfOf(std::uint32_t honest) const {
    return honest < 64 ? static_cast<std::uint8_t>(second_half_ >> honest & 1) : 0;
  }
  std::uint32_t honest_count() const { return static_cast<std::uint32_t>(honest_.size()); }

  // The sizes that the events of a script count with, as one colluder sees them.
  Sides SizesFor(std::size_t quorum) const {
    Sides sides;
    for (std::uint32_t i = 0; i < honest_count(); ++i) ++(HalfOf(i) ? sides.second : sides.first);
    sides.friends = friends_.size() - 1;
    sides.short_of_quorum = quorum > friends_.size() ? quorum - friends_.size() : 1;
    return sides;
  }

 private:
  static std::optional<std::uint32_t> PlaceIn(const std::vector<base::PeerId>& ids,
                                              const base::PeerId& peer) {
    const auto place = std::lower_bound(ids.begin(), ids.end(), peer);
    if (place == ids.end() || *place != peer) return std::nullopt;
    return static_cast<std::uint32_t>(place - ids.begin());
  }

  std::vector<base::PeerId> honest_;
  std::vector<base::PeerId> friends_;
  std::uint64_t second_half_;
};

}  // namespace ostraka::sim
