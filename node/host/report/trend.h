// Whether training goes well, by the losses of a run's evaluations alone.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "node/host/report/curve.h"

namespace ostraka::host {

enum class Trend : std::uint8_t {
  kFine,      // or too early to say
  kFlat,      // the loss does not fall (below)
  kRising,    // the newest loss is a tenth above the first, after at least three evaluations
  kDiverged,  // the newest loss is no finite number
};
const char* TrendName(Trend trend);  // fine, flat, rising, diverged

// kFlat: the mean of the last three losses is above 95 % of the first one, 50 steps or more after
// the run's beginning, with at least six evaluations. It is told only if the first evaluation is of
// one of the first ten steps: a curve that begins later, after a restart or with rare evaluations,
// may begin at a model that is as good as it gets. REQUIRES: ascending steps.
Trend TrendOf(const std::vector<CurvePoint>& points);

// What is wrong and what helps, in one line; empty if nothing is. `cause`: said in place of what
// helps, if it is not empty. REQUIRES: as TrendOf.
std::string TroubleOf(const std::vector<CurvePoint>& points, std::string_view cause = "");

}  // namespace ostraka::host
