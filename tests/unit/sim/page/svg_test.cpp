#include "sim/page/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

namespace ostraka::page::svg_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Svg, EscapesTextFromUsers) {
  Svg svg(10, 10, "<a & \"b\">");
  svg.Text({1, 1}, "</svg><script>");
  EXPECT_THAT(svg.Finish(), HasSubstr("&lt;a &amp; &quot;b&quot;&gt;"));
  EXPECT_THAT(svg.Finish(), Not(HasSubstr("<script>")));
}

TEST(Svg, ShadesGoFromPaleToDarkWithReadableInk) {
  EXPECT_EQ(ShadeOf(0), "#f7fbff");
  EXPECT_EQ(ShadeOf(1), "#084081");
  EXPECT_EQ(ShadeOf(2), ShadeOf(1));
  EXPECT_EQ(InkOn(0.2), "#222222");
  EXPECT_EQ(InkOn(0.9), "#ffffff");
}

TEST(Svg, EachRuleHasALineOfItsOwn) {
  std::vector<std::string> looks;
  for (std::size_t i = 0; i < 21; ++i) looks.push_back(StrokeOf(i).color + StrokeOf(i).dashes);
  std::sort(looks.begin(), looks.end());
  EXPECT_EQ(std::adjacent_find(looks.begin(), looks.end()), looks.end());
}

TEST(Spread, KeepsLabelsThatDoNotCollide) {
  EXPECT_THAT(Spread({30, 10, 50}, 10, 0, 100), testing::ElementsAre(30, 10, 50));
}

TEST(Spread, NoLabelOverAnother) {
  rc::check([] {
    const auto count = *rc::gen::inRange<std::size_t>(1, 10);
    std::vector<double> wanted(count);
    for (double& place : wanted) place = *rc::gen::inRange(0, 100);
    std::vector<double> places = Spread(wanted, 10, 0, 100);
    std::sort(places.begin(), places.end());
    RC_ASSERT(places.front() >= 5 - 1e-9 && places.back() <= 95 + 1e-9);
    for (std::size_t i = 1; i < count; ++i) RC_ASSERT(places[i] - places[i - 1] >= 10 - 1e-9);
  });
}

}  // namespace
}  // namespace ostraka::page::svg_test
