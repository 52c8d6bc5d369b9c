// frame_victim: colluders make every accusation against one honest member at once.
//
// Thread safety: none; one owner.
#pragma once

#include <memory>
#include <vector>

#include "sim/adversary/adversary.h"
#include "sim/adversary/editor_options.h"

namespace ostraka::sim {

// The editors, inner first: each wraps the ones before it.
std::vector<std::unique_ptr<Editor>> MakeFrameVictim(const EditorOptions& options);

}  // namespace ostraka::sim
