// Grid files.
//
//   name = "clipping on digits"      every key is optional but rules; those in the plural, and
//   rules = ["mean", "krum+nnm"]     data, model and the like, take one value or a list of them;
//   seeds = "0..4"                   a whole number may be a range
//   preset = "btard-2022"            begin with a preset and replace what stands here
//
// Keys are strict: an unknown one is refused with a suggestion.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "node/base/status.h"
#include "sim/compare/plan/grid.h"

namespace ostraka::compare {

// InvalidArgument, with the line, for anything that is no grid.
base::StatusOr<Grid> ParseGrid(std::string_view text);

// Every key, also those that have their default; ParseGrid reads it back.
std::string WriteGrid(const Grid& grid);

// The text of a preset, which ParseGrid reads. InvalidArgument, with a suggestion, for another
// name.
base::StatusOr<std::string> PresetText(std::string_view name);
std::vector<std::string> PresetNames();

}  // namespace ostraka::compare
