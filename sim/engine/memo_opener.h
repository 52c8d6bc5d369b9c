// An Opener that remembers the frames it opened, for all peers of one simulation: a message from
// one peer to 100 others is decoded once and held in memory once.
//
// Promise: answers exactly as PlainOpener does. The key of a frame is its object, which is
// immutable and stays alive while it is remembered. Equal bytes in another object are opened again,
// and a frame that does not open is not remembered.
// Memory: at most 2 x `capacity` opened messages.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "node/wire/opener.h"
#include "sim/engine/generations.h"

namespace ostraka::sim {

class MemoOpener final : public wire::Opener {
 public:
  explicit MemoOpener(std::size_t capacity = 1 << 14) : opened_(capacity) {}

  base::StatusOr<wire::SharedMessage> Open(const base::SharedBytes& frame) override {
    if (const auto* known = opened_.Find(frame.get())) return known->second;
    ++opened_for_real_;
    ASSIGN_OR_RETURN(wire::SharedMessage opened, plain_.Open(frame));
    // A service has one reader.
    if (!wire::IsService(opened->envelope.slot.type)) opened_.Add({frame.get(), opened});
    return opened;
  }

  std::uint64_t opened_for_real() const { return opened_for_real_; }
  std::size_t remembered() const { return opened_.size(); }

 private:
  wire::PlainOpener plain_;
  // Each message holds its frame, so no other frame can have that address.
  Generations<std::unordered_map<const base::Bytes*, wire::SharedMessage>> opened_;
  std::uint64_t opened_for_real_ = 0;
};

}  // namespace ostraka::sim
