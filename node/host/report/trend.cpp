#include "node/host/report/trend.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace ostraka::host {
namespace {

constexpr std::size_t kFew = 3;  // evaluations
constexpr double kNoise = 1.1;

constexpr std::size_t kSmooth = 3;
constexpr std::size_t kEnough = 6;
constexpr std::uint64_t kBeginning = 10;  // steps
constexpr std::uint64_t kLongEnough = 50;
constexpr double kFallen = 0.95;

// REQUIRES: at least kSmooth points.
double SmoothedLoss(const std::vector<CurvePoint>& points) {
  double sum = 0;
  for (std::size_t i = points.size() - kSmooth; i < points.size(); ++i) sum += points[i].loss;
  return sum / static_cast<double>(kSmooth);
}

bool IsFlat(const std::vector<CurvePoint>& points) {
  if (points.size() < kEnough || points.front().step >= kBeginning) return false;
  if (points.back().step + 1 < kLongEnough) return false;
  return SmoothedLoss(points) > kFallen * points.front().loss;
}

std::string LossText(double loss) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g", loss);
  return text.data();
}

std::string FirstText(const std::vector<CurvePoint>& points) {
  return LossText(points.front().loss) + " after step " + std::to_string(points.front().step);
}

}  // namespace

const char* TrendName(Trend trend) {
  switch (trend) {
    case Trend::kFine:
      return "fine";
    case Trend::kFlat:
      return "flat";
    case Trend::kRising:
      return "rising";
    case Trend::kDiverged:
      break;
  }
  return "diverged";
}

Trend TrendOf(const std::vector<CurvePoint>& points) {
  if (points.empty()) return Trend::kFine;
  if (!std::isfinite(points.back().loss)) return Trend::kDiverged;
  if (points.size() >= kFew && points.back().loss > kNoise * points.front().loss) {
    return Trend::kRising;
  }
  return IsFlat(points) ? Trend::kFlat : Trend::kFine;
}

std::string TroubleOf(const std::vector<CurvePoint>& points, std::string_view cause) {
  const auto with = [cause](const std::string& trouble, const char* remedy) {
    return trouble + "; " + (cause.empty() ? remedy : std::string(cause));
  };
  switch (TrendOf(points)) {
    case Trend::kFine:
      return {};
    case Trend::kFlat:
      return with("the loss does not fall: it was " + FirstText(points) + " and is " +
                      LossText(SmoothedLoss(points)) + " on average of the last three",
                  "another learning rate may help");
    case Trend::kRising:
      return with("the loss rises: it was " + FirstText(points) + " and is " +
                      LossText(points.back().loss) + " after step " +
                      std::to_string(points.back().step),
                  "a smaller learning rate may help");
    case Trend::kDiverged:
      break;
  }
  return with("training has diverged: the loss after step " + std::to_string(points.back().step) +
                  " is no number",
              "begin another run with a smaller learning rate");
}

}  // namespace ostraka::host
