#include "crypto/commitment.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace ostraka::crypto::commitment_test {
namespace {

using base::Bytes;

constexpr std::uint64_t kStep = 7;
constexpr std::size_t kCoins = 5;

Bytes Seed() {
  Bytes seed(32);
  std::iota(seed.begin(), seed.end(), std::uint8_t{0});
  return seed;
}

PeerId PeerOf(std::uint8_t fill) {
  PeerId peer;
  peer.bytes.fill(fill);
  return peer;
}

// The coins that peer 0xaa commits to for kStep.
struct Committed {
  std::vector<Coin> coins;
  std::vector<Digest> leaves;
  Digest root;

  CoinOpening Open(std::uint64_t draw) const {
    return {.coin = coins[draw], .path = MerklePath(leaves, draw)};
  }
};

Committed Commit() {
  Committed committed;
  for (std::uint64_t draw = 0; draw < kCoins; ++draw) {
    committed.coins.push_back(DeriveCoin(Seed(), kStep, draw));
    committed.leaves.push_back(CommitCoin(PeerOf(0xaa), kStep, draw, committed.coins.back()));
  }
  committed.root = MerkleRoot(committed.leaves);
  return committed;
}

// Expected values: Python's hashlib.blake2b over the encodings in the header.
TEST(Coin, MatchesGoldenValues) {
  const Coin coin = DeriveCoin(Seed(), 7, 2);
  EXPECT_EQ(coin.value.Hex(), "c05e70999f8d16d79091055c7f41427b6d2440390c5b58237092b38b4e11750e");
  EXPECT_EQ(coin.salt.Hex(), "18f2fa3aa633f6843022fff0e14e204cbab1edf6b2ab9fda7f8fe4f6c4d5191a");
  EXPECT_EQ(CommitCoin(PeerOf(0xaa), 7, 2, coin).Hex(),
            "2bb1e2c5ec22baa56f0df0e24207fcaf0c45f3e2442fdd2b651b413452543b67");
}

TEST(Coin, DiffersForEachDrawAndStep) {
  std::set<Digest> seen;
  for (std::uint64_t step = 0; step < 10; ++step) {
    for (std::uint64_t draw = 0; draw < 10; ++draw) {
      const Coin coin = DeriveCoin(Seed(), step, draw);
      seen.insert(coin.value);
      seen.insert(coin.salt);
    }
  }
  seen.insert(DeriveCoin(Bytes(32, 1), 0, 0).value);
  EXPECT_EQ(seen.size(), 201u);
}

TEST(Commitment, BindsPeerStepDrawCoinAndSalt) {
  const Coin coin = DeriveCoin(Seed(), 7, 2);
  const Digest commitment = CommitCoin(PeerOf(0xaa), 7, 2, coin);
  EXPECT_EQ(CommitCoin(PeerOf(0xaa), 7, 2, coin), commitment);
  EXPECT_NE(CommitCoin(PeerOf(0xab), 7, 2, coin), commitment);
  EXPECT_NE(CommitCoin(PeerOf(0xaa), 8, 2, coin), commitment);
  EXPECT_NE(CommitCoin(PeerOf(0xaa), 7, 3, coin), commitment);
  EXPECT_NE(CommitCoin(PeerOf(0xaa), 2, 7, coin), commitment);
  EXPECT_NE(CommitCoin(PeerOf(0xaa), 7, 2, {.value = coin.salt, .salt = coin.value}), commitment);
  Coin other_salt = coin;
  other_salt.salt.bytes[0] ^= 1;
  EXPECT_NE(CommitCoin(PeerOf(0xaa), 7, 2, other_salt), commitment);
}

TEST(Opening, OpensEachDrawAtItsPlaceOnly) {
  const Committed committed = Commit();
  for (std::uint64_t draw = 0; draw < kCoins; ++draw) {
    const CoinOpening opening = committed.Open(draw);
    for (std::uint64_t as_draw = 0; as_draw <= kCoins; ++as_draw) {
      EXPECT_EQ(VerifyOpening(PeerOf(0xaa), kStep, as_draw, kCoins, committed.root, opening),
                as_draw == draw)
          << draw << " as " << as_draw;
    }
  }
}

TEST(Opening, FailsForAnotherPeerStepCountRootCoinOrPath) {
  const Committed committed = Commit();
  const CoinOpening opening = committed.Open(3);
  const auto verify = [](std::uint8_t peer, std::uint64_t step, std::size_t count,
                         const Digest& root, const CoinOpening& shown) {
    return VerifyOpening(PeerOf(peer), step, 3, count, root, shown);
  };
  ASSERT_TRUE(verify(0xaa, kStep, kCoins, committed.root, opening));
  EXPECT_FALSE(verify(0xab, kStep, kCoins, committed.root, opening));
  EXPECT_FALSE(verify(0xaa, kStep + 1, kCoins, committed.root, opening));
  EXPECT_FALSE(verify(0xaa, kStep, kCoins + 1, committed.root, opening));
  EXPECT_FALSE(verify(0xaa, kStep, 0, committed.root, opening));
  EXPECT_FALSE(verify(0xaa, kStep, kCoins, Digest{}, opening));
  CoinOpening other_coin = opening;
  other_coin.coin.value.bytes[5] ^= 4;
  EXPECT_FALSE(verify(0xaa, kStep, kCoins, committed.root, other_coin));
  CoinOpening no_path = opening;
  no_path.path.clear();
  EXPECT_FALSE(verify(0xaa, kStep, kCoins, committed.root, no_path));
}

TEST(CoinDeathTest, RefusesAShortSeed) {
  EXPECT_DEATH(DeriveCoin(Bytes(16), 0, 0), "CHECK failed");
}

}  // namespace
}  // namespace ostraka::crypto::commitment_test
