// Which observations become lines, and how often.
#include "node/host/report/observation_lines.h"

#include <gtest/gtest.h>

namespace ostraka::host::observation_lines_test {
namespace {

using protocol::Observation;

constexpr base::Time kNow{5'000'000'000};

std::string LineOf(const Observation& seen) {
  const auto notice = ObservationLines().Of(kNow, seen);
  return notice ? notice->line : "";
}

TEST(ObservationLines, SayWhatHappenedAndWhatComes) {
  EXPECT_EQ(LineOf(protocol::SlowSeal{7, 1, 2, "waits for b2"}), "step 7: waits for b2");
  EXPECT_EQ(LineOf(protocol::Away{7, "sealed absent"}),
            "out of the run since step 7: sealed absent; it follows, and asks to be let in");
  EXPECT_EQ(LineOf(protocol::Back{9}), "a member from step 9 on");
  const std::string barred = LineOf(protocol::Barred{7, 1007});
  EXPECT_EQ(barred.find("out since step 7"), 0U) << barred;
  EXPECT_NE(barred.find("from step 1007 on"), std::string::npos) << barred;
  const std::string far = LineOf(protocol::Unconfirmed{40, base::Milliseconds(125)});
  EXPECT_NE(far.find("since block 40"), std::string::npos) << far;
  EXPECT_NE(far.find("within 125 ms"), std::string::npos) << far;
}

TEST(ObservationLines, SayForWhomItStaysAtTheEndAndForHowLong) {
  base::PeerId other;
  other.bytes[0] = 0xab;
  EXPECT_EQ(
      LineOf(protocol::Staying{7, {other}, base::Milliseconds(26'001)}),
      "the run is over; this node stays for 27 s at most, to help ab00000000000000 to end it");
  EXPECT_EQ(
      LineOf(protocol::Staying{7, {other, {}, {}}, base::Seconds(26)}),
      "the run is over; this node stays for 26 s at most, to help ab00000000000000 and 2 more "
      "to end it");
}

TEST(ObservationLines, WarnOfWhatCostsThePlace) {
  EXPECT_EQ(ObservationLines().Of(kNow, protocol::Away{})->level, net::NoticeLevel::kWarning);
  EXPECT_EQ(ObservationLines().Of(kNow, protocol::Barred{})->level, net::NoticeLevel::kWarning);
  EXPECT_EQ(ObservationLines().Of(kNow, protocol::SlowSeal{})->level, net::NoticeLevel::kDebug);
  EXPECT_EQ(ObservationLines().Of(kNow, protocol::Back{})->level, net::NoticeLevel::kInfo);
}

TEST(ObservationLines, TellTheOwnSlownessWheneverItGrows) {
  ObservationLines lines;
  const auto first = lines.Of(kNow, protocol::Slow{7, 60'000, 82'000});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->level, net::NoticeLevel::kWarning);
  EXPECT_NE(first->line.find("60000 of the 82000 ms"), std::string::npos) << first->line;
  EXPECT_NE(first->line.find("patience_ms"), std::string::npos) << first->line;
  EXPECT_EQ(lines.Of(kNow, protocol::Slow{8, 59'950, 82'000}), std::nullopt);
  EXPECT_TRUE(lines.Of(kNow, protocol::Slow{9, 59'960, 82'000}));
  EXPECT_EQ(lines.Of(kNow, protocol::Slow{10, 41'000, 82'000}), std::nullopt);
  EXPECT_TRUE(lines.Of(kNow, protocol::Slow{11, 41'001, 82'000}));
}

TEST(ObservationLines, LeaveToOthersWhatHasItsOwnEvent) {
  EXPECT_EQ(ObservationLines().Of(kNow, protocol::StepStarted{}), std::nullopt);
  EXPECT_EQ(ObservationLines().Of(kNow, protocol::StepDone{}), std::nullopt);
  EXPECT_EQ(ObservationLines().Of(kNow, protocol::Halted{}), std::nullopt);
}

TEST(ObservationLines, TellTheWayOnceInFiveSecondsAndItsEnd) {
  ObservationLines lines;
  const auto told = [&](std::int64_t ms, std::uint64_t height) {
    const base::Time now = kNow + base::Milliseconds(ms);
    return lines.Of(now, protocol::CatchingUp{height, 100, "somewhere"}).has_value();
  };
  EXPECT_TRUE(told(0, 1)) << "the first at once";
  EXPECT_FALSE(told(4999, 2));
  EXPECT_TRUE(told(5000, 3));
  EXPECT_FALSE(told(5500, 4));
  EXPECT_TRUE(told(5600, 100)) << "there";
  EXPECT_FALSE(told(5700, 100)) << "on probation it is there after each step";
  EXPECT_TRUE(told(10600, 100));
  EXPECT_FALSE(told(10700, 99));
  EXPECT_TRUE(told(10800, 100)) << "there again";
}

}  // namespace
}  // namespace ostraka::host::observation_lines_test
