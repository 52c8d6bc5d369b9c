// Factories of the editors of those that come, go, or answer somebody who is away. Names, summaries
// and defaults are in sim/attacks/registry.cpp.
#pragma once

#include <memory>

#include "sim/adversary/adversary.h"
#include "sim/adversary/editor_options.h"

namespace ostraka::sim {

std::unique_ptr<Editor> MakeComeAndGo(const EditorOptions& options);
std::unique_ptr<Editor> MakeFarNewcomer(const EditorOptions& options);
std::unique_ptr<Editor> MakeGuestFlood(const EditorOptions& options);
std::unique_ptr<Editor> MakeGoneDonor(const EditorOptions& options);
std::unique_ptr<Editor> MakeStaleHead(const EditorOptions& options);
std::unique_ptr<Editor> MakeLongRange(const EditorOptions& options);
std::unique_ptr<Editor> MakeFalsePast(const EditorOptions& options);

}  // namespace ostraka::sim
