// Three peers with their messages and observations, for tests of checkers.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "crypto/sign.h"
#include "node/wire/codec.h"
#include "sim/engine/checker.h"

namespace ostraka::sim {

// Peers 0 and 1 are honest, 2 is Byzantine.
inline std::shared_ptr<const crypto::SigningKey> Key(std::uint32_t peer) {
  return std::make_shared<const crypto::SigningKey>(crypto::SigningKey::FromSeed(
      base::Bytes(crypto::SigningKey::kSeedSize, static_cast<std::uint8_t>(peer + 1))));
}
inline Roster ThreePeers() {
  return {{Key(0)->id(), Key(1)->id(), Key(2)->id()}, {false, false, true}};
}

inline wire::Block ABlock(std::uint64_t step) {
  wire::Block block;
  block.step = step;
  block.members = ThreePeers().ids;
  block.thresholds = {.n = 3, .t_s = 1, .t_a = 0};
  return block;
}
inline protocol::ModelState AState(std::vector<float> parameters) {
  return {std::make_shared<const std::vector<float>>(std::move(parameters)),
          {{"velocity", std::make_shared<const std::vector<float>>(std::vector<float>{0})}}};
}
inline protocol::Action Done(wire::Block block, protocol::ModelState state = AState({1})) {
  return protocol::Observe{
      protocol::StepDone{std::make_shared<const wire::Block>(std::move(block)), std::move(state)}};
}
inline protocol::Action SealedAs(std::uint64_t step, std::uint8_t phase, std::uint8_t decision) {
  protocol::Sealed sealed{step, phase, {}};
  sealed.decision.bytes.fill(decision);
  return protocol::Observe{sealed};
}
inline protocol::Action HaltedFor(protocol::Halted::Why why) {
  return protocol::Observe{protocol::Halted{why, 3, "because"}};
}

inline wire::SignedEnvelope BootOf(std::uint32_t author, std::uint8_t store) {
  wire::Boot body;
  body.boot_id.bytes.fill(store);
  return wire::Seal({wire::Slot{}, {}, Key(author)->id(), wire::Encode(body)}, *Key(author));
}
inline wire::SignedEnvelope Reveal(std::uint32_t author, std::uint64_t step, std::uint8_t coin) {
  wire::Reveal body;
  body.opening.coin.value.bytes.fill(coin);
  wire::Slot slot;
  slot.step = step;
  slot.phase = wire::Phase::kB;
  slot.type = wire::MessageType::kReveal;
  return wire::Seal({slot, {}, Key(author)->id(), wire::Encode(body)}, *Key(author));
}
inline protocol::Action SendOf(const wire::SignedEnvelope& message) {
  return protocol::Send{Key(1)->id(), message.frame, nullptr};
}

inline protocol::SharedBlob Blob(const std::vector<float>& values) {
  base::Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return crypto::MakeBlob(std::move(bytes));
}

inline std::string Fault(const base::Status& status) { return base::MessageOf(status); }

}  // namespace ostraka::sim
