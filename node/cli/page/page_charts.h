// The page's drawings as SVG inside HTML. Colours and fonts come from page.css by class, because
// the page allows no inline style and follows the reader's light or dark scheme.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace ostraka::cli {

// `curve`: that of the status, {"metric","points":[[step,loss,value]]}. Loss, and accuracy if that
// is the metric, over the run's `steps`. A loss that is no number leaves a gap. Empty without a
// point.
std::string CurveChart(const nlohmann::json& curve, std::uint64_t steps);

// `phases`: those of the status. A column for each of the last steps, as high as the step was long,
// in its phases. Empty without a step.
std::string PhaseChart(const nlohmann::json& phases);

// One bar of parts, at most three, of one whole. Empty without a whole.
std::string ShareBars(const std::vector<double>& parts);

// A bar of that share of its whole width; for a number that stands beside it.
std::string ShareBar(double share);

}  // namespace ostraka::cli
