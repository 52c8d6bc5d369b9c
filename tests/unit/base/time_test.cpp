#include "node/base/time.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace ostraka::base::time_test {
namespace {

static_assert(!std::is_convertible_v<Time, Duration> && !std::is_convertible_v<Duration, Time>,
              "a point in time is no length of time");
static_assert(Seconds(1) == Milliseconds(1000));
static_assert(Milliseconds(1) == Microseconds(1000));
static_assert(Microseconds(1) == Nanoseconds(1000));

TEST(Duration, AddsSubtractsAndScales) {
  EXPECT_EQ(Seconds(2) + Milliseconds(500), Milliseconds(2500));
  EXPECT_EQ(Milliseconds(1) - Milliseconds(3), Milliseconds(-2));
  EXPECT_EQ(Milliseconds(20) * 3, Milliseconds(60));
  EXPECT_LT(Milliseconds(-1), Duration{});
  EXPECT_LT(Nanoseconds(999), Microseconds(1));
}

TEST(Duration, SpansCenturies) { EXPECT_GT(Seconds(100LL * 366 * 86'400).ns, 0); }

TEST(Duration, ShowsSeconds) {
  EXPECT_DOUBLE_EQ(Milliseconds(1500).seconds(), 1.5);
  EXPECT_DOUBLE_EQ(Milliseconds(-250).seconds(), -0.25);
}

TEST(Time, MovesByDurationsAndDiffersByThem) {
  const Time start{1'000};
  const Time end = start + Microseconds(5);
  EXPECT_EQ(end.ns, 6'000);
  EXPECT_EQ(end - start, Microseconds(5));
  EXPECT_EQ(start - end, Microseconds(-5));
  EXPECT_LT(start, end);
}

}  // namespace
}  // namespace ostraka::base::time_test
