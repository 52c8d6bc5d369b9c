// Scores over steps: one panel for each attack, one curve with a band for each rule.
#include <algorithm>
#include <cmath>
#include <map>

#include "sim/compare/report/figures.h"
#include "sim/compare/report/looks.h"
#include "sim/compare/report/tables.h"
#include "sim/page/axes.h"

namespace ostraka::compare {
namespace {

constexpr double kPlotWidth = 250;
constexpr double kPlotHeight = 165;
constexpr double kLeft = 44;
constexpr double kTop = 30;
constexpr double kLabelWidth = 215;
constexpr double kBottom = 40;
constexpr double kPanelWidth = kLeft + kPlotWidth + kLabelWidth;
constexpr double kPanelHeight = kTop + kPlotHeight + kBottom;
constexpr double kLabelHeight = 12.5;
constexpr std::size_t kPanelsARow = 2;

struct CurvePoint {
  double step = 0;
  Interval score;
};

// Only steps that all runs have; a run of the protocol may last some steps longer than the grid
// says.
std::vector<CurvePoint> MeanCurve(Score score, const UnderAttack& under, std::uint64_t steps) {
  std::map<std::uint64_t, std::vector<double>> values;
  for (const Done& run : under.runs) {
    for (const Point& point : run.result->curve) {
      values[point.step].push_back(TestScore(score, point));
    }
  }
  std::vector<CurvePoint> curve;
  for (const auto& [step, at] : values) {
    if (at.size() < under.runs.size() || step > steps) continue;
    curve.push_back({static_cast<double>(step), Possible(score, MeanInterval(at))});
  }
  return curve;
}

struct Label {
  std::string name;
  std::string color;
  CurvePoint end;  // the last point of the curve
};

// A rule's curve under one attack.
struct Drawn {
  const Line* line = nullptr;
  std::vector<CurvePoint> curve;
  page::Stroke stroke;
};

// The part of a curve from where it first is in the area, with the place at which it comes in; the
// rest is beyond the axis.
std::vector<CurvePoint> Within(const page::PlotArea& area, const std::vector<CurvePoint>& curve) {
  const auto first = std::find_if(curve.begin(), curve.end(), [&area](const CurvePoint& point) {
    return point.score.mean >= area.low && point.score.mean <= area.high;
  });
  std::vector<CurvePoint> part(first, curve.end());
  if (first == curve.begin() || part.empty()) return part;
  const CurvePoint& before = *std::prev(first);
  const double border = before.score.mean < area.low ? area.low : area.high;
  const double share = (border - before.score.mean) / (first->score.mean - before.score.mean);
  CurvePoint at = before;
  at.step += share * (first->step - before.step);
  at.score.mean = border;
  at.score.low = std::min(border, before.score.low + share * (first->score.low - before.score.low));
  at.score.high =
      std::max(border, before.score.high + share * (first->score.high - before.score.high));
  part.insert(part.begin(), at);
  return part;
}

class Panel {
 public:
  Panel(page::Svg& svg, const page::PlotArea& area, double steps)
      : svg_(svg), area_(area), steps_(steps) {}

  const page::PlotArea& area() const { return area_; }

  void Frame(const std::string& title, double attack_from) {
    page::DrawValueAxis(area_, svg_);
    for (const double share : {0.0, 0.5, 1.0}) {
      page::DrawTick(area_, At(share * steps_, area_.low).x, std::floor(share * steps_), svg_);
    }
    svg_.Text({area_.left, area_.top - 12}, title, {12.5, page::Anchor::kStart, "#111111", true});
    if (attack_from > 0) {
      svg_.Line(At(attack_from, area_.low), At(attack_from, area_.high), {"#999999", 1, "3 3"});
    }
  }

  void Curve(const std::vector<CurvePoint>& curve, const page::Stroke& stroke) {
    std::vector<page::Place> line;
    std::vector<page::Place> band;
    for (const CurvePoint& point : curve) {
      line.push_back(At(point.step, point.score.mean));
      band.push_back(At(point.step, point.score.high));
    }
    for (auto point = curve.rbegin(); point != curve.rend(); ++point) {
      band.push_back(At(point->step, point->score.low));
    }
    svg_.Area(band, stroke.color, 0.13);
    svg_.Path(line, stroke);
  }

