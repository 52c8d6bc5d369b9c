#include "dht/wire/ids.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/dht/samples.h"

namespace ostraka::dht::ids_test {
namespace {

TEST(IdsTest, PlacesDependOnNetworkKindAndId) {
  base::PeerId peer;
  peer.bytes.fill(3);
  base::Digest run;
  run.bytes.fill(3);
  const base::Digest other = NetworkOf("other");
  const std::set<base::Digest> places = {
      NodeIdOf(TestNetwork(), peer), NodeIdOf(other, peer),       RunKey(TestNetwork(), run),
      PeerKey(TestNetwork(), peer),  RunKey(NetworkOf("x"), run), PeerKey(other, peer)};
  EXPECT_EQ(places.size(), 6U);
}

TEST(IdsTest, DistanceIsXorByTheFirstBitThatDiffers) {
  base::Digest zero;
  base::Digest one = zero;
  one.bytes[31] = 1;
  base::Digest high = zero;
  high.bytes[0] = 0x80;
  EXPECT_EQ(CommonPrefix(zero, zero), 256U);
  EXPECT_EQ(CommonPrefix(zero, one), 255U);
  EXPECT_EQ(CommonPrefix(zero, high), 0U);
  base::Digest word = zero;
  word.bytes[9] = 0x10;
  EXPECT_EQ(CommonPrefix(zero, word), 75U);
  EXPECT_TRUE(IsNearer(zero, one, high));
  EXPECT_FALSE(IsNearer(zero, high, one));
  EXPECT_FALSE(IsNearer(zero, one, one));
  EXPECT_TRUE(IsNearer(high, high, one));
  EXPECT_EQ(TopDistance(zero, high), std::uint64_t{1} << 63);
  EXPECT_EQ(TopDistance(zero, one), 0U);
}

TEST(IdsTest, NearerIsATotalOrderAroundAnyTarget) {
  base::Rng rng(5);
  for (int i = 0; i < 2000; ++i) {
    const base::Digest target = RandomDigest(rng);
    const base::Digest a = RandomDigest(rng);
    const base::Digest b = RandomDigest(rng);
    EXPECT_NE(IsNearer(target, a, b), IsNearer(target, b, a));
    EXPECT_EQ(IsNearer(target, a, b), TopDistance(target, a) < TopDistance(target, b));
  }
}

}  // namespace
}  // namespace ostraka::dht::ids_test
