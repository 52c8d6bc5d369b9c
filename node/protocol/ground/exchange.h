// The bytes that a step moves.
//
// Thread safety: a pure function.
#pragma once

#include <cstdint>

#include "node/protocol/ground/manifest.h"

namespace ostraka::protocol {

// Of a member that works and owns a part: its parts to the other owners, the aggregate of its own
// to all members, and what it gets of both. Control messages come on top.
struct Exchange {
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_bytes = 0;
  bool operator==(const Exchange&) const = default;
};

// In a step of the run's first members with a model of `dimension` parameters, of whom nobody is
// away. REQUIRES: the manifest is valid.
Exchange ExchangeOf(const Manifest& manifest, std::uint64_t dimension);

}  // namespace ostraka::protocol
