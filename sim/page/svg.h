// Drawings as SVG text: self-contained, so that one can stand in an HTML page or in a file.
//
// Units are pixels, y grows downwards. Colours are "#rrggbb" or "none".
// Thread safety: one owner.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ostraka::page {

struct Place {
  double x = 0;
  double y = 0;
};

enum class Anchor { kStart, kMiddle, kEnd };

struct Stroke {
  std::string color = "#333333";
  double width = 1;
  std::string dashes;  // as stroke-dasharray; empty: none
};

struct TextStyle {
  double size = 11;
  Anchor anchor = Anchor::kStart;
  std::string color = "#222222";
  bool bold = false;
};

class Svg {
 public:
  // `title` is read to those who do not see the drawing.
  Svg(double width, double height, std::string_view title);

  void Line(Place from, Place to, const Stroke& stroke);
  void Path(const std::vector<Place>& places, const Stroke& stroke);
  // Filled, with this opacity, without an edge.
  void Area(const std::vector<Place>& places, const std::string& color, double opacity);
  void Box(Place corner, double width, double height, const std::string& fill);
  void Circle(Place middle, double radius, const std::string& fill);
  // `at` is on the base line.
  void Text(Place at, std::string_view text, const TextStyle& style = {});

  std::string Finish() const { return text_ + "</svg>\n"; }

 private:
  std::string text_;
};

// With &, <, > and quotes as entities.
std::string Escaped(std::string_view text);

// Colours that people with any colour vision tell apart (Okabe and Ito 2008), without the yellow,
// which is too pale for a line; and dashes besides, from the eighth on.
Stroke StrokeOf(std::size_t index);

// From near white to dark blue; `share` in [0, 1].
std::string ShadeOf(double share);
// What is readable on it.
std::string InkOn(double share);

// Centres of labels of one height, as near as possible to where they are wanted, in the same order,
// none over another and all within [low, high] if they fit.
std::vector<double> Spread(const std::vector<double>& wanted, double height, double low,
                           double high);

}  // namespace ostraka::page
