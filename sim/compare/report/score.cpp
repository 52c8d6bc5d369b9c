#include "sim/compare/report/score.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ostraka::compare {
namespace {

double Loss(double value) { return std::isfinite(value) ? std::min(value, kMostLoss) : kMostLoss; }

Interval Negated(const Interval& interval) {
  return {-interval.mean, -interval.high, -interval.low};
}

}  // namespace

Score ScoreOf(const Grid& grid) { return grid.score == "loss" ? Score::kLoss : Score::kAccuracy; }

double TestScore(Score score, const Point& point) {
  return score == Score::kLoss ? Loss(point.test_loss) : point.test_accuracy;
}

double ValidationScore(Score score, const Point& point) {
  return score == Score::kLoss ? Loss(point.validation_loss) : point.validation_accuracy;
}

bool IsBetter(Score score, double a, double b) { return score == Score::kLoss ? a < b : a > b; }

double BestOf(Score score) { return score == Score::kLoss ? 0 : 1; }
double WorstOf(Score score) { return score == Score::kLoss ? kMostLoss : 0; }

Interval WorstInterval(Score score, const std::vector<std::vector<double>>& values) {
  if (score == Score::kAccuracy) return WorstInterval(values);
  std::vector<std::vector<double>> negated = values;
  for (std::vector<double>& row : negated) {
    for (double& value : row) value = -value;
  }
  return Negated(WorstInterval(negated));
}

bool Reaches(Score score, const Interval& interval, const Interval& best) {
  return score == Score::kLoss ? interval.low <= best.high : interval.high >= best.low;
}

Interval Possible(Score score, Interval interval) {
  interval.low = std::max(interval.low, std::min(BestOf(score), WorstOf(score)));
  interval.high = std::min(interval.high, std::max(BestOf(score), WorstOf(score)));
  return interval;
}

std::string ScoreText(Score score, double value) {
  char text[32];
  std::snprintf(text, sizeof(text), score == Score::kLoss ? "%.3f" : "%.1f",
                score == Score::kLoss ? value : 100 * value);
  return text;
}

std::string HalfWidthText(Score score, const Interval& interval) {
  const double half = std::max(interval.high - interval.mean, interval.mean - interval.low);
  const double most = score == Score::kLoss ? kMostLoss : 1;
  return half < most ? ScoreText(score, half) : "";
}

std::string ScoreName(Score score) {
  return score == Score::kLoss ? "loss in nats" : "accuracy in percent";
}
std::string ScoreTitle(Score score) { return "test " + ScoreName(score); }

double ShadeOf(Score score, double value, double best) {
  if (score == Score::kAccuracy) return value;
  return best > 0 ? std::clamp(2 - value / best, 0.0, 1.0) : 1;
}

page::PlotArea ZoomedTo(Score score, page::PlotArea area, double least, double most) {
  if (score == Score::kAccuracy) return page::ZoomedTo(area, least, most);
  constexpr double kStep = 0.2;  // of which four ticks have one decimal
  area.percent = false;
  area.low = std::max(std::floor(least / kStep) * kStep, 0.0);
  area.high = std::max(std::ceil(most / kStep) * kStep, area.low + kStep);
  return area;
}

}  // namespace ostraka::compare
