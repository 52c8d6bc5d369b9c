#include "sim/page/svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace ostraka::page {
namespace {

// Two decimals are enough for a pixel.
std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", value);
  return text;
}

std::string Attribute(const char* name, const std::string& value) {
  return std::string(" ") + name + "=\"" + value + "\"";
}
std::string Attribute(const char* name, double value) { return Attribute(name, Number(value)); }

std::string Points(const std::vector<Place>& places) {
  std::string text;
  for (const Place& place : places) {
    text += (text.empty() ? "" : " ") + Number(place.x) + "," + Number(place.y);
  }
  return Attribute("points", text);
}

std::string Attributes(const Stroke& stroke) {
  std::string text = Attribute("stroke", stroke.color) + Attribute("stroke-width", stroke.width);
  if (!stroke.dashes.empty()) text += Attribute("stroke-dasharray", stroke.dashes);
  return text;
}

}  // namespace

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

Svg::Svg(double width, double height, std::string_view title)
    : text_("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"" + Attribute("width", width) +
            Attribute("height", height) + " viewBox=\"0 0 " + Number(width) + " " + Number(height) +
            "\" font-family=\"DejaVu Sans, Verdana, sans-serif\">\n<title>" + Escaped(title) +
            "</title>\n") {
  Box({0, 0}, width, height, "#ffffff");
}

void Svg::Line(Place from, Place to, const Stroke& stroke) {
  text_ += "<line" + Attribute("x1", from.x) + Attribute("y1", from.y) + Attribute("x2", to.x) +
           Attribute("y2", to.y) + Attributes(stroke) + "/>\n";
}

void Svg::Path(const std::vector<Place>& places, const Stroke& stroke) {
  text_ += "<polyline fill=\"none\" stroke-linejoin=\"round\"" + Points(places) +
           Attributes(stroke) + "/>\n";
}

void Svg::Area(const std::vector<Place>& places, const std::string& color, double opacity) {
  text_ += "<polygon" + Points(places) + Attribute("fill", color) +
           Attribute("fill-opacity", opacity) + "/>\n";
}

void Svg::Box(Place corner, double width, double height, const std::string& fill) {
  text_ += "<rect" + Attribute("x", corner.x) + Attribute("y", corner.y) +
           Attribute("width", width) + Attribute("height", height) + Attribute("fill", fill) +
           "/>\n";
}

void Svg::Circle(Place middle, double radius, const std::string& fill) {
  text_ += "<circle" + Attribute("cx", middle.x) + Attribute("cy", middle.y) +
           Attribute("r", radius) + Attribute("fill", fill) + "/>\n";
}

void Svg::Text(Place at, std::string_view text, const TextStyle& style) {
  constexpr std::array<const char*, 3> kAnchors = {"start", "middle", "end"};
  text_ += "<text" + Attribute("x", at.x) + Attribute("y", at.y) +
           Attribute("font-size", style.size) +
           Attribute("text-anchor", std::string(kAnchors[static_cast<std::size_t>(style.anchor)])) +
           Attribute("fill", style.color) +
           (style.bold ? Attribute("font-weight", std::string("bold")) : "") + ">" + Escaped(text) +
           "</text>\n";
}

void Svg::BeginTip(std::string_view tip) { text_ += "<g><title>" + Escaped(tip) + "</title>\n"; }

namespace {

template <std::size_t kCount>
Stroke Of(const std::array<const char*, kCount>& colors, std::size_t index) {
  constexpr std::array<const char*, 5> kDashes = {"", "6 3", "2 2", "8 3 2 3", "1 4"};
  return {colors[index % kCount], 1.8, kDashes[index / kCount % kDashes.size()]};
}

}  // namespace

Stroke StrokeOf(std::size_t index) {
  constexpr std::array<const char*, 7> kColors = {
      kHonestColor, "#e69f00", "#009e73", "#cc79a7", "#56b4e9", kUnprotectedColor, kByzantineColor};
  return Of(kColors, index);
}

Stroke NeutralStrokeOf(std::size_t index) {
  constexpr std::array<const char*, 4> kColors = {"#e69f00", "#009e73", "#cc79a7", "#56b4e9"};
  return Of(kColors, index);
}

std::string ShadeOf(double share) {
  const double s = std::clamp(std::isnan(share) ? 0.0 : share, 0.0, 1.0);
  constexpr std::array<double, 3> kPale = {247, 251, 255};
  constexpr std::array<double, 3> kDark = {8, 64, 129};
  std::array<int, 3> mixed{};
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    mixed[i] = static_cast<int>(std::lround(kPale[i] + s * (kDark[i] - kPale[i])));
  }
  char text[8];
  std::snprintf(text, sizeof(text), "#%02x%02x%02x", mixed[0] & 0xff, mixed[1] & 0xff,
                mixed[2] & 0xff);
  return text;
}

std::string InkOn(double share) { return share > 0.5 ? "#ffffff" : "#222222"; }

std::vector<double> Spread(const std::vector<double>& wanted, double height, double low,
                           double high) {
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
  std::vector<double> places = wanted;
  // Push labels down from the top, then up from the bottom where they passed `high`.
  double next = low + height / 2;
  for (const std::size_t i : order) {
    places[i] = std::max(places[i], next);
    next = places[i] + height;
  }
  double last = high - height / 2;
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    places[*i] = std::min(places[*i], last);
    last = places[*i] - height;
  }
  return places;
}

}  // namespace ostraka::page
