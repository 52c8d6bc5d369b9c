#include "node/protocol/mail/secrets.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::secrets_test {
namespace {

using scene::DigestOf;
using scene::PeerNumber;

constexpr std::uint32_t kCoins = 7;

SeedSecrets Begun(std::uint64_t seed = 4) {
  SeedSecrets secrets(PeerNumber(1));
  secrets.Begin(DigestOf(seed));
  return secrets;
}

TEST(SeedSecretsTest, EachOpeningIsOfItsDrawUnderTheRootOfTheCommitAndNoOther) {
  const SeedSecrets secrets = Begun();
  const base::Digest root = secrets.CoinsRoot(9, kCoins);
  for (std::uint32_t draw = 0; draw < kCoins; ++draw) {
    const crypto::CoinOpening opening = secrets.Opening(9, kCoins, draw);
    for (std::uint32_t other = 0; other < kCoins; ++other) {
      EXPECT_EQ(crypto::VerifyOpening(PeerNumber(1), 9, other, kCoins, root, opening),
                other == draw);
    }
    EXPECT_FALSE(crypto::VerifyOpening(PeerNumber(2), 9, draw, kCoins, root, opening));
    EXPECT_FALSE(crypto::VerifyOpening(PeerNumber(1), 10, draw, kCoins, root, opening));
  }
}

TEST(SeedSecretsTest, CoinsOfDrawsAndStepsAndNoncesDiffer) {
  std::set<base::Digest> values;
  const SeedSecrets secrets = Begun();
  for (const std::uint64_t step : {9, 10}) {
    for (std::uint32_t draw = 0; draw < kCoins; ++draw) {
      const crypto::Coin coin = secrets.Opening(step, kCoins, draw).coin;
      values.insert(coin.value);
      values.insert(coin.salt);
    }
    values.insert(secrets.RejoinNonce(step));
    values.insert(secrets.BootNonce(step));
  }
  EXPECT_EQ(values.size(), 2 * (2 * kCoins + 2));
}

TEST(SeedSecretsTest, FollowFromTheSeedAlone) {
  EXPECT_EQ(Begun().CoinsRoot(9, kCoins), Begun().CoinsRoot(9, kCoins));
  EXPECT_NE(Begun().CoinsRoot(9, kCoins), Begun(5).CoinsRoot(9, kCoins));
  EXPECT_NE(Begun().BootNonce(9), Begun(5).BootNonce(9));
  EXPECT_NE(Begun().RejoinNonce(9), Begun(5).RejoinNonce(9));
}

}  // namespace
}  // namespace ostraka::protocol::secrets_test
