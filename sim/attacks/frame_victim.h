// Everything that colluders can say against one honest member, at once.
#pragma once

#include <memory>
#include <vector>

#include "sim/adversary/adversary.h"
#include "sim/adversary/editor_options.h"

namespace ostraka::sim {

// Each editor is around the ones before it.
std::vector<std::unique_ptr<Editor>> MakeFrameVictim(const EditorOptions& options);

}  // namespace ostraka::sim
