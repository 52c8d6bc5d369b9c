// Which worker holds which data: a circle for each worker and class, whose area is the number of
// rows.
#include <algorithm>
#include <cmath>

#include "sim/compare/cells/partition.h"
#include "sim/compare/cells/runner.h"
#include "sim/compare/report/figures.h"
#include "sim/page/svg.h"

namespace ostraka::compare {
namespace {

constexpr double kStep = 22;
constexpr double kLeft = 64;
constexpr double kTop = 26;

void DrawClasses(const Classes& classes, double width, page::Svg& svg) {
  for (std::size_t c = 0; c < classes.count; ++c) {
    const double y = kTop + kStep * (static_cast<double>(c) + 0.5);
    svg.Text({kLeft - 8, y + 4}, std::string(classes.noun) + " " + std::to_string(c),
             {10.5, page::Anchor::kEnd, "#444444", false});
    svg.Line({kLeft, y}, {kLeft + width, y}, {"#eeeeee", 0.8, ""});
  }
}

// Draws one worker's column. The largest circle stands for `most` rows.
void DrawWorker(double x, const std::vector<std::size_t>& counts, std::size_t most,
                page::Svg& svg) {
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] == 0) continue;
    const double share = static_cast<double>(counts[c]) / static_cast<double>(most);
    svg.Circle({x, kTop + kStep * (static_cast<double>(c) + 0.5)},
               std::max(0.9, 0.5 * kStep * std::sqrt(share) - 0.5), "#0072b2");
  }
}

}  // namespace

base::StatusOr<std::string> PartitionSvg(const train::Dataset& data, const Cell& cell) {
  ASSIGN_OR_RETURN(const auto rows, PartitionOf(cell, data));
  const Classes classes = ClassesOf(data);
  const auto counts = CountClasses(rows, classes);
  std::size_t most = 1;
  for (const auto& own : counts) most = std::max(most, *std::max_element(own.begin(), own.end()));
  const double width = kStep * static_cast<double>(counts.size());
  const double bottom = kTop + kStep * static_cast<double>(classes.count);
  // Wide enough for the caption line, whatever the number of workers.
  page::Svg svg(std::max(kLeft + width, 300.0) + 12, bottom + 40,
                "rows of each class that each worker holds, partition " + cell.partition);
  svg.Text({kLeft, 16}, cell.partition, {12, page::Anchor::kStart, "#111111", true});
  DrawClasses(classes, width, svg);
  for (std::size_t w = 0; w < counts.size(); ++w) {
    const double x = kLeft + kStep * (static_cast<double>(w) + 0.5);
    DrawWorker(x, counts[w], most, svg);
    svg.Text({x, bottom + 14}, std::to_string(w), {9.5, page::Anchor::kMiddle, "#444444", false});
  }
  svg.Text({kLeft, bottom + 32}, "worker; the largest circle is " + std::to_string(most) + " rows",
           {11, page::Anchor::kStart, "#444444", false});
  return svg.Finish();
}

}  // namespace ostraka::compare
