// Robustness against cost: worst score over the mean seconds of a run, on a log scale.
#include <algorithm>
#include <cmath>

#include "sim/compare/report/figures.h"
#include "sim/compare/report/looks.h"
#include "sim/compare/report/tables.h"
#include "sim/page/axes.h"

namespace ostraka::compare {
namespace {

constexpr page::PlotArea kArea{52, 16, 358, 238};
constexpr double kLabelWidth = 210;
constexpr double kLabelHeight = 14;
constexpr double kLeastSeconds = 1e-3;  // shorter times are drawn here

double MeanSeconds(const Line& line) {
  double sum = 0;
  double count = 0;
  for (const UnderAttack& under : line.attacks) {
    for (const Done& run : under.runs) {
      sum += run.cost->seconds;
      ++count;
    }
  }
  return std::max(sum / count, kLeastSeconds);
}

// Whole powers of ten around all values.
struct LogScale {
  double first = 0;
  double last = 1;

  double XOf(double seconds) const {
    return kArea.left + kArea.width * (std::log10(seconds) - first) / (last - first);
  }
};

LogScale ScaleOf(const std::vector<const Line*>& lines) {
  double low = MeanSeconds(*lines.front());
  double high = low;
  for (const Line* line : lines) {
    low = std::min(low, MeanSeconds(*line));
    high = std::max(high, MeanSeconds(*line));
  }
  LogScale scale;
  scale.first = std::floor(std::log10(low));
  scale.last = std::max(std::ceil(std::log10(high)), scale.first + 1);
  return scale;
}

page::PlotArea AreaFor(const std::vector<const Line*>& lines) {
  double least = lines.front()->worst.mean;
  double most = least;
  for (const Line* line : lines) {
    least = std::min(least, line->worst.mean);
    most = std::max(most, line->worst.mean);
  }
  return ZoomedTo(lines.front()->score, kArea, least, most);
}

}  // namespace

std::string CostSvg(const std::vector<const Line*>& lines) {
  page::Svg svg(kArea.right() + kLabelWidth, kArea.bottom() + 46,
                "worst " + ScoreName(lines.front()->score) + " against seconds a run");
  const LogScale scale = ScaleOf(lines);
  const page::PlotArea area = AreaFor(lines);
  const std::vector<page::Stroke> looks = LooksOf(lines);
  page::DrawValueAxis(area, svg);
  for (double power = scale.first; power <= scale.last; ++power) {
    page::DrawTick(kArea, scale.XOf(std::pow(10, power)), std::pow(10, power), svg);
  }
  page::DrawTitleBelow(kArea, "seconds a run", svg);
  std::vector<double> wanted;
  for (const Line* line : lines) wanted.push_back(area.YOf(line->worst.mean));
  const auto places = page::Spread(wanted, kLabelHeight, kArea.top - 6, kArea.bottom() + 22);
  const double label = kArea.right() + 15;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const page::Stroke& stroke = looks[i];
    const page::Place at = {scale.XOf(MeanSeconds(*lines[i])), wanted[i]};
    const Interval& worst = lines[i]->worst;
    svg.Line({at.x, area.YOf(worst.low)}, {at.x, area.YOf(worst.high)}, {stroke.color, 1.4, ""});
    svg.Line(at, {label - 5, places[i]}, {stroke.color, 0.7, "2 3"});
    svg.Circle(at, 5, stroke.color);
    svg.Circle({label, places[i]}, 4, stroke.color);
    svg.Text({label + 8, places[i] + 4},
             lines[i]->cell->rule.family + " " + ScoreText(lines[i]->score, worst.mean));
  }
  return svg.Finish();
}

}  // namespace ostraka::compare
