#include "sim/page/axes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ostraka::page::axes_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(RoundTicks, BeginWhereTheAxisBegins) {
  EXPECT_THAT(RoundTicks(5, 12), ElementsAre(6, 8, 10, 12));
  EXPECT_THAT(RoundTicks(37, 49), ElementsAre(38, 40, 42, 44, 46, 48));
  EXPECT_THAT(RoundTicks(7, 7), ElementsAre(7));
}

TEST(Wrapped, BreaksAtSpacesAndLosesNoWord) {
  const double width = WidthOf("four words");
  EXPECT_THAT(Wrapped("four words are too many", width),
              ElementsAre("four words", "are too", "many"));
  EXPECT_THAT(Wrapped("unbreakableword a", width), ElementsAre("unbreakableword", "a"));
  EXPECT_THAT(Wrapped("", width), ElementsAre());
}

TEST(RoundTicks, AreRoundAndReachTheEnd) {
  EXPECT_THAT(RoundTicks(0), ElementsAre(0));
  EXPECT_THAT(RoundTicks(1), ElementsAre(0, 1));
  EXPECT_THAT(RoundTicks(6), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(RoundTicks(7), ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(RoundTicks(69), ElementsAre(0, 20, 40, 60));
  EXPECT_THAT(RoundTicks(260), ElementsAre(0, 50, 100, 150, 200, 250));
  EXPECT_THAT(RoundTicks(31'000), ElementsAre(0, 10'000, 20'000, 30'000));
}

TEST(Axes, AccuraciesGoUpwards) {
  const PlotArea area{50, 10, 200, 100};
  EXPECT_EQ(area.YOf(1), 10);
  EXPECT_EQ(area.YOf(0), area.bottom());
  Svg svg(300, 150, "test");
  DrawValueAxis(area, svg);
  DrawTick(area, 150, 20, svg);
  DrawTitleBelow(area, "steps", svg);
  const std::string text = svg.Finish();
  for (const char* number : {">0<", ">25<", ">50<", ">75<", ">100 %<", ">20<", ">steps<"}) {
    EXPECT_THAT(text, HasSubstr(number));
  }
}

}  // namespace
}  // namespace ostraka::page::axes_test
