// How long attackers of the protocol stayed: one dot for each run, one lane for each attack and
// number of Byzantine workers.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "sim/compare/report/figures.h"
#include "sim/page/axes.h"

namespace ostraka::compare {
namespace {

constexpr double kLane = 16;
constexpr double kGap = 10;  // between attacks
constexpr double kPlotWidth = 430;
constexpr double kCountWidth = 60;     // "7 byz."
constexpr double kSummaryWidth = 160;  // "mean 33.2, 5 of 5 runs"

// The runs under one attack with one number of Byzantine workers.
struct Bans {
  std::vector<std::uint64_t>
      steps;  // until the last ban or drop, for runs that had one of all attackers
  std::size_t runs = 0;
};

struct BansByAttack {
  std::vector<std::string> attacks;  // in order
  std::map<std::string, std::map<std::uint64_t, Bans>> bans;
  std::vector<std::uint64_t> counts;  // of Byzantine workers, ascending
  double longest = 1;
};

void Add(const Cell& cell, const ProtocolFacts& facts, BansByAttack& all) {
  if (!all.bans.contains(cell.attack)) all.attacks.push_back(cell.attack);
  if (std::find(all.counts.begin(), all.counts.end(), cell.byzantine) == all.counts.end()) {
    all.counts.push_back(cell.byzantine);
  }
  Bans& bans = all.bans[cell.attack][cell.byzantine];
  ++bans.runs;
  if (!facts.detection_steps) return;
  bans.steps.push_back(*facts.detection_steps);
  all.longest = std::max(all.longest, static_cast<double>(*facts.detection_steps));
}

BansByAttack BansOf(const std::vector<Line>& lines) {
  BansByAttack all;
  for (const Line& line : lines) {
    for (const UnderAttack& under : line.attacks) {
      if (under.attack == "none") continue;
      for (const Done& run : under.runs) {
        if (run.result->protocol) Add(*run.cell, *run.result->protocol, all);
      }
    }
  }
  std::sort(all.counts.begin(), all.counts.end());
  return all;
}

std::string SummaryOf(const Bans& bans) {
  const std::string share =
      std::to_string(bans.steps.size()) + " of " + std::to_string(bans.runs) + " runs";
  if (bans.steps.empty()) return share;
  double sum = 0;
  for (const std::uint64_t step : bans.steps) sum += static_cast<double>(step);
  char mean[32];
  std::snprintf(mean, sizeof(mean), "%.1f", sum / static_cast<double>(bans.steps.size()));
  return std::string("mean ") + mean + ", " + share;
}

void DrawLane(const page::PlotArea& area, double y, std::uint64_t count, const Bans& bans,
              double scale, const std::string& color, page::Svg& svg) {
  svg.Text({area.left - 8, y + 4}, std::to_string(count) + " byz.",
           {10, page::Anchor::kEnd, "#555555", false});
  for (const std::uint64_t step : bans.steps) {
    svg.Circle({area.left + scale * static_cast<double>(step), y}, 4, color);
  }
  svg.Text({area.right() + 12, y + 4}, SummaryOf(bans),
           {10, page::Anchor::kStart, "#555555", false});
}

}  // namespace

std::string BansSvg(const std::vector<Line>& lines) {
  const BansByAttack all = BansOf(lines);
  if (all.attacks.empty()) return "";
  const double row = kLane * static_cast<double>(all.counts.size()) + kGap;
  const page::PlotArea area{page::WidestOf(all.attacks) + kCountWidth + 10, 12, kPlotWidth,
                            row * static_cast<double>(all.attacks.size())};
  std::vector<double> ticks = page::RoundTicks(all.longest);
  if (ticks.back() < all.longest) ticks.push_back(2 * ticks.back() - ticks[ticks.size() - 2]);
  const double scale = area.width / ticks.back();
  const std::string title = "steps from the first misdeed to the last ban or drop";
  page::Svg svg(area.right() + kSummaryWidth, area.bottom() + 44, title);
  for (const double step : ticks) {
    const double x = area.left + scale * step;
    svg.Line({x, area.top}, {x, area.bottom()}, {"#dddddd", 0.8, ""});
    page::DrawTick(area, x, step, svg);
  }
  page::DrawTitleBelow(area, title, svg);
  for (std::size_t a = 0; a < all.attacks.size(); ++a) {
    const double top = area.top + row * static_cast<double>(a);
    svg.Text({area.left - kCountWidth, top + (row - kGap) / 2 + 4}, all.attacks[a],
             {11, page::Anchor::kEnd, "#222222", false});
    const auto& by_count = all.bans.at(all.attacks[a]);
    for (std::size_t c = 0; c < all.counts.size(); ++c) {
      const auto bans = by_count.find(all.counts[c]);
      if (bans == by_count.end()) continue;
      DrawLane(area, top + kLane * (static_cast<double>(c) + 0.5), bans->first, bans->second, scale,
               page::StrokeOf(c).color, svg);
    }
  }
  return svg.Finish();
}

}  // namespace ostraka::compare
