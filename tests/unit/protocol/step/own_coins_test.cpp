#include "node/protocol/step/own_coins.h"

#include <gtest/gtest.h>

#include <set>

#include "crypto/merkle.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::own_coins_test {
namespace {

using scene::DigestOf;
using scene::PeerNumber;

constexpr std::uint32_t kCoins = 7;

OwnCoins Coins() {
  return {.self = PeerNumber(1), .private_seed = DigestOf(4), .step = 9, .count = kCoins};
}

TEST(OwnCoinsTest, EachRevealOpensItsDrawUnderTheRootOfTheCommitAndNoOther) {
  const OwnCoins coins = Coins();
  const base::Digest root = crypto::MerkleRoot(coins.Commitments());
  for (std::uint32_t draw = 0; draw < kCoins; ++draw) {
    const crypto::CoinOpening opening = coins.RevealOf(draw).opening;
    for (std::uint32_t other = 0; other < kCoins; ++other) {
      EXPECT_EQ(crypto::VerifyOpening(coins.self, 9, other, kCoins, root, opening), other == draw);
    }
    EXPECT_FALSE(crypto::VerifyOpening(PeerNumber(2), 9, draw, kCoins, root, opening));
    EXPECT_FALSE(crypto::VerifyOpening(coins.self, 10, draw, kCoins, root, opening));
  }
}

TEST(OwnCoinsTest, CoinsOfDrawsAndStepsDiffer) {
  std::set<base::Digest> values;
  OwnCoins coins = Coins();
  for (std::uint32_t draw = 0; draw < kCoins; ++draw) values.insert(coins.CoinOf(draw).value);
  coins.step = 10;
  for (std::uint32_t draw = 0; draw < kCoins; ++draw) values.insert(coins.CoinOf(draw).value);
  EXPECT_EQ(values.size(), 2 * kCoins);
}

TEST(OwnCoinsTest, RestartedMemberHasEqualCoins) {
  EXPECT_EQ(Coins().Commitments(), Coins().Commitments());
  EXPECT_EQ(Coins().Commitments().size(), kCoins);
}

}  // namespace
}  // namespace ostraka::protocol::own_coins_test
