// Salted commitments to the coins of a step.
//
// coin       = H(kDomainCoinSeed, private seed | u64 step | u64 draw | u64 0); its salt: u64 1
// commitment = H(kDomainCoin, peer | u64 step | u64 draw | coin | salt)
//
// Attack: a peer replays another peer's commitment; the peer's id in the hash prevents it. Attack:
// a peer guesses the coin; the salt prevents it. A COMMIT carries the Merkle root of the step's
// commitments (crypto/merkle.h); a REVEAL opens one.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "crypto/merkle.h"
#include "crypto/sign.h"
#include "node/base/ids.h"

namespace ostraka::crypto {

using base::PeerId;

struct Coin {
  Digest value;  // 32 random bytes
  Digest salt;   // 32 random bytes
};

// The coin of the holder of `private_seed` for (step, draw): secret until revealed, and a function
// of its arguments alone. REQUIRES: private_seed has 32 bytes that no peer can guess.
Coin DeriveCoin(ByteView private_seed, std::uint64_t step, std::uint64_t draw);

// The private seed of a key's coins in a run. It is equal at every start, so that a restarted peer
// can open its commitments, and secret as long as the key is.
Digest CoinSeed(const SigningKey& key, const Digest& run_id);

Digest CommitCoin(const PeerId& peer, std::uint64_t step, std::uint64_t draw, const Coin& coin);

// The content of a REVEAL: the coin and its path under the root in the COMMIT.
struct CoinOpening {
  Coin coin;
  std::vector<Digest> path;
};

// True iff `opening` opens leaf `draw` of `coin_count` coins under `coins_root`. Any input is safe.
bool VerifyOpening(const PeerId& peer, std::uint64_t step, std::uint64_t draw,
                   std::size_t coin_count, const Digest& coins_root, const CoinOpening& opening);

}  // namespace ostraka::crypto
