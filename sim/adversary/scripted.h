// The editor that plays a script of deviations (sim/script/script.h): `free`, and the named attacks
// that are scripts (scripted_attacks.cpp).
//
// Each colluder runs one honest machine, or two with one key and equal coins (twins), one for each
// half of the honest members and of its friends' machines. Each half gets the messages of its
// machine, changed by the deviations.
#pragma once

#include <memory>

#include "sim/adversary/editor_options.h"
#include "sim/adversary/script_steps.h"
#include "sim/script/script.h"

namespace ostraka::sim {

std::unique_ptr<Editor> MakeScripted(const EditorOptions& options, Script script,
                                     Timing timing = {});

}  // namespace ostraka::sim
