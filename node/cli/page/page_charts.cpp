#include "node/cli/page/page_charts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "node/cli/page/page_text.h"
#include "node/cli/terminal/human.h"
#include "node/cli/views/json_reading.h"
#include "node/host/report/run_history.h"

namespace ostraka::cli {

using nlohmann::json;

namespace {

// Small enough for the texts to be readable at the width of a phone.
constexpr double kWidth = 380;
constexpr double kLeft = 52;
constexpr double kRight = 334;
constexpr double kTop = 14;

std::string Number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

std::string Attribute(const char* name, double value) {
  return std::string(" ") + name + "=\"" + Number(value) + "\"";
}

std::string Open(double height, const std::string& label) {
  return "<svg class=\"chart\" role=\"img\" viewBox=\"0 0 " + Number(kWidth) + " " +
         Number(height) + "\" aria-label=\"" + Html(label) + "\">";
}

std::string Line(const char* kind, double x1, double y1, double x2, double y2) {
  return std::string("<line class=\"") + kind + "\"" + Attribute("x1", x1) + Attribute("y1", y1) +
         Attribute("x2", x2) + Attribute("y2", y2) + "/>";
}

std::string Text(const char* kind, double x, double y, const std::string& text) {
  return std::string("<text class=\"") + kind + "\"" + Attribute("x", x) + Attribute("y", y) + ">" +
         Html(text) + "</text>";
}

std::string Box(const std::string& kind, double x, double y, double width, double height) {
  return "<rect class=\"" + kind + "\"" + Attribute("x", x) + Attribute("y", y) +
         Attribute("width", std::max(width, 0.0)) + Attribute("height", std::max(height, 0.0)) +
         "/>";
}

// A short number at least `least`, of which a quarter is short too.
double RoundUp(double least) {
  if (!(least > 0) || !std::isfinite(least)) return 1;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double times : {1.0, 1.2, 1.6, 2.0, 2.4, 3.0, 4.0, 5.0, 6.0, 8.0}) {
    if (times * power >= least) return times * power;
  }
  return 10 * power;
}

// A number at an axis: short.
std::string AxisText(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value);
  return text.data();
}

// --- the curve ----------------------------------------------------------------------------------

constexpr double kCurveHeight = 216;
constexpr double kCurveBottom = 186;
constexpr std::size_t kFewDots = 40;
constexpr std::size_t kMostDrawn = 192;  // finer than a point would be narrower than the line

// The last step of the axis: the run's, unless so little of it is done that the curve would be a
// stroke at the left.
double StepsDrawn(double planned, double newest) {
  constexpr double kSmallPart = 0.1;
  constexpr double kLeast = 10;
  if (newest >= kSmallPart * planned) return std::max({planned, newest, 1.0});
  return std::clamp(RoundUp(newest), std::min(kLeast, planned), planned);
}

// At most kMostDrawn of them, and the newest.
std::vector<host::CurvePoint> Drawn(const json& all) {
  std::vector<host::CurvePoint> points;
  for (const json& point : all) {
    points.push_back(
        {point.at(0).get<std::uint64_t>(), NumberOf(point.at(1)), NumberOf(point.at(2))});
  }
  const std::size_t stride = (points.size() + kMostDrawn - 1) / kMostDrawn;
  std::vector<host::CurvePoint> drawn;
  for (std::size_t i = 0; i < points.size(); i += stride) drawn.push_back(points[i]);
  if (drawn.back().step != points.back().step) drawn.push_back(points.back());
  return drawn;
}

struct CurveScale {
  double steps = 1;
  double top_loss = 1;

  double X(std::uint64_t step) const {
    return kLeft + (kRight - kLeft) * std::min(static_cast<double>(step) / steps, 1.0);
  }
  // `share` of the height.
  static double Y(double share) { return kCurveBottom - (kCurveBottom - kTop) * share; }
};

std::string CurveAxes(const CurveScale& scale, bool accuracy) {
  std::string svg;
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    const double y = CurveScale::Y(share);
    svg += Line(share == 0 ? "axis" : "grid", kLeft, y, kRight, y);
    svg += Text("tick end", kLeft - 6, y + 4, AxisText(share * scale.top_loss));
    if (accuracy) svg += Text("tick", kRight + 6, y + 4, AxisText(share * 100) + " %");
  }
  for (const double share : {0.0, 0.5, 1.0}) {
    const char* kind = share == 0 ? "tick" : share == 1 ? "tick end" : "tick middle";
    svg += Text(kind, kLeft + (kRight - kLeft) * share, kCurveBottom + 18,
                (share == 0 ? "step " : "") +
                    CountText(static_cast<std::uint64_t>(std::llround(share * scale.steps))));
  }
  return svg;
}

// The points of one series, broken where a value is no number. `height_of` is a share.
template <typename HeightOf>
std::string Series(const std::string& kind, const std::vector<host::CurvePoint>& points,
                   const CurveScale& scale, const HeightOf& height_of) {
  std::string svg;
  std::string line;
  const auto end_line = [&] {
    if (!line.empty()) svg += "<polyline class=\"line " + kind + "\" points=\"" + line + "\"/>";
    line.clear();
  };
  for (const host::CurvePoint& point : points) {
    const double share = height_of(point);
    if (!std::isfinite(share)) {
      end_line();
      continue;
    }
    const double x = scale.X(point.step);
    const double y = CurveScale::Y(std::clamp(share, 0.0, 1.0));
    line += (line.empty() ? "" : " ") + Number(x) + "," + Number(y);
    if (points.size() > kFewDots) continue;
    svg += "<circle class=\"dot " + kind + "\"" + Attribute("cx", x) + Attribute("cy", y) +
           Attribute("r", 2.5) + "/>";
  }
  end_line();
  return svg;
}

