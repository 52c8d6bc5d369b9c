// The look of each rule: a colour of its own in all figures of all reports, so that two reports can
// be laid beside each other.
//
// Thread safety: pure functions.
#pragma once

#include <vector>

#include "sim/compare/report/selection.h"
#include "sim/page/svg.h"

namespace ostraka::compare {

// A stroke for each line, by the name of its rule. Lines of one rule, which differ in parameters or
// pre-aggregations, have its colour with different dashes.
std::vector<page::Stroke> LooksOf(const std::vector<const Line*>& lines);

}  // namespace ostraka::compare
