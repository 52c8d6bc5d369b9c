// The models that cells train, by text: "softmax", "mlp", "cnn", or a graph that is made from
// sizes, "gpt:layers=2,width=64,heads=4,context=32" (gpt, llama, albert).
//
// A graph reads texts as tokens and is scored by its loss; the others read images, or windows of a
// text.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "node/base/status.h"
#include "node/train/trainer.h"
#include "sim/compare/cells/cell.h"

namespace ostraka::compare {

// InvalidArgument: an unknown model or size; it suggests a known one.
base::Status CheckModel(std::string_view text);

// True for a graph that is made from sizes. REQUIRES: CheckModel is ok.
bool IsGraph(std::string_view model);
// The tokens that one reads at a time. REQUIRES: IsGraph.
std::uint32_t ContextOf(std::string_view model);

// What a trainer of the cell is made of, its data's place excepted. InvalidArgument: sizes that do
// not fit each other. REQUIRES: CheckModel is ok.
base::StatusOr<train::TrainerOptions> TrainerOptionsOf(const Cell& cell);

// The model as a manifest names it. REQUIRES: TrainerOptionsOf(cell) is ok.
std::string ManifestModelOf(const Cell& cell);

}  // namespace ostraka::compare