// --- phases -------------------------------------------------------------------------------------

constexpr double kPhaseHeight = 168;
constexpr double kPhaseBottom = 140;

struct Phase {
  const char* name;  // as in the status
  const char* kind;
};
constexpr std::array<Phase, 4> kPhases = {
    {{"collect", "c1"}, {"reveal", "c2"}, {"prove", "c3"}, {"settle", "c4"}}};

double WholeOf(const json& span) {
  double whole = 0;
  for (const Phase& phase : kPhases) whole += NumberAt(span, phase.name);
  return whole;
}

std::string PhaseColumn(const json& span, double x, double width, double seconds_high) {
  std::string svg;
  std::string tip = "step " + CountText(CountAt(span, "step"));
  double y = kPhaseBottom;
  for (const Phase& phase : kPhases) {
    const double seconds = NumberAt(span, phase.name);
    const double height = (kPhaseBottom - kTop) * seconds / seconds_high;
    y -= height;
    svg += Box(phase.kind, x, y, width, height);
    tip += std::string(", ") + phase.name + " " + SpanText(seconds);
  }
  if (IsSet(span, "slow")) svg += Text("tick middle slow", x + width / 2, y - 3, "!");
  return "<g><title>" + Html(tip) + "</title>" + svg + "</g>";
}

}  // namespace

std::string CurveChart(const json& curve, std::uint64_t steps) {
  if (curve.at("points").empty()) return "";
  const std::vector<host::CurvePoint> points = Drawn(curve.at("points"));
  CurveScale scale;
  scale.steps = StepsDrawn(static_cast<double>(steps), static_cast<double>(points.back().step));
  double highest = 0;
  for (const host::CurvePoint& point : points) {
    if (std::isfinite(point.loss)) highest = std::max(highest, point.loss);
  }
  scale.top_loss = RoundUp(highest);
  const bool accuracy = curve.at("metric") == "accuracy";
  const host::CurvePoint& newest = points.back();
  std::string label =
      "Loss over steps; " + FourDigits(newest.loss) + " after step " + CountText(newest.step);
  if (accuracy) label += ", accuracy " + PercentText(newest.value);
  std::string svg = Open(kCurveHeight, label) + CurveAxes(scale, accuracy);
  if (accuracy) {
    svg += Series("c3", points, scale, [](const host::CurvePoint& point) { return point.value; });
  }
  svg += Series("c1", points, scale,
                [&](const host::CurvePoint& point) { return point.loss / scale.top_loss; });
  return svg + "</svg>";
}

std::string PhaseChart(const json& phases) {
  if (phases.empty()) return "";
  double longest = 0;
  for (const json& span : phases) longest = std::max(longest, WholeOf(span));
  const double high = RoundUp(longest);
  std::string svg =
      Open(kPhaseHeight, "Duration of the last " + std::to_string(phases.size()) +
                             " steps by phase; the last took " + SpanText(WholeOf(phases.back())));
  for (const double share : {0.0, 0.5, 1.0}) {
    const double y = kPhaseBottom - (kPhaseBottom - kTop) * share;
    svg += Line(share == 0 ? "axis" : "grid", kLeft, y, kRight, y);
    svg += Text("tick end", kLeft - 6, y + 4, SpanText(share * high));
  }
  const double room = (kRight - kLeft) / static_cast<double>(host::RunHistory::kSpans);
  for (std::size_t i = 0; i < phases.size(); ++i) {
    svg += PhaseColumn(phases[i], kLeft + room * (static_cast<double>(i) + 0.1), room * 0.8, high);
  }
  svg +=
      Text("tick", kLeft, kPhaseBottom + 18, "step " + CountText(CountAt(phases.front(), "step")));
  if (phases.size() > 1) {
    svg += Text("tick middle", kLeft + room * (static_cast<double>(phases.size()) - 0.5),
                kPhaseBottom + 18, CountText(CountAt(phases.back(), "step")));
  }
  return svg + "</svg>";
}

std::string ShareBars(const std::vector<double>& parts) {
  const double whole = std::accumulate(parts.begin(), parts.end(), 0.0);
  if (!(whole > 0)) return "";
  constexpr double kBarHeight = 22;
  std::string svg =
      "<svg class=\"bar\" aria-hidden=\"true\" preserveAspectRatio=\"none\" "
      "viewBox=\"0 0 " +
      Number(kWidth) + " " + Number(kBarHeight) + "\">";
  constexpr std::array<const char*, 3> kKinds = {"c1", "c2", "c3"};
  double x = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double width = kWidth * parts[i] / whole;
    svg += Box(kKinds.at(i), x, 0, width, kBarHeight);
    x += width;
  }
  return svg + "</svg>";
}

std::string ShareBar(double share) {
  return "<svg class=\"share\" aria-hidden=\"true\" preserveAspectRatio=\"none\" viewBox=\"0 0 100 "
         "8\">" +
         Box("track", 0, 0, 100, 8) + Box("c1", 0, 0, 100 * std::clamp(share, 0.0, 1.0), 8) +
         "</svg>";
}

}  // namespace ostraka::cli
