// Factories of the editors that send other messages than the inner machine, one file each. Names,
// summaries and defaults are in sim/attacks/registry.cpp.
#pragma once

#include <memory>
#include <vector>

#include "sim/adversary/adversary.h"
#include "sim/adversary/editor_options.h"

namespace ostraka::sim {

// False messages.
std::unique_ptr<Editor> MakeEquivocate(const EditorOptions& options);
std::unique_ptr<Editor> MakeTwoFaced(const EditorOptions& options);
std::unique_ptr<Editor> MakeImpersonate(const EditorOptions& options);
std::unique_ptr<Editor> MakeBadReveal(const EditorOptions& options);
std::unique_ptr<Editor> MakeClaimRoot(const EditorOptions& options);
std::unique_ptr<Editor> MakeLyingEcho(const EditorOptions& options);
std::unique_ptr<Editor> MakeDoublePropose(const EditorOptions& options);
std::unique_ptr<Editor> MakeStaleLock(const EditorOptions& options);
std::unique_ptr<Editor> MakeStatePoison(const EditorOptions& options);
std::unique_ptr<Editor> MakeFlood(const EditorOptions& options);
// Messages that are missing, late, or sent to some members only.
std::unique_ptr<Editor> MakeSelectiveSend(const EditorOptions& options);
std::unique_ptr<Editor> MakeSpoiltPart(const EditorOptions& options);
std::unique_ptr<Editor> MakeSilent(const EditorOptions& options);
std::unique_ptr<Editor> MakeEclipse(const EditorOptions& options);
std::unique_ptr<Editor> MakeAbortCoin(const EditorOptions& options);
std::unique_ptr<Editor> MakeWithholdEcho(const EditorOptions& options);
std::unique_ptr<Editor> MakeWithholdResult(const EditorOptions& options);
std::unique_ptr<Editor> MakeLate(const EditorOptions& options);
std::unique_ptr<Editor> MakeDawdle(const EditorOptions& options);
// Carriers and declared reachability (forward.cpp, carried_flood.cpp).
std::unique_ptr<Editor> MakeForward(const EditorOptions& options);
std::unique_ptr<Editor> MakeCarriedFlood(const EditorOptions& options);
std::unique_ptr<Editor> MakeFlagFlip(const EditorOptions& options);
std::vector<std::unique_ptr<Editor>> MakeFreeCarrier(
    const EditorOptions& options);  // with a script
// Scripts of deviations (scripted_attacks.cpp).
std::unique_ptr<Editor> MakeSplitEcho(const EditorOptions& options);
std::unique_ptr<Editor> MakeFork(const EditorOptions& options);
std::unique_ptr<Editor> MakeSplitGenesis(const EditorOptions& options);
std::unique_ptr<Editor> MakeHoldBack(const EditorOptions& options);
std::unique_ptr<Editor> MakeFree(const EditorOptions& options);
// Attacks that reviewers found who had not written the rules.
std::unique_ptr<Editor> MakeSealTrick(const EditorOptions& options);
std::vector<std::unique_ptr<Editor>> MakeFreeRide(const EditorOptions& options);

}  // namespace ostraka::sim
