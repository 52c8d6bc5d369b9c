#include "sim/report/figures.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

#include "sim/page/axes.h"
#include "sim/page/svg.h"

namespace ostraka::sim {
namespace {

constexpr double kWidth = 800;
constexpr page::PlotArea kArea{64, 20, 560, 200};

struct Series {
  std::string name;
  std::string color;
  std::vector<page::Place> places;
};

void DrawSeries(const std::vector<Series>& all, page::Svg& svg) {
  std::vector<double> wanted;
  for (const Series& series : all) {
    svg.Path(series.places, {series.color, 1.8, ""});
    wanted.push_back(series.places.back().y);
  }
  const std::vector<double> ys = page::Spread(wanted, 16, kArea.top, kArea.bottom() + 6);
  for (std::size_t i = 0; i < all.size(); ++i) {
    svg.Line({all[i].places.back().x, wanted[i]}, {kArea.right() + 12, ys[i]},
             {all[i].color, 0.8, ""});
    svg.Text({kArea.right() + 16, ys[i] + 4}, all[i].name,
             {11, page::Anchor::kStart, all[i].color, true});
  }
}

class StepAxis {
 public:
  StepAxis(std::uint64_t first, std::uint64_t last)
      : first_(static_cast<double>(first)), last_(static_cast<double>(std::max(last, first + 1))) {}
  double XOf(std::uint64_t step) const {
    const double share = (static_cast<double>(step) - first_) / (last_ - first_);
    return kArea.left + kArea.width * std::clamp(share, 0.0, 1.0);
  }
  void Draw(page::Svg& svg) const {
    for (const double tick : page::RoundTicks(first_, last_)) {
      page::DrawTick(kArea, XOf(static_cast<std::uint64_t>(tick)), tick, svg);
    }
    page::DrawTitleBelow(kArea, "step", svg);
  }

 private:
  double first_;
  double last_;
};

void DrawLevel(double y, const std::string& text, page::Svg& svg) {
  svg.Line({kArea.left, y}, {kArea.right(), y}, {"#dddddd", 0.8, ""});
  svg.Text({kArea.left - 6, y + 4}, text, {11, page::Anchor::kEnd, "#444444", false});
}

std::string Short(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", value);
  return text;
}

// "peer 3 dropped", for those of one step and kind.
std::vector<std::string> ChangesIn(const ReportInput& input, std::uint64_t step, bool honest) {
  std::vector<std::string> changes;
  const auto add = [&](std::optional<std::uint32_t> peer, const char* what) {
    if (!peer || input.roster.IsHonest(*peer) != honest) return;
    changes.push_back("peer " + std::to_string(*peer) + what);
  };
  for (const wire::Removal& removal : input.result.removals) {
    if (removal.step != step) continue;
    add(input.roster.IndexOf(removal.peer), wire::IsBan(removal.kind) ? " banned" : " dropped");
  }
  for (const History::Return& one : input.history.returns) {
    if (one.step == step) add(one.peer, " returned");
  }
  return changes;
}

std::string TipOf(const std::vector<std::string>& changes) {
  std::string tip;
  for (const std::string& change : changes) tip += (tip.empty() ? "" : "; ") + change;
  return tip;
}

// The powers of ten between which losses are drawn.
struct Decades {
  double low = 0;
  double high = 1;

