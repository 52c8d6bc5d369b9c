#include "dht/store/tokens.h"

#include <gtest/gtest.h>

#include "tests/unit/dht/samples.h"

namespace ostraka::dht::tokens_test {
namespace {

TEST(TokensTest, AreGoodForTheirAddressForFiveToTenMinutes) {
  base::Rng rng(1);
  const Tokens tokens(RandomDigest(rng));
  const Endpoint one = Endpoint::V4(0x14000001, 7000);
  Endpoint other_port = one;
  other_port.port = 9;
  const Endpoint neighbour = Endpoint::V4(0x14000002, 7000);
  for (const std::int64_t begin : {0, 1, 299, 300, 12'345}) {
    const base::Time now = base::Time{} + base::Seconds(begin);
    const Token token = tokens.For(now, one);
    EXPECT_TRUE(tokens.IsGood(now, one, token));
    EXPECT_TRUE(tokens.IsGood(now, other_port, token));
    EXPECT_TRUE(tokens.IsGood(now + base::Seconds(300), one, token));
    EXPECT_FALSE(tokens.IsGood(now + base::Seconds(601), one, token));
    EXPECT_FALSE(tokens.IsGood(now, neighbour, token));
    EXPECT_FALSE(tokens.IsGood(now, one, Token{}));
  }
}

TEST(TokensTest, OfAnotherSecretAreOthers) {
  base::Rng rng(1);
  const Endpoint one = Endpoint::V4(0x14000001, 7000);
  const Tokens mine(RandomDigest(rng));
  const Tokens yours(RandomDigest(rng));
  EXPECT_FALSE(yours.IsGood({}, one, mine.For({}, one)));
}

}  // namespace
}  // namespace ostraka::dht::tokens_test
