// Accuracy against steps.
#include <algorithm>
#include <cmath>
#include <map>

#include "sim/compare/figures.h"
#include "sim/compare/svg.h"

namespace ostraka::compare {
namespace {

constexpr double kPlotWidth = 250;
constexpr double kPlotHeight = 165;
constexpr double kLeft = 44;
constexpr double kTop = 30;
constexpr double kLabelWidth = 170;
constexpr double kBottom = 40;
constexpr double kPanelWidth = kLeft + kPlotWidth + kLabelWidth;
constexpr double kPanelHeight = kTop + kPlotHeight + kBottom;
constexpr double kLabelHeight = 12.5;
constexpr std::size_t kPanelsARow = 2;

struct CurvePoint {
  double step = 0;
  Interval accuracy;
};

std::vector<CurvePoint> MeanCurve(const UnderAttack& under) {
  std::map<std::uint64_t, std::vector<double>> values;
  for (const Done& run : under.runs) {
    for (const Point& point : run.result->curve) values[point.step].push_back(point.test_accuracy);
  }
  std::vector<CurvePoint> curve;
  for (const auto& [step, at] : values) {
    // A run of the protocol may last some steps longer than others.
    if (at.size() < under.runs.size()) continue;
    Interval interval = MeanInterval(at);
    interval.low = std::max(interval.low, 0.0);
    interval.high = std::min(interval.high, 1.0);
    curve.push_back({static_cast<double>(step), interval});
  }
  return curve;
}

class Panel {
 public:
  Panel(Svg& svg, Place corner, double steps) : svg_(svg), corner_(corner), steps_(steps) {}

  Place At(double step, double accuracy) const {
    return {corner_.x + kLeft + kPlotWidth * step / steps_,
            corner_.y + kTop + kPlotHeight * (1 - accuracy)};
  }

  void Frame(const std::string& title, double attack_from) {
    for (const double accuracy : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      svg_.Line(At(0, accuracy), At(steps_, accuracy), {"#dddddd", 0.8, ""});
      const Place at = At(0, accuracy);
      svg_.Text({at.x - 6, at.y + 4}, std::to_string(static_cast<int>(100 * accuracy)),
                {11, Anchor::kEnd, "#444444", false});
    }
    for (const double share : {0.0, 0.5, 1.0}) {
      const Place at = At(share * steps_, 0);
      svg_.Text({at.x, at.y + 15}, std::to_string(static_cast<int>(share * steps_)),
                {11, Anchor::kMiddle, "#444444", false});
    }
    svg_.Text({At(0, 1).x, corner_.y + 18}, title, {12.5, Anchor::kStart, "#111111", true});
    if (attack_from > 0) {
      svg_.Line(At(attack_from, 0), At(attack_from, 1), {"#999999", 1, "3 3"});
    }
  }

  void Curve(const std::vector<CurvePoint>& curve, const Stroke& stroke) {
    std::vector<Place> line;
    std::vector<Place> band;
    for (const CurvePoint& point : curve) {
      line.push_back(At(point.step, point.accuracy.mean));
      band.push_back(At(point.step, point.accuracy.high));
    }
    for (auto point = curve.rbegin(); point != curve.rend(); ++point) {
      band.push_back(At(point->step, point->accuracy.low));
    }
    svg_.Area(band, stroke.color, 0.13);
    svg_.Path(line, stroke);
  }

  // Names at the ends of the curves, with a thin line to each.
  void Labels(const std::vector<std::string>& names, const std::vector<CurvePoint>& ends) {
    std::vector<double> wanted;
    for (const CurvePoint& end : ends) wanted.push_back(At(end.step, end.accuracy.mean).y);
    const std::vector<double> places =
        Spread(wanted, kLabelHeight, corner_.y + kTop - 6, corner_.y + kTop + kPlotHeight + 20);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Stroke stroke = StrokeOf(i);
      const Place end = At(ends[i].step, ends[i].accuracy.mean);
      svg_.Line(end, {end.x + 14, places[i]}, {stroke.color, 0.8, ""});
      svg_.Circle({end.x + 18, places[i]}, 3.5, stroke.color);
      svg_.Text({end.x + 25, places[i] + 4}, names[i], {10.5, Anchor::kStart, "#222222", false});
    }
  }

 private:
  Svg& svg_;
  Place corner_;
  double steps_;
};

}  // namespace

std::string CurvesSvg(const std::vector<const Line*>& lines) {
  const Cell& cell = *lines.front()->cell;
  const std::vector<UnderAttack>& attacks = lines.front()->attacks;
  const std::size_t rows = (attacks.size() + kPanelsARow - 1) / kPanelsARow;
  Svg svg(kPanelWidth * static_cast<double>(std::min(kPanelsARow, attacks.size())),
          kPanelHeight * static_cast<double>(rows) + 8, "test accuracy against steps, by attack");
  for (std::size_t a = 0; a < attacks.size(); ++a) {
    const Place corner = {kPanelWidth * static_cast<double>(a % kPanelsARow),
                          kPanelHeight * static_cast<double>(a / kPanelsARow)};
    Panel panel(svg, corner, static_cast<double>(cell.steps));
    const bool attacked = attacks[a].attack != "none" && cell.byzantine > 0;
    panel.Frame(attacks[a].attack, attacked ? static_cast<double>(cell.attack_from) : 0);
    std::vector<std::string> names;
    std::vector<CurvePoint> ends;
    for (const Line* line : lines) {
      for (const UnderAttack& under : line->attacks) {
        if (under.attack != attacks[a].attack) continue;
        std::vector<CurvePoint> curve = MeanCurve(under);
        std::erase_if(curve, [&](const CurvePoint& point) {
          return point.step > static_cast<double>(cell.steps);
        });
        panel.Curve(curve, StrokeOf(names.size()));
        names.push_back(line->cell->rule.family);
        ends.push_back(curve.back());
      }
    }
    panel.Labels(names, ends);
    if (a + kPanelsARow >= attacks.size()) {
      svg.Text({corner.x + kLeft + kPlotWidth / 2, corner.y + kTop + kPlotHeight + 31}, "steps",
               {11, Anchor::kMiddle, "#444444", false});
    }
  }
  return svg.Finish();
}

}  // namespace ostraka::compare
