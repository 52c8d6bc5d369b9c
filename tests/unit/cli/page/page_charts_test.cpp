#include "node/cli/page/page_charts.h"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace ostraka::cli::page_charts_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

json Curve(const char* metric, const json& points) {
  return {{"metric", metric}, {"points", points}};
}

std::size_t Count(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

TEST(CurveChartTest, SaysTheNewestValuesToAScreenReader) {
  const std::string svg = CurveChart(Curve("accuracy", {{9, 2, 0.1}, {19, 0.5, 0.875}}), 200);
  EXPECT_THAT(svg, HasSubstr("role=\"img\""));
  EXPECT_THAT(svg,
              HasSubstr("aria-label=\"Loss over steps; 0.5000 after step 19, accuracy 87.5 %\""));
  EXPECT_EQ(Count(svg, "<polyline"), 2u);
}

TEST(CurveChartTest, WithoutAPointThereIsNoChart) {
  EXPECT_EQ(CurveChart(Curve("loss", json::array()), 200), "");
}

TEST(CurveChartTest, ALossAloneHasOneLineAndOneScale) {
  const std::string svg = CurveChart(Curve("loss", {{9, 2, 2}, {19, 1, 1}}), 200);
  EXPECT_EQ(Count(svg, "<polyline"), 1u);
  EXPECT_THAT(svg, Not(HasSubstr("100 %")));
}

TEST(CurveChartTest, ALossThatIsNoNumberLeavesAGap) {
  const double none = std::numeric_limits<double>::infinity();
  const std::string svg =
      CurveChart(Curve("loss", {{1, 1, 1}, {2, 1, 1}, {3, none, none}, {4, 1, 1}, {5, 1, 1}}), 10);
  EXPECT_EQ(Count(svg, "<polyline"), 2u);
  EXPECT_EQ(Count(svg, "<circle"), 4u);
}

TEST(CurveChartTest, EveryPointLiesInTheDrawing) {
  // The highest loss is at the top of the scale, and a step beyond the plan at its right end.
  const std::string svg = CurveChart(Curve("loss", {{0, 5, 5}, {300, 0, 0}}), 200);
  EXPECT_THAT(svg, HasSubstr("points=\"52.0,14.0 334.0,186.0\""));
}

// Else the first evaluations of a long run would stand one above the other.
TEST(CurveChartTest, TheAxisEndsBeforeTheRunWhileLittleOfItIsDone) {
  const auto chart = [](std::uint64_t newest, std::uint64_t steps) {
    return CurveChart(Curve("loss", {{0, 1, 1}, {newest, 1, 1}}), steps);
  };
  EXPECT_THAT(chart(99, 1000), HasSubstr(">100</text>"));
  EXPECT_THAT(chart(100, 1000), HasSubstr(">1,000</text>"));
  EXPECT_THAT(chart(29, 1'000'000), HasSubstr(">30</text>"));
  EXPECT_THAT(chart(3, 1'000'000), HasSubstr(">10</text>"));
}

TEST(CurveChartTest, ALongCurveIsDrawnWithFewPointsAndItsNewest) {
  json points = json::array();
  for (std::uint64_t step = 0; step < 511; ++step) points.push_back({step, 1, 1});
  const std::string svg = CurveChart(Curve("loss", points), 511);
  EXPECT_LE(Count(svg, ",14.0"), 193u);
  EXPECT_THAT(svg, HasSubstr("333.4,14.0\""));
}

json Span(std::uint64_t step, double collect, double reveal, bool slow) {
  return {{"step", step}, {"collect", collect}, {"reveal", reveal},
          {"prove", 0},   {"settle", 0},        {"slow", slow}};
}

TEST(PhaseChartTest, AColumnForEachStepInItsPhases) {
  const std::string svg =
      PhaseChart(json::array({Span(7, 0.06, 0.04, false), Span(8, 0.06, 0.04, true)}));
  EXPECT_EQ(Count(svg, "<rect"), 8u);
  EXPECT_THAT(svg, HasSubstr("<title>step 7, collect 60 ms, reveal 40 ms"));
  EXPECT_EQ(Count(svg, ">!</text>"), 1u);
  EXPECT_THAT(svg, HasSubstr("Duration of the last 2 steps"));
  EXPECT_EQ(PhaseChart(json::array()), "");
}

TEST(PhaseChartTest, StepsOfNoLengthAreDrawnAsNothing) {
  EXPECT_THAT(PhaseChart(json::array({Span(1, 0, 0, false)})), HasSubstr("height=\"0.0\""));
}

TEST(ShareBarsTest, ThePartsFillTheBar) {
  const std::string svg = ShareBars({1, 1, 2});
  EXPECT_THAT(svg, HasSubstr("class=\"c3\" x=\"190.0\" y=\"0.0\" width=\"190.0\""));
  EXPECT_EQ(ShareBars({0, 0, 0}), "");
}

TEST(ShareBarTest, IsNeverLongerThanItsTrack) {
  EXPECT_THAT(ShareBar(0.5), HasSubstr("width=\"50.0\""));
  EXPECT_THAT(ShareBar(7), Not(HasSubstr("700")));
}

}  // namespace
}  // namespace ostraka::cli::page_charts_test
