// Grid files.
//
//   name = "clipping on digits"      every key is optional except rules; plural keys, and data,
//   rules = ["mean", "krum+nnm"]     model and the like, take one value or a list of values;
//   seeds = "0..4"                   a whole number may be a range
//   preset = "btard-2022"            starts from a preset and replaces the keys given here
//
// Keys are strict: an unknown one is refused with a suggestion.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "node/base/status.h"
#include "sim/compare/plan/grid.h"

namespace ostraka::compare {

// InvalidArgument, with the line number, for a text that is no grid.
base::StatusOr<Grid> ParseGrid(std::string_view text);

// Writes every key, including defaults; ParseGrid reads it back.
std::string WriteGrid(const Grid& grid);

// The text of a preset, which ParseGrid reads. InvalidArgument for an unknown name; it suggests
// one.
base::StatusOr<std::string> PresetText(std::string_view name);
std::vector<std::string> PresetNames();

}  // namespace ostraka::compare
