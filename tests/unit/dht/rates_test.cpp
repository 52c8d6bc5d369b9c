#include "dht/store/rates.h"

#include <gtest/gtest.h>

#include "dht/greeter.h"
#include "dht/query_gate.h"
#include "node/base/rng.h"

namespace ostraka::dht::rates_test {
namespace {

base::Time Ms(std::int64_t ms) { return base::Time{} + base::Milliseconds(ms); }

TEST(RatesTest, ABucketGivesItsBurstAndThenItsRate) {
  const Rate rate = {600, 5};  // ten a second
  RateBucket bucket(rate);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(bucket.Take(Ms(0), rate));
  EXPECT_FALSE(bucket.Take(Ms(0), rate));
  EXPECT_FALSE(bucket.Take(Ms(99), rate));
  EXPECT_TRUE(bucket.Take(Ms(100), rate));
  EXPECT_FALSE(bucket.Take(Ms(100), rate));
  EXPECT_FALSE(bucket.IsFull(Ms(500), rate));
  EXPECT_TRUE(bucket.IsFull(Ms(700), rate));
}

// Against a count of what was given in every window.
TEST(RatesTest, NoWindowGivesMoreThanBurstAndRate) {
  base::Rng rng(2);
  const Rate rate = {120, 7};  // two a second
  RateBucket bucket(rate);
  std::vector<std::int64_t> given;
  std::int64_t now = 0;
  for (int i = 0; i < 5000; ++i) {
    now += rng.Between(0, 400);
    if (bucket.Take(Ms(now), rate)) given.push_back(now);
  }
  ASSERT_GT(given.size(), 100U);
  for (std::size_t from = 0; from < given.size(); ++from) {
    for (std::size_t to = from; to < std::min(given.size(), from + 50); ++to) {
      const double most = 7 + 2.0 * static_cast<double>(given[to] - given[from]) / 1000.0;
      EXPECT_LE(static_cast<double>(to - from + 1), most + 1e-9);
    }
  }
}

TEST(RatesTest, MemoryIsBoundedAndFullBucketsAreForgotten) {
  Rates<int> rates({60, 1}, 10);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(rates.Take(Ms(0), i));
  EXPECT_FALSE(rates.Take(Ms(0), 10)) << "no room";
  EXPECT_FALSE(rates.Has(Ms(500), 11));
  EXPECT_EQ(rates.size(), 10U);
  EXPECT_TRUE(rates.Take(Ms(1600), 12)) << "the others are full again";
  EXPECT_LE(rates.size(), 10U);
  rates.CheckInvariants();
}

TEST(QueryGateTest, AnAddressAPrefixAndAllHaveLimits) {
  const auto taken = [](QueryGate& gate, int count, auto endpoint_of) {
    int passed = 0;
    for (int i = 0; i < count; ++i) passed += gate.Take(Ms(0), endpoint_of(i)) ? 1 : 0;
    return passed;
  };
  QueryGate one;
  EXPECT_EQ(taken(one, 500, [](int) { return Endpoint::V4(0x14000001, 7000); }), 60);
  QueryGate prefix;
  EXPECT_EQ(taken(prefix, 2000, [](int i) { return Endpoint::V4(0x14000000U + i % 250, 1); }), 300);
  QueryGate all;
  EXPECT_EQ(taken(all, 4000, [](int i) { return Endpoint::V4(0x14000000U + 256U * i, 1); }), 1000);
  QueryGate loopback;
  EXPECT_EQ(taken(loopback, 4000, [](int) { return Endpoint::V4(0x7f000001, 1); }), 1000);
  all.CheckInvariants();
}

TEST(QueryGateTest, OneThatIsOverItsLimitUsesUpNobodyElses) {
  QueryGate gate;
  for (int i = 0; i < 5000; ++i) gate.Take(Ms(0), Endpoint::V4(0x14000001, 7000));
  EXPECT_TRUE(gate.Take(Ms(0), Endpoint::V4(0x15000001, 7000)));
}

TEST(GreeterTest, PingsFewOfAPrefixAndFewInAll) {
  Greeter greeter;
  int of_prefix = 0;
  for (int i = 0; i < 10; ++i) {
    of_prefix += greeter.Take(Ms(0), Endpoint::V4(0x14000000U + i, 1)) ? 1 : 0;
  }
  EXPECT_EQ(of_prefix, 2);
  int in_all = of_prefix;
  for (std::uint32_t i = 1; i < 100; ++i) {
    in_all += greeter.Take(Ms(0), Endpoint::V4(0x14000000U + 256 * i, 1)) ? 1 : 0;
  }
  EXPECT_EQ(in_all, 16);
  greeter.CheckInvariants();
}

}  // namespace
}  // namespace ostraka::dht::rates_test
