#include "node/cli/node/stop_orders.h"

#include <gtest/gtest.h>

namespace ostraka::cli::stop_orders_test {
namespace {

using Order = StopOrders::Order;

base::Time At(std::int64_t ms) { return base::Time{} + base::Milliseconds(ms); }

TEST(StopOrdersTest, TheSecondOfAKindHurries) {
  for (const char* const signal : {"Ctrl-C", "SIGTERM"}) {
    StopOrders orders;
    EXPECT_EQ(orders.Of(signal, At(5)), Order::kStop);
    EXPECT_EQ(orders.Of(signal, At(105)), Order::kStopAtOnce);
    EXPECT_EQ(orders.Of(signal, At(205)), Order::kStopAtOnce);
  }
}

// A terminal that closes: the kernel and the shell send SIGHUP, and the session's end SIGTERM.
TEST(StopOrdersTest, OneEventMaySendSeveral) {
  StopOrders terminal;
  EXPECT_EQ(terminal.Of("SIGHUP", At(0)), Order::kStop);
  EXPECT_EQ(terminal.Of("SIGHUP", At(1)), Order::kNone);
  EXPECT_EQ(terminal.Of("SIGTERM", At(1'999)), Order::kNone);
  EXPECT_EQ(terminal.Of("SIGHUP", At(60'000)), Order::kNone);
  StopOrders session;
  EXPECT_EQ(session.Of("SIGTERM", At(0)), Order::kStop);
  EXPECT_EQ(session.Of("SIGHUP", At(0)), Order::kNone);
  EXPECT_EQ(session.Of("SIGTERM", At(1)), Order::kStopAtOnce) << "twice is twice";
}

TEST(StopOrdersTest, AnotherSignalLaterIsAnotherOrder) {
  StopOrders orders;
  EXPECT_EQ(orders.Of("Ctrl-C", At(0)), Order::kStop);
  EXPECT_EQ(orders.Of("SIGTERM", At(2'000)), Order::kStopAtOnce);
  StopOrders hung_up;
  EXPECT_EQ(hung_up.Of("SIGHUP", At(0)), Order::kStop);
  EXPECT_EQ(hung_up.Of("SIGTERM", At(2'000)), Order::kStopAtOnce);
}

}  // namespace
}  // namespace ostraka::cli::stop_orders_test
