#include "node/protocol/mail/secrets.h"

#include "crypto/merkle.h"
#include "node/base/check.h"

namespace ostraka::protocol {

std::vector<Digest> SeedSecrets::Commitments(std::uint64_t step, std::uint32_t count) const {
  std::vector<Digest> commitments;
  for (std::uint32_t draw = 0; draw < count; ++draw) {
    const crypto::Coin coin = crypto::DeriveCoin(private_seed_.view(), step, draw);
    commitments.push_back(crypto::CommitCoin(self_, step, draw, coin));
  }
  return commitments;
}

Digest SeedSecrets::CoinsRoot(std::uint64_t step, std::uint32_t count) const {
  return crypto::MerkleRoot(Commitments(step, count));
}

crypto::CoinOpening SeedSecrets::Opening(std::uint64_t step, std::uint32_t count,
                                         std::uint32_t draw) const {
  OSTRAKA_CHECK(draw < count);
  return {.coin = crypto::DeriveCoin(private_seed_.view(), step, draw),
          .path = crypto::MerklePath(Commitments(step, count), draw)};
}

// Draws that no step has.
Digest SeedSecrets::BootNonce(std::uint64_t store_nonce) const {
  return crypto::DeriveCoin(private_seed_.view(), 0, ~store_nonce).salt;
}

Digest SeedSecrets::RejoinNonce(std::uint64_t step) const {
  return crypto::DeriveCoin(private_seed_.view(), step, ~std::uint64_t{0}).salt;
}

void SeedSecrets::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, private_seed_); }

}  // namespace ostraka::protocol
