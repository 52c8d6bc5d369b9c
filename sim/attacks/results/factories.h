// Factories of the editors that falsify results of their own jobs, one file each; editors of
// gradients are in gradient.h. Names, summaries and defaults are in sim/attacks/registry.cpp.
#pragma once

#include <memory>
#include <vector>

#include "sim/adversary/adversary.h"
#include "sim/adversary/editor_options.h"

namespace ostraka::sim {

std::vector<std::unique_ptr<Editor>> MakeWrongAggregate(const EditorOptions& options);
std::unique_ptr<Editor> MakeNearTolerance(const EditorOptions& options);
std::unique_ptr<Editor> MakeFalseProof(const EditorOptions& options);
std::unique_ptr<Editor> MakeFalseSize(const EditorOptions& options);
std::unique_ptr<Editor> MakeVoidColumns(const EditorOptions& options);
std::unique_ptr<Editor> MakeFalseAccuse(const EditorOptions& options);
std::unique_ptr<Editor> MakeCoverUp(const EditorOptions& options);
std::unique_ptr<Editor> MakeFalseComplaint(const EditorOptions& options);
std::unique_ptr<Editor> MakeSelectiveBitmap(const EditorOptions& options);
std::unique_ptr<Editor> MakeLeaveAfter(const EditorOptions& options);
std::unique_ptr<Editor> MakeUnwatched(const EditorOptions& options);
std::unique_ptr<Editor> MakeSlip(const EditorOptions& options);
std::unique_ptr<Editor> MakeCorruptState(const EditorOptions& options);
std::unique_ptr<Editor> MakeOtherSteps(const EditorOptions& options);
std::unique_ptr<Editor> MakeSpoiltResult(const EditorOptions& options);
std::unique_ptr<Editor> MakePause(const EditorOptions& options);
std::unique_ptr<Editor> MakeSybil(const EditorOptions& options);

}  // namespace ostraka::sim