  // Writes the names at the ends of the curves, with a thin line to each.
  void Labels(const std::vector<Label>& labels) {
    std::vector<double> wanted;
    for (const Label& label : labels) wanted.push_back(area_.YOf(label.end.score.mean));
    const std::vector<double> places =
        page::Spread(wanted, kLabelHeight, area_.top - 6, area_.bottom() + 20);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const page::Place end = At(labels[i].end.step, labels[i].end.score.mean);
      svg_.Line(end, {end.x + 14, places[i]}, {labels[i].color, 0.8, ""});
      svg_.Circle({end.x + 18, places[i]}, 3.5, labels[i].color);
      svg_.Text({end.x + 25, places[i] + 4}, labels[i].name,
                {10.5, page::Anchor::kStart, "#222222", false});
    }
  }

 private:
  page::Place At(double step, double score) const {
    return {area_.left + area_.width * step / steps_, area_.YOf(score)};
  }

  page::Svg& svg_;
  page::PlotArea area_;
  double steps_;
};

std::vector<Drawn> CurvesUnder(const std::vector<const Line*>& lines, const std::string& attack) {
  const std::vector<page::Stroke> looks = LooksOf(lines);
  std::vector<Drawn> curves;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const UnderAttack* under = Find(*lines[i], attack);
    if (under == nullptr) continue;
    curves.push_back(
        {lines[i], MeanCurve(lines[i]->score, *under, lines[i]->cell->steps), looks[i]});
  }
  return curves;
}

// Zoomed to the second half of the steps, in which curves that rose together part or do not.
// Of losses, not beyond where they began: what diverged is at the border.
page::PlotArea AreaFor(const std::vector<Drawn>& curves, const page::PlotArea& area, double steps) {
  const Score score = curves.front().line->score;
  double least = std::max(BestOf(score), WorstOf(score));
  double most = 0;
  double start = 0;
  for (const Drawn& drawn : curves) {
    start = std::max(start, drawn.curve.front().score.mean);
    for (const CurvePoint& point : drawn.curve) {
      if (2 * point.step < steps) continue;
      least = std::min(least, point.score.low);
      most = std::max(most, point.score.high);
    }
  }
  if (score == Score::kLoss) most = std::min(most, start);
  return ZoomedTo(score, area, std::min(least, most), most);
}

void DrawCurves(const std::vector<Drawn>& curves, Panel& panel) {
  std::vector<Label> labels;
  for (const Drawn& drawn : curves) {
    panel.Curve(Within(panel.area(), drawn.curve), drawn.stroke);
    const CurvePoint& end = drawn.curve.back();
    labels.push_back(
        {drawn.line->cell->rule.family + " " + ScoreText(drawn.line->score, end.score.mean),
         drawn.stroke.color, end});
  }
  panel.Labels(labels);
}

// Two panels a row. Of an odd number the first one has a row to itself.
struct Places {
  std::size_t count;

  bool first_is_wide() const { return count > 1 && count % 2 == 1; }
  std::size_t rows() const { return (count + 1) / kPanelsARow; }
  page::PlotArea AreaOf(std::size_t panel) const {
    const bool wide = panel == 0 && first_is_wide();
    const std::size_t place = panel + (first_is_wide() && panel > 0 ? 1 : 0);
    return {kLeft + kPanelWidth * static_cast<double>(place % kPanelsARow),
            kTop + kPanelHeight * static_cast<double>(place / kPanelsARow),
            kPlotWidth + (wide ? kPanelWidth : 0), kPlotHeight};
  }
};

}  // namespace

std::string CurvesSvg(const std::vector<const Line*>& lines) {
  const Cell& cell = *lines.front()->cell;
  const std::vector<std::string> attacks = AttacksOf(lines);
  const Places places{attacks.size()};
  const auto steps = static_cast<double>(cell.steps);
  page::Svg svg(kPanelWidth * static_cast<double>(std::min(kPanelsARow, attacks.size())),
                kPanelHeight * static_cast<double>(places.rows()) + 8,
                ScoreTitle(lines.front()->score) + " against steps, by attack");
  for (std::size_t a = 0; a < attacks.size(); ++a) {
    const std::vector<Drawn> curves = CurvesUnder(lines, attacks[a]);
    Panel panel(svg, AreaFor(curves, places.AreaOf(a), steps), steps);
    const bool attacked = attacks[a] != "none" && cell.byzantine > 0;
    panel.Frame(attacks[a], attacked ? static_cast<double>(cell.attack_from) : 0);
    DrawCurves(curves, panel);
    if (a + kPanelsARow >= attacks.size()) page::DrawTitleBelow(panel.area(), "steps", svg);
  }
  return svg.Finish();
}

}  // namespace ostraka::compare
