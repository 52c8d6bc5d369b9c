// What a comparison ranks rules by: accuracy, of which more is better, or loss, of which less is.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/compare/cells/result.h"
#include "sim/compare/plan/grid.h"
#include "sim/compare/report/statistics.h"
#include "sim/page/axes.h"

namespace ostraka::compare {

enum class Score : std::uint8_t { kAccuracy, kLoss };
Score ScoreOf(const Grid& grid);

// A loss that is larger, or not a number, counts as this: the model diverged.
inline constexpr double kMostLoss = 99;

double TestScore(Score score, const Point& point);
double ValidationScore(Score score, const Point& point);

bool IsBetter(Score score, double a, double b);
// The best and the worst that there can be.
double BestOf(Score score);
double WorstOf(Score score);

// WorstInterval in the direction of the score. REQUIRES: as there.
Interval WorstInterval(Score score, const std::vector<std::vector<double>>& values);
// True if an interval is not told apart from the better one `best`.
bool Reaches(Score score, const Interval& interval, const Interval& best);
// The interval cut to values that there can be.
Interval Possible(Score score, Interval interval);

// "92.4", in percent; "1.973", in nats.
std::string ScoreText(Score score, double value);
// Empty for one seed, which has no spread.
std::string HalfWidthText(Score score, const Interval& interval);
// "test accuracy in percent", "test loss in nats".
std::string ScoreTitle(Score score);
// "accuracy in percent", "loss in nats".
std::string ScoreName(Score score);

// 0 to 1, for a shade: the accuracy; of a loss, 1 for the best and 0 for twice as much.
double ShadeOf(Score score, double value, double best);

// The area with the range of scores for values between `least` and `most`, as page::ZoomedTo.
page::PlotArea ZoomedTo(Score score, page::PlotArea area, double least, double most);

}  // namespace ostraka::compare
