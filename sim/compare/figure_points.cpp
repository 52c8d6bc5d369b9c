// Figures of points: robustness against cost, steps to the last ban, who holds which data.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "sim/compare/figures.h"
#include "sim/compare/partition.h"
#include "sim/compare/runner.h"
#include "sim/compare/svg.h"

namespace ostraka::compare {
namespace {

const TextStyle kAxisText{11, Anchor::kMiddle, "#444444", false};

std::string ShortNumber(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", value);
  return text;
}

double MeanSeconds(const Line& line) {
  double sum = 0;
  double count = 0;
  for (const UnderAttack& under : line.attacks) {
    for (const Done& run : under.runs) {
      sum += run.cost->seconds;
      ++count;
    }
  }
  return sum / count;
}

// Runs of the protocol under one attack with one number of Byzantine workers.
struct Bans {
  std::vector<std::uint64_t> steps;  // to the last ban, where all attackers were banned
  std::size_t runs = 0;
};
using BanTimes = std::map<std::string, std::map<std::uint64_t, Bans>>;

BanTimes BanTimesOf(const std::vector<Line>& lines, std::vector<std::string>& order) {
  BanTimes times;
  for (const Line& line : lines) {
    for (const UnderAttack& under : line.attacks) {
      for (const Done& run : under.runs) {
        if (!run.result->protocol || under.attack == "none") continue;
        if (!times.contains(under.attack)) order.push_back(under.attack);
        Bans& bans = times[under.attack][line.cell->byzantine];
        ++bans.runs;
        const auto& steps = run.result->protocol->detection_steps;
        if (steps) bans.steps.push_back(*steps);
      }
    }
  }
  return times;
}

std::string SummaryOf(const Bans& bans) {
  const std::string share =
      std::to_string(bans.steps.size()) + " of " + std::to_string(bans.runs) + " runs";
  if (bans.steps.empty()) return share;
  double mean = 0;
  for (const std::uint64_t step : bans.steps) {
    mean += static_cast<double>(step) / static_cast<double>(bans.steps.size());
  }
  return "mean " + ShortNumber(std::round(mean * 10) / 10) + ", " + share;
}

}  // namespace

std::string CostSvg(const std::vector<const Line*>& lines) {
  constexpr double kWidth = 620;
  constexpr double kHeight = 300;
  constexpr double kLeft = 52;
  constexpr double kRight = 210;
  constexpr double kTop = 16;
  constexpr double kBottom = 46;
  Svg svg(kWidth, kHeight, "worst accuracy against seconds a run");
  double low = 1e300;
  double high = 0;
  for (const Line* line : lines) {
    low = std::min(low, MeanSeconds(*line));
    high = std::max(high, MeanSeconds(*line));
  }
  // Whole powers of ten around all.
  const double first = std::floor(std::log10(std::max(low, 1e-3)));
  const double last = std::max(std::ceil(std::log10(std::max(high, 1e-3))), first + 1);
  const auto x = [&](double seconds) {
    return kLeft + (kWidth - kLeft - kRight) * (std::log10(std::max(seconds, 1e-3)) - first) /
                       (last - first);
  };
  const auto y = [&](double accuracy) {
    return kTop + (kHeight - kTop - kBottom) * (1 - accuracy);
  };
  for (const double accuracy : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    svg.Line({kLeft, y(accuracy)}, {kWidth - kRight, y(accuracy)}, {"#dddddd", 0.8, ""});
    svg.Text({kLeft - 6, y(accuracy) + 4}, std::to_string(static_cast<int>(100 * accuracy)),
             {11, Anchor::kEnd, "#444444", false});
  }
  for (double power = first; power <= last; ++power) {
    const double seconds = std::pow(10, power);
    svg.Line({x(seconds), y(0)}, {x(seconds), y(0) + 4}, {"#666666", 1, ""});
    svg.Text({x(seconds), y(0) + 17}, ShortNumber(seconds), kAxisText);
  }
  svg.Text({(kLeft + kWidth - kRight) / 2, kHeight - 10}, "seconds a run", kAxisText);
  std::vector<double> wanted;
  for (const Line* line : lines) wanted.push_back(y(line->worst.mean));
  const std::vector<double> places = Spread(wanted, 14, kTop - 6, kHeight - kBottom + 22);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Stroke stroke = StrokeOf(i);
    const Place at = {x(MeanSeconds(*lines[i])), wanted[i]};
    const double from = std::clamp(lines[i]->worst.low, 0.0, 1.0);
    const double to = std::clamp(lines[i]->worst.high, 0.0, 1.0);
    svg.Line({at.x, y(from)}, {at.x, y(to)}, {stroke.color, 1.4, ""});
    svg.Line(at, {kWidth - kRight + 10, places[i]}, {stroke.color, 0.7, "2 3"});
    svg.Circle(at, 5, stroke.color);
    svg.Circle({kWidth - kRight + 15, places[i]}, 4, stroke.color);
    svg.Text({kWidth - kRight + 23, places[i] + 4}, lines[i]->cell->rule.family);
  }
  return svg.Finish();
}

