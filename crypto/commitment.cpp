#include "crypto/commitment.h"

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/base/check.h"

namespace ostraka::crypto {
namespace {

constexpr std::size_t kPrivateSeedSize = 32;

enum class CoinField : std::uint64_t { kValue = 0, kSalt = 1 };

Digest DeriveField(ByteView private_seed, std::uint64_t step, std::uint64_t draw, CoinField field) {
  return Hasher(kDomainCoinSeed)
      .Update(private_seed)
      .UpdateU64(step)
      .UpdateU64(draw)
      .UpdateU64(static_cast<std::uint64_t>(field))
      .Finish();
}

}  // namespace

Coin DeriveCoin(ByteView private_seed, std::uint64_t step, std::uint64_t draw) {
  OSTRAKA_CHECK(private_seed.size() == kPrivateSeedSize);
  return Coin{.value = DeriveField(private_seed, step, draw, CoinField::kValue),
              .salt = DeriveField(private_seed, step, draw, CoinField::kSalt)};
}

Digest CoinSeed(const SigningKey& key, const Digest& run_id) {
  return Hasher(kDomainCoinKey).Update(key.seed()).Update(run_id).Finish();
}

Digest CommitCoin(const PeerId& peer, std::uint64_t step, std::uint64_t draw, const Coin& coin) {
  return Hasher(kDomainCoin)
      .Update(peer.view())
      .UpdateU64(step)
      .UpdateU64(draw)
      .Update(coin.value)
      .Update(coin.salt)
      .Finish();
}

bool VerifyOpening(const PeerId& peer, std::uint64_t step, std::uint64_t draw,
                   std::size_t coin_count, const Digest& coins_root, const CoinOpening& opening) {
  return VerifyMerklePath(coins_root, CommitCoin(peer, step, draw, opening.coin), draw, coin_count,
                          opening.path);
}

}  // namespace ostraka::crypto
