#include "sim/page/axes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "node/base/check.h"

namespace ostraka::page {
namespace {

constexpr double kCharWidth = 7.2;  // of the 11 px font
constexpr char kInk[] = "#444444";
const Stroke kGrid{"#dddddd", 0.8, ""};

std::string ShortNumber(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", value);
  return text;
}

}  // namespace

PlotArea ZoomedTo(PlotArea area, double least, double most) {
  constexpr double kClose = 0.3;
  constexpr double kStep = 0.04;  // of which four ticks are whole percents
  constexpr double kMargin = 0.01;
  if (most - least > kClose) return area;
  area.low = std::max(std::floor((least - kMargin) / kStep) * kStep, 0.0);
  area.high = std::min(std::ceil((most + kMargin) / kStep) * kStep, 1.0);
  if (area.high - area.low < 2 * kStep) area.low = std::max(area.high - 2 * kStep, 0.0);
  if (area.high <= area.low) area.high = area.low + kStep;
  return area;
}

void DrawValueAxis(const PlotArea& area, Svg& svg) {
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    const double value = area.low + share * (area.high - area.low);
    const double y = area.YOf(value);
    svg.Line({area.left, y}, {area.right(), y}, kGrid);
    const std::string unit = share == 1 && area.percent ? " %" : "";
    svg.Text({area.left - 6, y + 4}, ShortNumber(area.percent ? 100 * value : value) + unit,
             {11, Anchor::kEnd, kInk, false});
  }
}

void DrawTick(const PlotArea& area, double x, double value, Svg& svg) {
  svg.Line({x, area.bottom()}, {x, area.bottom() + 4}, {"#666666", 1, ""});
  svg.Text({x, area.bottom() + 17}, ShortNumber(value), {11, Anchor::kMiddle, kInk, false});
}

void DrawTitleBelow(const PlotArea& area, const std::string& title, Svg& svg) {
  svg.Text({area.left + area.width / 2, area.bottom() + 33}, title,
           {11, Anchor::kMiddle, kInk, false});
}

std::vector<double> RoundTicks(double most) { return RoundTicks(0, most); }

std::vector<double> RoundTicks(double least, double most) {
  OSTRAKA_CHECK(least >= 0 && most >= least);
  constexpr double kMostSteps = 6;
  constexpr std::array<double, 3> kFactors = {2, 2.5, 2};  // 1, 2, 5, 10, 20, ...
  double step = 1;
  for (std::size_t i = 0; (most - least) / step > kMostSteps; ++i) {
    step *= kFactors[i % kFactors.size()];
  }
  std::vector<double> ticks;
  for (double tick = std::ceil(least / step) * step; tick <= most; tick += step) {
    ticks.push_back(tick);
  }
  return ticks;
}

std::vector<std::string> Wrapped(const std::string& text, double width) {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find(' ', from), text.size());
    const std::string word = text.substr(from, end - from);
    from = end + 1;
    if (!lines.empty() && WidthOf(lines.back() + " " + word) <= width) {
      lines.back() += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

double WidthOf(const std::string& text) { return kCharWidth * static_cast<double>(text.size()); }

double WidestOf(const std::vector<std::string>& texts) {
  double widest = 0;
  for (const std::string& text : texts) widest = std::max(widest, WidthOf(text));
  return widest;
}

}  // namespace ostraka::page
