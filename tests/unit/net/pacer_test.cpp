// The rate that all connections share, and who is served when.
#include "node/net/link/pacer.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <string>

#include "crypto/merkle.h"

namespace ostraka::net {
namespace {

constexpr std::uint64_t kFast = 1'000'000'000;  // its debts are over within the test

TEST(Pacer, WithoutARateHoldsNothingBack) {
  boost::asio::io_context io;
  Pacer pacer(io, 0);
  pacer.Charge(1ULL << 60);
  EXPECT_TRUE(pacer.MayGo([] { FAIL() << "it may go now"; }));
  EXPECT_EQ(io.run(), 0U) << "and nothing is left to wait for";
}

TEST(Pacer, SpeaksToWaitersInTheirOrderOnceTheDebtIsPaid) {
  boost::asio::io_context io;
  Pacer pacer(io, kFast);
  ASSERT_TRUE(pacer.MayGo([] {}));
  pacer.Charge(kFast / 4);  // twice the burst
  std::string order;
  for (const char who : {'a', 'b', 'c'}) {
    EXPECT_FALSE(pacer.MayGo([&order, who] { order += who; }));
  }
  EXPECT_EQ(order, "") << "never within the call";
  io.run();
  EXPECT_EQ(order, "abc");
}

TEST(Pacer, WhoAsksAgainInItsTurnComesAfterThoseWhoWait) {
  boost::asio::io_context io;
  Pacer pacer(io, kFast);
  pacer.Charge(kFast / 4);
  std::string order;
  ASSERT_FALSE(pacer.MayGo([&] {
    order += 'a';
    EXPECT_FALSE(pacer.MayGo([&] { order += 'A'; }));
  }));
  ASSERT_FALSE(pacer.MayGo([&] { order += 'b'; }));
  io.run();
  EXPECT_EQ(order, "abA");
}

TEST(Pacer, ADebtMadeInATurnHoldsBackThoseBehind) {
  boost::asio::io_context io;
  Pacer pacer(io, kFast);
  pacer.Charge(kFast / 4);
  int turns = 0;
  int turns_at_first = 0;
  ASSERT_FALSE(pacer.MayGo([&] {
    ++turns;
    pacer.Charge(kFast / 4);
    boost::asio::post(io, [&] { turns_at_first = turns; });
  }));
  ASSERT_FALSE(pacer.MayGo([&] { ++turns; }));
  io.run();
  EXPECT_EQ(turns_at_first, 1);
  EXPECT_EQ(turns, 2);
}

TEST(Pacer, TheSlowestRateStillLetsAChunkGo) {
  boost::asio::io_context io;
  Pacer pacer(io, 1);
  EXPECT_TRUE(pacer.MayGo([] {}));
  pacer.Charge(crypto::kChunkBytes - 1);
  EXPECT_TRUE(pacer.MayGo([] {}));
}

}  // namespace
}  // namespace ostraka::net
