// Accuracy over steps: one panel for each attack, one curve with a band for each rule.
#include <algorithm>
#include <cmath>
#include <map>

#include "sim/compare/report/figures.h"
#include "sim/page/axes.h"

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

// Only steps that all runs have; a run of the protocol may last some steps longer than the grid
// says.
std::vector<CurvePoint> MeanCurve(const UnderAttack& under, std::uint64_t steps) {
  std::map<std::uint64_t, std::vector<double>> values;
  for (const Done& run : under.runs) {
    for (const Point& point : run.result->curve) values[point.step].push_back(point.test_accuracy);
  }
  std::vector<CurvePoint> curve;
  for (const auto& [step, at] : values) {
    if (at.size() < under.runs.size() || step > steps) continue;
    Interval interval = MeanInterval(at);
    interval.low = std::max(interval.low, 0.0);
    interval.high = std::min(interval.high, 1.0);
    curve.push_back({static_cast<double>(step), interval});
  }
  return curve;
}

struct Label {
  std::string name;
  std::string color;
  CurvePoint end;  // the last point of the curve
};

class Panel {
 public:
  Panel(page::Svg& svg, page::Place corner, double steps)
      : svg_(svg),
        area_{corner.x + kLeft, corner.y + kTop, kPlotWidth, kPlotHeight},
        steps_(steps) {}

  const page::PlotArea& area() const { return area_; }

  void Frame(const std::string& title, double attack_from) {
    page::DrawAccuracyAxis(area_, svg_);
    for (const double share : {0.0, 0.5, 1.0}) {
      page::DrawTick(area_, At(share * steps_, 0).x, std::floor(share * steps_), svg_);
    }
    svg_.Text({area_.left, area_.top - 12}, title, {12.5, page::Anchor::kStart, "#111111", true});
    if (attack_from > 0) {
      svg_.Line(At(attack_from, 0), At(attack_from, 1), {"#999999", 1, "3 3"});
    }
  }

  void Curve(const std::vector<CurvePoint>& curve, const page::Stroke& stroke) {
    std::vector<page::Place> line;
    std::vector<page::Place> band;
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

  // Writes the names at the ends of the curves, with a thin line to each.
  void Labels(const std::vector<Label>& labels) {
    std::vector<double> wanted;
    for (const Label& label : labels) wanted.push_back(area_.YOf(label.end.accuracy.mean));
    const std::vector<double> places =
        page::Spread(wanted, kLabelHeight, area_.top - 6, area_.bottom() + 20);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const page::Place end = At(labels[i].end.step, labels[i].end.accuracy.mean);
      svg_.Line(end, {end.x + 14, places[i]}, {labels[i].color, 0.8, ""});
      svg_.Circle({end.x + 18, places[i]}, 3.5, labels[i].color);
      svg_.Text({end.x + 25, places[i] + 4}, labels[i].name,
                {10.5, page::Anchor::kStart, "#222222", false});
    }
  }

 private:
  page::Place At(double step, double accuracy) const {
    return {area_.left + area_.width * step / steps_, area_.YOf(accuracy)};
  }

  page::Svg& svg_;
  page::PlotArea area_;
  double steps_;
};

// Draws all lines under one attack. A line keeps its colour even if another one has no result here.
void DrawCurves(const std::vector<const Line*>& lines, const std::string& attack, Panel& panel) {
  std::vector<Label> labels;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const UnderAttack* under = Find(*lines[i], attack);
    if (under == nullptr) continue;
    const std::vector<CurvePoint> curve = MeanCurve(*under, lines[i]->cell->steps);
    panel.Curve(curve, page::StrokeOf(i));
    labels.push_back({lines[i]->cell->rule.family, page::StrokeOf(i).color, curve.back()});
  }
  panel.Labels(labels);
}

}  // namespace

std::string CurvesSvg(const std::vector<const Line*>& lines) {
  const Cell& cell = *lines.front()->cell;
  const std::vector<std::string> attacks = AttacksOf(lines);
  const std::size_t rows = (attacks.size() + kPanelsARow - 1) / kPanelsARow;
  page::Svg svg(kPanelWidth * static_cast<double>(std::min(kPanelsARow, attacks.size())),
                kPanelHeight * static_cast<double>(rows) + 8,
                "test accuracy against steps, by attack");
  for (std::size_t a = 0; a < attacks.size(); ++a) {
    const page::Place corner = {kPanelWidth * static_cast<double>(a % kPanelsARow),
                                kPanelHeight * static_cast<double>(a / kPanelsARow)};
    Panel panel(svg, corner, static_cast<double>(cell.steps));
    const bool attacked = attacks[a] != "none" && cell.byzantine > 0;
    panel.Frame(attacks[a], attacked ? static_cast<double>(cell.attack_from) : 0);
    DrawCurves(lines, attacks[a], panel);
    if (a + kPanelsARow >= attacks.size()) page::DrawTitleBelow(panel.area(), "steps", svg);
  }
  return svg.Finish();
}

}  // namespace ostraka::compare