  double YOf(double loss) const {
    const double share = (std::log10(std::max(loss, 1e-300)) - low) / (high - low);
    return kArea.YOf(std::clamp(share, 0.0, 1.0));
  }
};

Decades DecadesOf(const std::vector<const History*>& all) {
  constexpr double kMost = 12;  // a loss beyond 10^12 is drawn at the edge
  double least = INFINITY;
  double most = 0;
  for (const History* history : all) {
    for (const History::Row& row : history->rows) {
      if (!std::isfinite(row.loss) || row.loss <= 0) continue;
      least = std::min(least, row.loss);
      most = std::max(most, row.loss);
    }
  }
  if (most == 0) return {};
  Decades decades{std::floor(std::log10(least)), std::ceil(std::log10(most))};
  decades.high = std::clamp(decades.high, decades.low + 1, std::max(kMost, decades.low + 1));
  return decades;
}

// The points up to the first loss that is no number.
Series LossSeries(const History& history, const StepAxis& axis, const Decades& decades,
                  std::string name, std::string color) {
  Series series{std::move(name), std::move(color), {}};
  for (const History::Row& row : history.rows) {
    if (!std::isfinite(row.loss)) break;
    series.places.push_back({axis.XOf(row.step), decades.YOf(row.loss)});
  }
  if (series.places.size() < history.rows.size()) series.name += ", then not a number";
  if (series.places.empty()) series.places.push_back({kArea.left, kArea.top});
  return series;
}

}  // namespace

std::pair<std::uint64_t, std::uint64_t> StepsOfChange(const ReportInput& input) {
  const std::uint64_t end = input.history.rows.back().step;
  std::uint64_t first = end;
  std::uint64_t last = 0;
  const auto widen = [&](std::uint64_t step) {
    first = std::min(first, step);
    last = std::max(last, step);
  };
  for (const wire::Removal& removal : input.result.removals) widen(removal.step);
  for (const History::Return& one : input.history.returns) widen(one.step);
  if (first > last) return {0, end};
  const std::uint64_t around = std::max<std::uint64_t>(3, (last - first) / 5);
  return {first - std::min(first, around), std::min(end, last + around)};
}

std::string MembersSvg(const ReportInput& input) {
  page::Svg svg(kWidth, kArea.bottom() + 42, "members of each kind, by step");
  const auto [first, last] = StepsOfChange(input);
  const StepAxis axis(first, last);
  const double most = static_cast<double>(input.roster.ids.size());
  const auto y_of = [&](double count) { return kArea.YOf(count / most); };
  for (const double tick : page::RoundTicks(most)) DrawLevel(y_of(tick), Short(tick), svg);
  axis.Draw(svg);
  Series honest{"honest members", page::kHonestColor, {}};
  Series byzantine{"Byzantine members", page::kByzantineColor, {}};
  for (const History::Row& row : input.history.rows) {
    if (row.step < first || row.step > last) continue;
    const double x = axis.XOf(row.step);
    for (auto& [series, count] : {std::pair{&honest, row.honest}, {&byzantine, row.byzantine}}) {
      // Members leave at a block, so the line steps down and does not slope.
      if (!series->places.empty()) series->places.push_back({x, series->places.back().y});
      series->places.push_back({x, y_of(count)});
    }
  }
  DrawSeries({honest, byzantine}, svg);
  for (const History::Row& row : input.history.rows) {
    for (const bool is_honest : {true, false}) {
      const std::string tip = TipOf(ChangesIn(input, row.step, is_honest));
      if (tip.empty()) continue;
      svg.WithTip(tip, [&, y = y_of(is_honest ? row.honest : row.byzantine)] {
        svg.Circle({axis.XOf(row.step), y}, 4.5,
                   is_honest ? page::kHonestColor : page::kByzantineColor);
      });
    }
  }
  return svg.Finish();
}

std::string LossSvg(const ReportInput& input) {
  page::Svg svg(kWidth, kArea.bottom() + 42, "loss by step, with and without protection");
  const StepAxis axis(0, input.history.rows.back().step);
  const Decades decades = DecadesOf({&input.history, &input.unprotected});
  const double every = std::ceil((decades.high - decades.low) / 6);
  for (double power = decades.low; power <= decades.high; power += every) {
    DrawLevel(decades.YOf(std::pow(10, power)), Short(std::pow(10, power)), svg);
  }
  axis.Draw(svg);
  std::vector<Series> all = {
      LossSeries(input.history, axis, decades, "with protection", page::kHonestColor)};
  if (!input.unprotected.rows.empty()) {
    all.push_back(LossSeries(input.unprotected, axis, decades, "without", page::kUnprotectedColor));
  }
  DrawSeries(all, svg);
  return svg.Finish();
}

}  // namespace ostraka::sim
