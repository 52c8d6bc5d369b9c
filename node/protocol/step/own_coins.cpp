#include "node/protocol/step/own_coins.h"

#include "crypto/merkle.h"

namespace ostraka::protocol {

crypto::Coin OwnCoins::CoinOf(std::uint32_t draw) const {
  return crypto::DeriveCoin(private_seed.view(), step, draw);
}

std::vector<base::Digest> OwnCoins::Commitments() const {
  std::vector<base::Digest> commitments;
  for (std::uint32_t draw = 0; draw < count; ++draw) {
    commitments.push_back(crypto::CommitCoin(self, step, draw, CoinOf(draw)));
  }
  return commitments;
}

wire::Reveal OwnCoins::RevealOf(std::uint32_t draw) const {
  wire::Reveal reveal;
  reveal.opening.coin = CoinOf(draw);
  reveal.opening.path = crypto::MerklePath(Commitments(), draw);
  return reveal;
}

void OwnCoins::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, self, private_seed, step, count);
}

}  // namespace ostraka::protocol
