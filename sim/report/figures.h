// The charts of a report: members and losses over the steps.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "sim/report/report.h"

namespace ostraka::sim {

// The first and the last step that MembersSvg draws: those in which members were banned, dropped or
// returned, with some steps around them; all, if there were none. REQUIRES: history has a row.
std::pair<std::uint64_t, std::uint64_t> StepsOfChange(const ReportInput& input);

// Honest and Byzantine members by step, with a mark for each ban, drop and return.
// REQUIRES: as StepsOfChange.
std::string MembersSvg(const ReportInput& input);

// Losses with and without protection. REQUIRES: as StepsOfChange.
std::string LossSvg(const ReportInput& input);

}  // namespace ostraka::sim
