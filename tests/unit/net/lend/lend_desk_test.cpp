#include "node/net/lend/lend_desk.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/net/transport_net.h"

namespace ostraka::net::lend_desk_test {
namespace {

constexpr std::uint64_t kRate = 1 << 20;
constexpr std::uint64_t kChunk = 256 << 10;

base::Time At(double seconds) { return {static_cast<std::int64_t>(seconds * 1e9)}; }
base::PeerId Peer(std::size_t rank) { return TestKey(rank)->id(); }

// Chunks that `peers` get who ask for one each, each hundredth of a second.
std::vector<int> Borrowed(LendDesk& desk, const std::vector<std::size_t>& peers, double seconds) {
  std::vector<int> got(peers.size());
  for (int tick = 0; tick < seconds * 100; ++tick) {
    for (std::size_t i = 0; i < peers.size(); ++i) {
      if (desk.Lends(At(tick * 0.01), Peer(peers[i]), kChunk, 0)) ++got[i];
    }
  }
  return got;
}

TEST(LendDesk, OneMemberGetsAQuarterOfTheRate) {
  LendDesk desk(kRate);
  const int got = Borrowed(desk, {0}, 100)[0];
  EXPECT_NEAR(got * double{kChunk}, (100 + LendDesk::kBurstSeconds) * kRate / 4, 2.0 * kChunk);
}

TEST(LendDesk, AllTogetherGetTheRate) {
  LendDesk desk(kRate);
  int all = 0;
  for (const int got : Borrowed(desk, {0, 1, 2, 3, 4, 5, 6, 7}, 100)) all += got;
  EXPECT_NEAR(all * double{kChunk}, (100 + LendDesk::kBurstSeconds) * kRate, 2.0 * kChunk);
}

TEST(LendDesk, OneThatAsksForAllLeavesTheOthersTheirs) {
  LendDesk desk(kRate);
  (void)Borrowed(desk, {0}, 1000);
  EXPECT_TRUE(desk.Lends(At(1000), Peer(1), kChunk, 0));
}

TEST(LendDesk, AChunkLargerThanTheRateIsLentAndPaidFor) {
  LendDesk desk(1000);
  EXPECT_TRUE(desk.Lends(At(0), Peer(0), kChunk, 0));
  EXPECT_FALSE(desk.Lends(At(100), Peer(1), kChunk, 0));
  EXPECT_TRUE(desk.Lends(At(2000), Peer(1), kChunk, 0));
}

TEST(LendDesk, NothingIsLentWhileTooMuchIsOnItsWay) {
  LendDesk desk(kRate);
  EXPECT_FALSE(desk.Lends(At(0), Peer(0), kChunk, LendDesk::kMostBytes - kChunk + 1));
  EXPECT_TRUE(desk.Lends(At(0), Peer(0), kChunk, LendDesk::kMostBytes - kChunk));
}

TEST(LendDesk, FourOfTheLongestChunksMayBeOnTheirWay) {
  LendDesk desk(kRate);
  constexpr std::uint64_t kLongest = 8 << 20;
  EXPECT_FALSE(desk.Lends(At(0), Peer(0), kLongest, 3 * kLongest + 1));
  EXPECT_TRUE(desk.Lends(At(0), Peer(0), kLongest, 3 * kLongest));
}

TEST(LendDesk, AFloodOfQuestionsIsNotHeard) {
  LendDesk desk(kRate);
  int heard = 0;
  for (int i = 0; i < 100'000; ++i) heard += desk.Hears(At(i * 1e-4), Peer(0)) ? 1 : 0;
  EXPECT_NEAR(heard, LendDesk::kAsksAtOnce + 10 * LendDesk::kAsksASecond, 2);
  EXPECT_TRUE(desk.Hears(At(10), Peer(1)));
}

TEST(LendDesk, AForgottenMemberBeginsAnew) {
  LendDesk desk(kRate);
  while (desk.Hears(At(0), Peer(0))) {
  }
  desk.Forget(Peer(0));
  EXPECT_TRUE(desk.Hears(At(0), Peer(0)));
}

}  // namespace
}  // namespace ostraka::net::lend_desk_test