std::string BansSvg(const std::vector<Line>& lines) {
  std::vector<std::string> attacks;
  const BanTimes times = BanTimesOf(lines, attacks);
  if (attacks.empty()) return "";
  std::vector<std::uint64_t> counts;
  double longest = 1;
  for (const auto& [attack, by_count] : times) {
    for (const auto& [count, bans] : by_count) {
      if (std::find(counts.begin(), counts.end(), count) == counts.end()) counts.push_back(count);
      for (const std::uint64_t step : bans.steps)
        longest = std::max(longest, static_cast<double>(step));
    }
  }
  std::sort(counts.begin(), counts.end());
  constexpr double kLeft = 150;
  constexpr double kPlot = 430;
  const double lane = 16;
  const double row = lane * static_cast<double>(counts.size()) + 10;
  const double bottom = 30 + row * static_cast<double>(attacks.size());
  Svg svg(kLeft + kPlot + 160, bottom + 44, "steps from the first misdeed to the last ban");
  const auto x = [&](double step) { return kLeft + kPlot * step / longest; };
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    svg.Line({x(share * longest), 24}, {x(share * longest), bottom}, {"#dddddd", 0.8, ""});
    svg.Text({x(share * longest), bottom + 16}, ShortNumber(std::round(share * longest)),
             kAxisText);
  }
  svg.Text({kLeft + kPlot / 2, bottom + 34}, "steps from the first misdeed to the last ban",
           kAxisText);
  for (std::size_t a = 0; a < attacks.size(); ++a) {
    const double top = 30 + row * static_cast<double>(a);
    svg.Text({kLeft - 60, top + row / 2}, attacks[a], {11, Anchor::kEnd, "#222222", false});
    for (std::size_t c = 0; c < counts.size(); ++c) {
      const double y = top + lane * (static_cast<double>(c) + 0.5);
      const auto known = times.at(attacks[a]).find(counts[c]);
      if (known == times.at(attacks[a]).end()) continue;
      svg.Text({kLeft - 8, y + 4}, std::to_string(counts[c]) + " byz.",
               {10, Anchor::kEnd, "#555555", false});
      for (const std::uint64_t step : known->second.steps) {
        svg.Circle({x(static_cast<double>(step)), y}, 4, StrokeOf(c).color);
      }
      svg.Text({kLeft + kPlot + 12, y + 4}, SummaryOf(known->second),
               {10, Anchor::kStart, "#555555", false});
    }
  }
  return svg.Finish();
}

base::StatusOr<std::string> PartitionSvg(const Plan& plan, const Cell& cell) {
  ASSIGN_OR_RETURN(const auto data, train::LoadDataset(plan.sources.at(cell.data)));
  ASSIGN_OR_RETURN(const auto rows, PartitionOf(cell, data));
  const auto counts = CountClasses(rows, data.training.labels, data.class_count);
  std::size_t most = 1;
  for (const auto& own : counts) most = std::max(most, *std::max_element(own.begin(), own.end()));
  constexpr double kStep = 22;
  constexpr double kLeft = 64;
  const double plot_width = kStep * static_cast<double>(counts.size());
  const double plot_height = kStep * static_cast<double>(data.class_count);
  Svg svg(kLeft + plot_width + 12, 26 + plot_height + 40,
          "rows of each class that each worker holds, partition " + cell.partition);
  svg.Text({kLeft, 16}, cell.partition, {12, Anchor::kStart, "#111111", true});
  for (std::size_t c = 0; c < data.class_count; ++c) {
    const double y = 26 + kStep * (static_cast<double>(c) + 0.5);
    svg.Text({kLeft - 8, y + 4}, "class " + std::to_string(c),
             {10.5, Anchor::kEnd, "#444444", false});
    svg.Line({kLeft, y}, {kLeft + plot_width, y}, {"#eeeeee", 0.8, ""});
    for (std::size_t w = 0; w < counts.size(); ++w) {
      if (counts[w][c] == 0) continue;
      const double share = static_cast<double>(counts[w][c]) / static_cast<double>(most);
      svg.Circle({kLeft + kStep * (static_cast<double>(w) + 0.5), y},
                 std::max(0.9, 0.5 * kStep * std::sqrt(share) - 0.5), "#0072b2");
    }
  }
  for (std::size_t w = 0; w < counts.size(); ++w) {
    svg.Text({kLeft + kStep * (static_cast<double>(w) + 0.5), 26 + plot_height + 14},
             std::to_string(w), {9.5, Anchor::kMiddle, "#444444", false});
  }
  svg.Text({kLeft + plot_width / 2, 26 + plot_height + 32},
           "worker; the largest circle is " + std::to_string(most) + " rows", kAxisText);
  return svg.Finish();
}

}  // namespace ostraka::compare
