#include "node/cli/terminal/human.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ostraka::cli::human_test {
namespace {

TEST(HumanTest, SpansHaveTheUnitThatFits) {
  EXPECT_EQ(SpanText(0), "0 ms");
  EXPECT_EQ(SpanText(0.0345), "34 ms");
  EXPECT_EQ(SpanText(3.44), "3.4 s");
  EXPECT_EQ(SpanText(9.96), "10 s");
  EXPECT_EQ(SpanText(65), "65 s");
  EXPECT_EQ(SpanText(660), "11 min");
  EXPECT_EQ(SpanText(12'000), "3 h 20 min");
  EXPECT_EQ(SpanText(200'000), "2 d 7 h");
  EXPECT_EQ(SpanText(-1), "0 ms");
  EXPECT_EQ(SpanText(std::numeric_limits<double>::quiet_NaN()), "0 ms");
  EXPECT_EQ(SpanText(std::numeric_limits<double>::infinity()), "11574074 d 1 h");
}

TEST(HumanTest, BytesCountsAndShares) {
  EXPECT_EQ(BytesText(0), "0 B");
  EXPECT_EQ(BytesText(999), "999 B");
  EXPECT_EQ(BytesText(1234), "1.2 kB");
  EXPECT_EQ(BytesText(123'456'789), "123 MB");
  EXPECT_EQ(BytesText(std::numeric_limits<std::uint64_t>::max()), "18446744 TB");
  EXPECT_EQ(CountText(0), "0");
  EXPECT_EQ(CountText(999), "999");
  EXPECT_EQ(CountText(1000), "1,000");
  EXPECT_EQ(CountText(1234567), "1,234,567");
  EXPECT_EQ(PercentText(0.125), "12.5 %");
}

TEST(HumanTest, SettingsOfSgd) {}

TEST(HumanTest, NumbersThatAreNone) {
  EXPECT_EQ(FourDigits(0.12345), "0.1235");
  EXPECT_EQ(FourDigits(1.25e30), "1.2e+30");
  EXPECT_EQ(FourDigits(std::nan("")), "no number");
  EXPECT_EQ(FourDigits(-std::numeric_limits<double>::infinity()), "no number");
}

}  // namespace
}  // namespace ostraka::cli::human_test
