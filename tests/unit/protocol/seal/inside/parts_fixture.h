// What the tests of a Seal's parts share: the setup of a seal of five members, frames, and messages
// of the phase that a member holds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "node/protocol/seal/inside/setup.h"
#include "node/protocol/seal/seal_io.h"
#include "node/wire/codec.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::parts {

// Five members, of which two may be faulty: Q = 3. This member is number 0, Delta is one second.
inline SealOptions FiveMembers() {
  SealOptions options;
  options.slot.phase = wire::Phase::kB;
  options.slot.type = wire::MessageType::kEcho;
  options.self = scene::PeerNumber(0);
  options.members = scene::PeersUpTo(5);
  options.thresholds = {5, 2, 0};
  options.delta = base::Seconds(1);
  options.moment = base::Milliseconds(250);
  options.leader_seed = scene::DigestOf(1);
  options.entries = 5;
  return options;
}

inline base::SharedBytes FrameOf(std::uint8_t number) {
  return std::make_shared<const base::Bytes>(base::Bytes{number});
}

inline base::Time At(std::int64_t ms) { return base::Time{ms * 1'000'000}; }

inline wire::SignedEnvelope Message(std::uint32_t sender, wire::MessageType type,
                                    std::uint32_t iteration, base::Bytes body) {
  wire::SignedEnvelope message;
  message.envelope.slot.phase = wire::Phase::kB;
  message.envelope.slot.type = type;
  message.envelope.slot.iteration = iteration;
  message.envelope.sender = scene::PeerNumber(sender);
  message.envelope.body = std::move(body);
  message.body = wire::DecodeBody(type, message.envelope.body);
  message.digest = wire::DigestOf(message.envelope);
  message.frame = wire::EncodeUnsigned(message.envelope);
  return message;
}

// Entry i holds message 100 + i, if it is held at all.
class HeldMessages : public SealMessages {
 public:
  explicit HeldMessages(std::size_t entries) {
    for (std::size_t i = 0; i < entries; ++i) held_[i] = {scene::DigestOf(100 + i)};
  }
  SealEntry EntryNow(std::size_t index) const override {
    const auto found = held_.find(index);
    if (found == held_.end()) return {};
    if (found->second.size() > 1) return {SealEntry::State::kEquivocated, {}};
    return {SealEntry::State::kPresent, *found->second.begin()};
  }
  bool Holds(std::size_t index, const Digest& digest) const override {
    const auto found = held_.find(index);
    return found != held_.end() && found->second.contains(digest);
  }
  void Drop(std::size_t index) { held_.erase(index); }
  void Hold(std::size_t index, const Digest& digest) { held_[index].insert(digest); }

 private:
  std::map<std::size_t, std::set<Digest>> held_;
};

// All five messages, or all but one.
inline SealVector AllFive() {
  SealVector vector;
  for (std::uint32_t i = 0; i < 5; ++i) {
    vector.push_back({SealEntry::State::kPresent, scene::DigestOf(100 + i)});
  }
  return vector;
}
inline SealVector Without(std::size_t index) {
  SealVector vector = AllFive();
  vector[index] = {};
  return vector;
}
inline Digest ValueOf(const SealVector& vector) { return EchoOf(vector).vector; }

}  // namespace ostraka::protocol::parts
