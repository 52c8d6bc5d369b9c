// The rate that all connections share, and who is served when.
#include "node/net/link/pacer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <string>

#include "crypto/merkle.h"

namespace ostraka::net::pacer_test {
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

// P5.
TEST(Pacer, WhatIsLentGoesLast) {
  boost::asio::io_context io;
  Pacer pacer(io, kFast);
  pacer.Charge(kFast / 4);
  std::string order;
  ASSERT_FALSE(pacer.MayGo([&] { order += 'l'; }, PacerLane::kLent));
  ASSERT_FALSE(pacer.MayGo([&] { order += 'L'; }, PacerLane::kLent));
  ASSERT_FALSE(pacer.MayGo(
      [&] {
        order += 'g';
        boost::asio::post(io, [&] {  // a record was written, without a debt
          EXPECT_FALSE(pacer.MayGo([&] { order += 'G'; }, PacerLane::kGuests));
        });
      },
      PacerLane::kGuests));
  ASSERT_FALSE(pacer.MayGo([&] { order += 'm'; }));
  io.run();
  EXPECT_EQ(order, "mgGlL");
}

// P4. Each asks again in its turn, as connections with a full queue do; 'm' and 'M' are members.
TEST(Pacer, GuestsHaveOneTurnInEightWhileMembersWait) {
  boost::asio::io_context io;
  Pacer pacer(io, kFast);
  pacer.Charge(kFast / 4);
  std::string order;
  std::function<void(char, PacerLane)> ask = [&](char who, PacerLane lane) {
    const bool now = pacer.MayGo(
        [&, who, lane] {
          order += who;
          if (order.size() < 80) ask(who, lane);
        },
        lane);
    EXPECT_FALSE(now);
  };
  for (const char guest : {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'}) {
    ask(guest, PacerLane::kGuests);
  }
  for (const char member : {'m', 'M'}) ask(member, PacerLane::kMembers);
  io.run();
  const std::string first = order.substr(0, 80);
  std::size_t row = 0;
  for (const char who : first) {
    const bool is_member = who == 'm' || who == 'M';
    if (!is_member) EXPECT_EQ(row, 7U) << first;
    row = is_member ? row + 1 : 0;
  }
  EXPECT_EQ(std::count(first.begin(), first.end(), 'm'), 35) << first;
  EXPECT_EQ(std::count(first.begin(), first.end(), 'a'), 1) << "ten guests share ten turns";
}

// A connection asks again when its record is written, a little later.
TEST(Pacer, AMemberThatIsAboutToAskAgainKeepsItsPlace) {
  boost::asio::io_context io;
  Pacer pacer(io, kFast);
  pacer.Charge(kFast / 4);
  std::string order;
  int left = 6;
  std::function<void()> ask = [&] {
    EXPECT_FALSE(pacer.MayGo([&] {
      order += 'm';
      if (--left > 0) boost::asio::post(io, ask);
    }));
  };
  for (const char who : {'a', 'b'}) {
    EXPECT_FALSE(pacer.MayGo([&order, who] { order += who; }, PacerLane::kGuests));
  }
  ask();
  io.run();
  EXPECT_EQ(order, "mmmmmmab");
}

TEST(Pacer, GuestsHaveEveryTurnWhileNoMemberWaits) {
  boost::asio::io_context io;
  Pacer pacer(io, kFast);
  pacer.Charge(kFast / 4);
  std::string order;
  for (const char who : {'a', 'b', 'c'}) {
    EXPECT_FALSE(pacer.MayGo([&order, who] { order += who; }, PacerLane::kGuests));
  }
  io.run();
  EXPECT_EQ(order, "abc");
  EXPECT_TRUE(pacer.MayGo([] {}, PacerLane::kGuests)) << "nobody waits, and there is no debt";
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
}  // namespace ostraka::net::pacer_test
