// One member of a seal_world.h, with the messages that it holds: for the sources of World only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "tests/unit/protocol/seal/seal_world.h"

namespace ostraka::protocol::scene {

struct World::Node final : SealMessages {
  std::uint32_t number = 0;
  PeerId id;
  bool up = false;
  std::uint64_t life = 0;  // what was under way to an earlier life is lost
  Time entered;
  std::map<std::size_t, std::vector<Digest>> held;  // by entry, in the order they came
  std::vector<wire::SignedEnvelope> waiting;        // came before it entered
  std::vector<wire::SignedEnvelope> stored;         // own frames
  std::unique_ptr<Seal> seal;
  std::optional<Time> echoed_at;
  std::optional<SealVector> echoed;
  std::optional<Time> decided_at;
  std::set<std::uint32_t> lied_through;

  SealEntry EntryNow(std::size_t index) const override {
    const auto found = held.find(index);
    if (found == held.end()) return {};
    if (found->second.size() > 1) return {SealEntry::State::kEquivocated, {}};
    return {SealEntry::State::kPresent, found->second.front()};
  }
  bool Holds(std::size_t index, const Digest& digest) const override {
    const auto found = held.find(index);
    return found != held.end() &&
           std::find(found->second.begin(), found->second.end(), digest) != found->second.end();
  }
};

}  // namespace ostraka::protocol::scene
