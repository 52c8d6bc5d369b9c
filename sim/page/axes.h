// Axes that figures share.
//
// Thread safety: pure functions, but for what they draw on.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "sim/page/svg.h"

namespace ostraka::page {

// The area of a plot's data, in pixels; y grows downwards.
struct PlotArea {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;
  double low = 0;  // the values at the bottom and at the top
  double high = 1;
  bool percent = true;  // values are shares, which the axis shows as percentages

  double right() const { return left + width; }
  double bottom() const { return top + height; }
  // The y of a value; those out of the range are at its border.
  double YOf(double value) const {
    return top + height * (1 - std::clamp((value - low) / (high - low), 0.0, 1.0));
  }
};

// The area with the range of accuracies for values between `least` and `most`: round numbers near
// them if they are close together, else 0 to 1.
PlotArea ZoomedTo(PlotArea area, double least, double most);

// Five lines across the area, with their values at its left: 40 pixels are needed.
void DrawValueAxis(const PlotArea& area, Svg& svg);

// A number below the area at `x`; and the title of the axis, below the area's middle.
void DrawTick(const PlotArea& area, double x, double value, Svg& svg);
void DrawTitleBelow(const PlotArea& area, const std::string& title, Svg& svg);

// 0, s, 2 s, ... up to `most`, at most 7 of them, s being 1, 2 or 5 times a power of ten and at
// least 1. REQUIRES: most >= 0.
std::vector<double> RoundTicks(double most);

// The multiples of such an s that are within [least, most]. REQUIRES: 0 <= least <= most.
std::vector<double> RoundTicks(double least, double most);

// `text` in lines of at most `width` pixels in the usual size, broken at spaces. A longer word has
// a line of its own.
std::vector<std::string> Wrapped(const std::string& text, double width);

// An upper estimate of the width in pixels of a text of the usual size.
double WidthOf(const std::string& text);
double WidestOf(const std::vector<std::string>& texts);

}  // namespace ostraka::page
