// The page's drawings as SVG inside HTML. Colours and fonts come from page.css by class, because
// the page allows no inline style and follows the reader's light or dark scheme.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "node/cli/page/page_data.h"

namespace ostraka::cli {

// Loss, and accuracy if that is the metric, over the run's `steps`. A loss that is no number
// leaves a gap. Empty without a point.
std::string CurveChart(const PageLearning& learning, std::uint64_t steps);

// A column for each of the last steps, as high as the step was long, in its phases. Empty without
// a span.
std::string PhaseChart(const std::vector<host::StepSpan>& spans);

// One bar of the three parts.
std::string PriceBar(const PagePrice& price);

// A bar of that share of its whole width; for a number that stands beside it.
std::string ShareBar(double share);

}  // namespace ostraka::cli
