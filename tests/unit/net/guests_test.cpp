#include "node/net/mesh/guests.h"

#include <gtest/gtest.h>

namespace ostraka::net::guests_test {
namespace {

base::PeerId Id(std::uint8_t n) {
  base::PeerId id;
  id.bytes.fill(n);
  return id;
}

base::Time At(std::int64_t seconds) { return base::Time{} + base::Seconds(seconds); }

TEST(Guests, WithoutPlacesAStrangerIsNoMember) {
  Guests guests(0);
  const auto entered = guests.Enter(At(0), Id(1), "");
  EXPECT_EQ(base::MessageOf(entered.status()), "is not a member of this run");
}

TEST(Guests, TheOldestGivesWayOnceItHasHadItsStay) {
  Guests guests(2);
  ASSERT_TRUE(guests.Enter(At(0), Id(1), "").ok());
  ASSERT_TRUE(guests.Enter(At(1), Id(2), "").ok());
  EXPECT_EQ(guests.Enter(At(14), Id(3), "").status().code(), absl::StatusCode::kUnavailable);
  const auto entered = guests.Enter(At(15), Id(3), "");
  ASSERT_TRUE(entered.ok()) << entered.status();
  EXPECT_EQ(*entered, Id(1));
  EXPECT_FALSE(guests.Contains(Id(1)));
  EXPECT_FALSE(guests.Enter(At(15), Id(1), "").ok()) << "the next has a second left";
}

TEST(Guests, WhoIsExpectedStays) {
  Guests guests(2);
  ASSERT_TRUE(guests.Enter(At(0), Id(1), "").ok());
  ASSERT_TRUE(guests.Enter(At(1), Id(2), "").ok());
  guests.Expect({Id(1)});
  const auto entered = guests.Enter(At(100), Id(3), "");
  ASSERT_TRUE(entered.ok());
  EXPECT_EQ(*entered, Id(2));
  guests.Expect({Id(1), Id(3)});
  EXPECT_FALSE(guests.Enter(At(200), Id(4), "").ok());
  guests.Expect({});
  EXPECT_TRUE(guests.Enter(At(200), Id(4), "").ok());
}

TEST(Guests, ANetworkHasAFewPlacesAndLoopbackAll) {
  Guests guests(32);
  std::uint8_t n = 1;
  for (; n <= Guests::kPerNetwork; ++n) {
    ASSERT_TRUE(guests.Enter(At(0), Id(n), "192.0.2.0/24").ok());
  }
  EXPECT_EQ(base::MessageOf(guests.Enter(At(99), Id(n), "192.0.2.0/24").status()),
            "came while 4 other strangers from 192.0.2.0/24 are linked");
  EXPECT_TRUE(guests.Enter(At(0), Id(n), "198.51.100.0/24").ok());
  for (std::uint8_t k = 100; k < 110; ++k) EXPECT_TRUE(guests.Enter(At(0), Id(k), "").ok());
  EXPECT_TRUE(guests.Leave(Id(1)));
  EXPECT_FALSE(guests.Leave(Id(1)));
  EXPECT_TRUE(guests.Enter(At(0), Id(1), "192.0.2.0/24").ok());
}

}  // namespace
}  // namespace ostraka::net::guests_test
