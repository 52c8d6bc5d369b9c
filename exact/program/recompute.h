// Less memory for more time: the program forgets what it computed inside of a stretch of the
// forward pass, and computes it again when the backward pass comes there.
//
// The steps that run again are the same steps over the same numbers, so loss and gradient keep
// every bit (docs/numerics.md 6): whether a member recomputes is its own business.
// Source: Chen, Xu, Zhang, Guestrin, Training Deep Nets with Sublinear Memory Cost, 2016.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <span>

#include "exact/program/plan.h"

namespace ostraka::exact {

// `program` with its forward steps in stretches that begin at 0 and at each of `cuts`. What a later
// stretch reads is kept, and all of the last one; the rest of a stretch is computed once more,
// before the first backward step that reads any of it. REQUIRES: cuts ascend, each in (0,
// forward_steps).
Program Recompute(const Program& program, std::span<const std::size_t> cuts);

// The plan of least memory among PlanMemory(program) and some that recompute. Errors as there.
base::StatusOr<PlannedProgram> PlanLeastMemory(Program program, const PlanLimits& limits,
                                               std::size_t threads);

}  // namespace ostraka::exact
