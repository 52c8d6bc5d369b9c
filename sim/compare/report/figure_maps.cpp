// Tables as shaded cells: rules by attacks, and Byzantine workers by partitions.
#include <algorithm>

#include "sim/compare/report/figures.h"
#include "sim/compare/report/tables.h"
#include "sim/page/axes.h"

namespace ostraka::compare {
namespace {

constexpr double kRowHeight = 26;

// Text and shade of each score of one figure.
class Scores {
 public:
  // REQUIRES: a value.
  Scores(Score score, const std::vector<double>& values) : score_(score), best_(values.front()) {
    for (const double value : values) {
      if (IsBetter(score, value, best_)) best_ = value;
    }
  }

  std::string Text(double value) const { return ScoreText(score_, value); }
  double Shade(double value) const { return ShadeOf(score_, value, best_); }

 private:
  Score score_;
  double best_;
};

Scores OfWorst(const std::vector<Line>& lines) {
  std::vector<double> values;
  for (const Line& line : lines) values.push_back(line.worst.mean);
  return {lines.front().score, values};
}

void Tile(page::Svg& svg, page::Place corner, double width, double share, const std::string& text,
          bool bold = false) {
  svg.Box({corner.x + 1, corner.y + 1}, width - 2, kRowHeight - 2, page::ShadeOf(share));
  svg.Text({corner.x + width / 2, corner.y + kRowHeight / 2 + 4}, text,
           {11, page::Anchor::kMiddle, page::InkOn(share), bold});
}

// --- Byzantine workers against partitions -------------------------------------------------------

struct Axes {
  std::vector<std::uint64_t> byzantine;
  std::vector<std::string> partitions;
  std::vector<std::string> rules;
};

template <typename T>
void AddNew(std::vector<T>& values, const T& value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

Axes AxesOf(const std::vector<Line>& lines) {
  Axes axes;
  for (const Line& line : lines) {
    AddNew(axes.byzantine, line.cell->byzantine);
    AddNew(axes.partitions, line.cell->partition);
    AddNew(axes.rules, line.cell->rule.family);
  }
  return axes;
}

// The only line at this place; null if there are none or several.
const Line* At(const std::vector<Line>& lines, std::uint64_t byzantine,
               const std::string& partition, const std::string& rule) {
  const Line* found = nullptr;
  for (const Line& line : lines) {
    if (line.cell->byzantine != byzantine || line.cell->partition != partition ||
        line.cell->rule.family != rule) {
      continue;
    }
    if (found != nullptr) return nullptr;
    found = &line;
  }
  return found;
}

bool OneLineAPlace(const std::vector<Line>& lines, const Axes& axes) {
  for (const Line& line : lines) {
    if (At(lines, line.cell->byzantine, line.cell->partition, line.cell->rule.family) == nullptr) {
      return false;
    }
  }
  return axes.byzantine.size() * axes.partitions.size() > 1;
}

// The best rule under its worst attack, with "=" if others cannot be distinguished from it.
std::string BestAt(const std::vector<Line>& lines, const Axes& axes, std::uint64_t byzantine,
                   const std::string& partition, double& worst) {
  std::vector<const Line*> there;
  for (const std::string& rule : axes.rules) {
    const Line* line = At(lines, byzantine, partition, rule);
    if (line != nullptr) there.push_back(line);
  }
  if (there.empty()) return "";
  const Winner winner = BestAtWorst(there);
  worst = winner.line->worst.mean;
  const std::string ties = winner.ties.empty() ? "" : " =" + std::to_string(winner.ties.size());
  return winner.line->cell->rule.family + ties;
}

// Of one number of Byzantine workers or one partition: a single map, with a row for each rule.
std::string OneMapSvg(const std::vector<Line>& lines, const Axes& axes) {
  const Scores scores = OfWorst(lines);
  const bool by_partition = axes.partitions.size() > 1;
  const std::size_t columns = by_partition ? axes.partitions.size() : axes.byzantine.size();
  const auto byzantine = [&](std::size_t c) { return axes.byzantine[by_partition ? 0 : c]; };
  const auto partition = [&](std::size_t c) { return axes.partitions[by_partition ? c : 0]; };
  const auto heading = [&](std::size_t c) {
    return by_partition ? partition(c) : std::to_string(byzantine(c)) + " byz.";
  };
  double tile = std::max(64.0, page::WidestOf(axes.rules) + page::WidthOf(" =10") + 10);
  for (std::size_t c = 0; c < columns; ++c) {
    tile = std::max(tile, page::WidthOf(heading(c)) + 10);
  }
  const double left = std::max(page::WidestOf(axes.rules), page::WidthOf("best at its worst")) + 14;
  page::Svg svg(left + tile * static_cast<double>(columns) + 10,
                40 + kRowHeight * static_cast<double>(axes.rules.size() + 1),
                "worst " + ScoreName(lines.front().score) + " by rule and setting");
  for (std::size_t c = 0; c < columns; ++c) {
    const double x = left + tile * static_cast<double>(c);
    svg.Text({x + tile / 2, 20}, heading(c), {11, page::Anchor::kMiddle, "#222222", false});
    double y = 30;
    for (const std::string& rule : axes.rules) {
      const Line* line = At(lines, byzantine(c), partition(c), rule);
      if (line != nullptr) {
        Tile(svg, {x, y}, tile, scores.Shade(line->worst.mean), scores.Text(line->worst.mean));
      }
      y += kRowHeight;
    }
    double worst = 0;
    const std::string best = BestAt(lines, axes, byzantine(c), partition(c), worst);
    if (!best.empty()) Tile(svg, {x, y}, tile, scores.Shade(worst), best, /*bold=*/true);
  }
  for (std::size_t r = 0; r <= axes.rules.size(); ++r) {
    svg.Text({left - 8, 30 + kRowHeight * (static_cast<double>(r) + 0.5) + 4},
             r < axes.rules.size() ? axes.rules[r] : "best at its worst",
             {11, page::Anchor::kEnd, "#222222", r == axes.rules.size()});
  }
  return svg.Finish();
}

// One map, filled by the text and the shade of each place.
template <typename Cell>
void Map(page::Svg& svg, page::Place corner, const std::string& title, const Axes& axes,
         double tile, const Cell& cell) {
  constexpr double kAxis = 34;
  svg.Text({corner.x, corner.y + 14}, title, {12, page::Anchor::kStart, "#111111", true});
  for (std::size_t p = 0; p < axes.partitions.size(); ++p) {
    svg.Text({corner.x + kAxis + tile * (static_cast<double>(p) + 0.5), corner.y + 32},
             axes.partitions[p], {10.5, page::Anchor::kMiddle, "#444444", false});
  }
  for (std::size_t b = 0; b < axes.byzantine.size(); ++b) {
    const double y = corner.y + 38 + kRowHeight * static_cast<double>(b);
    svg.Text({corner.x + kAxis - 8, y + kRowHeight / 2 + 4}, std::to_string(axes.byzantine[b]),
             {11, page::Anchor::kEnd, "#444444", false});
    for (std::size_t p = 0; p < axes.partitions.size(); ++p) {
      double share = 0;
      const std::string text = cell(axes.byzantine[b], axes.partitions[p], share);
      if (text.empty()) continue;
      Tile(svg, {corner.x + kAxis + tile * static_cast<double>(p), y}, tile, share, text);
    }
  }
}

}  // namespace

std::string TableSvg(const std::vector<const Line*>& lines) {
  std::vector<double> values;
  for (const Line* line : lines) {
    for (const UnderAttack& under : line->attacks) values.push_back(under.interval.mean);
  }
  const Scores scores(lines.front()->score, values);
  const std::vector<std::string> attacks = AttacksOf(lines);
  std::vector<std::string> rules;
  for (const Line* line : lines) rules.push_back(line->cell->rule.family);
  const double left = page::WidestOf(rules) + 14;
  const double tile = std::max(58.0, page::WidestOf(attacks) + 10);
  const auto columns = static_cast<double>(attacks.size() + 1);
  page::Svg svg(left + tile * columns + 10,
                30 + kRowHeight * static_cast<double>(lines.size()) + 10,
                ScoreTitle(lines.front()->score) + ", by rule and attack");
  for (std::size_t a = 0; a <= attacks.size(); ++a) {
    svg.Text({left + tile * (static_cast<double>(a) + 0.5), 20},
             a < attacks.size() ? attacks[a] : "worst",
             {11, page::Anchor::kMiddle, "#222222", a == attacks.size()});
  }
  for (std::size_t r = 0; r < lines.size(); ++r) {
    const double y = 30 + kRowHeight * static_cast<double>(r);
    svg.Text({left - 8, y + kRowHeight / 2 + 4}, rules[r],
             {11, page::Anchor::kEnd, "#222222", false});
    for (const UnderAttack& under : lines[r]->attacks) {
      const auto column = std::find(attacks.begin(), attacks.end(), under.attack);
      const auto a = static_cast<double>(column - attacks.begin());
      Tile(svg, {left + tile * a, y}, tile, scores.Shade(under.interval.mean),
           scores.Text(under.interval.mean));
    }
    Tile(svg, {left + tile * (columns - 1), y}, tile, scores.Shade(lines[r]->worst.mean),
         scores.Text(lines[r]->worst.mean), /*bold=*/true);
  }
  return svg.Finish();
}

std::string HeatMapsSvg(const std::vector<Line>& lines) {
  const Axes axes = AxesOf(lines);
  if (!OneLineAPlace(lines, axes)) return "";
  const Scores scores = OfWorst(lines);
  if (axes.byzantine.size() == 1 || axes.partitions.size() == 1) return OneMapSvg(lines, axes);
  const double tile = std::max({64.0, page::WidestOf(axes.partitions) + 10,
                                page::WidestOf(axes.rules) + page::WidthOf(" =10") + 10});
  const double width = 34 + tile * static_cast<double>(axes.partitions.size()) + 30;
  const double height = 38 + kRowHeight * static_cast<double>(axes.byzantine.size()) + 22;
  const std::size_t maps = axes.rules.size() + 1;
  const auto across = static_cast<std::size_t>(std::clamp(1100 / width, 1.0, 4.0));
  const std::size_t rows = (maps + across - 1) / across;
  page::Svg svg(
      width * static_cast<double>(std::min(across, maps)), height * static_cast<double>(rows),
      "worst " + ScoreName(lines.front().score) + " by number of Byzantine workers and partition");
  for (std::size_t m = 0; m < maps; ++m) {
    const page::Place corner = {8 + width * static_cast<double>(m % across),
                                height * static_cast<double>(m / across)};
    if (m == axes.rules.size()) {
      Map(svg, corner, "best at its worst", axes, tile,
          [&](std::uint64_t byzantine, const std::string& partition, double& share) {
            double worst = 0;
            const std::string best = BestAt(lines, axes, byzantine, partition, worst);
            if (!best.empty()) share = scores.Shade(worst);
            return best;
          });
      continue;
    }
    Map(svg, corner, axes.rules[m], axes, tile,
        [&](std::uint64_t byzantine, const std::string& partition, double& share) -> std::string {
          const Line* line = At(lines, byzantine, partition, axes.rules[m]);
          if (line == nullptr) return "";
          share = scores.Shade(line->worst.mean);
          return scores.Text(line->worst.mean);
        });
  }
  return svg.Finish();
}

}  // namespace ostraka::compare
