// Drawings as SVG text, self-contained: for an HTML page or a file of their own.
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
  // `title` is the text for screen readers.
  Svg(double width, double height, std::string_view title);

  void Line(Place from, Place to, const Stroke& stroke);
  void Path(const std::vector<Place>& places, const Stroke& stroke);
  // Filled, with this opacity, without an edge.
  void Area(const std::vector<Place>& places, const std::string& color, double opacity);
  void Box(Place corner, double width, double height, const std::string& fill);
  void Circle(Place middle, double radius, const std::string& fill);
  // `at` is on the base line.
  void Text(Place at, std::string_view text, const TextStyle& style = {});

  // What `draw` draws shows `tip` to a reader who points at it.
  template <typename Draw>
  void WithTip(std::string_view tip, const Draw& draw) {
    BeginTip(tip);
    draw();
    text_ += "</g>\n";
  }

  std::string Finish() const { return text_ + "</svg>\n"; }

 private:
  void BeginTip(std::string_view tip);

  std::string text_;
};

// With &, <, > and quotes as entities.
std::string Escaped(std::string_view text);

// Colours that are distinct for any colour vision (Okabe and Ito 2008), without the yellow, which
// is too pale for a line. From the eighth on, dashes are added.
Stroke StrokeOf(std::size_t index);

// What a colour means wherever the simulator draws members: honest ones, Byzantine ones, and a run
// without protection.
inline constexpr char kHonestColor[] = "#0072b2";
inline constexpr char kByzantineColor[] = "#d55e00";
inline constexpr char kUnprotectedColor[] = "#777777";

// As StrokeOf, without the colours that have a meaning; from the fifth on with dashes.
Stroke NeutralStrokeOf(std::size_t index);

// From near white to dark blue; `share` in [0, 1].
std::string ShadeOf(double share);
// A text colour that is readable on ShadeOf(share).
std::string InkOn(double share);

// Centres of labels of one height, as near as possible to `wanted` and in its order; none overlaps
// another, and all are within [low, high] if they fit.
std::vector<double> Spread(const std::vector<double>& wanted, double height, double low,
                           double high);

}  // namespace ostraka::page
