// The coins of one member in one step (phase B: multi-party random number generation). Seal A fixes
// every gradient, aggregate and coin commitment before any coin is shown. A member whose REVEAL is
// missing or false is left out, and the others reveal their next coin. So an abort gets one new
// draw, and the aborter loses its place in the step. Rationale: mixing only what came would give an
// attacker a choice among 2^f coins.
//
// Pure functions of the member's private seed. Memory: none. An attacker who learns the seed knows
// the coins in advance; it is in no message.
#pragma once

#include <cstdint>
#include <vector>

#include "crypto/commitment.h"
#include "crypto/hash_into.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

struct OwnCoins {
  base::PeerId self;
  base::Digest private_seed;
  std::uint64_t step = 0;
  std::uint32_t count = 0;  // coins of the step
  void HashInto(crypto::Hasher& hasher) const;

  crypto::Coin CoinOf(std::uint32_t draw) const;
  // One for each draw; their Merkle root stands in the COMMIT.
  std::vector<base::Digest> Commitments() const;
  // The body of the REVEAL of that draw. REQUIRES: `draw` < `count`.
  wire::Reveal RevealOf(std::uint32_t draw) const;
};

}  // namespace ostraka::protocol
