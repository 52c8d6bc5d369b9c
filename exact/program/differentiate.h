// Reverse mode: from a graph to the program that computes its loss and its gradient.
//
// The order of rounding is part of the result (docs/numerics.md 6): instructions are differentiated
// from the last to the first, operands from the first to the last, and a value's gradient is the
// sum of its contributions in that order. Instructions that the loss does not depend on are left
// out.
//
// Thread safety: pure function.
#pragma once

#include "exact/program/program.h"

namespace ostraka::exact {

// The program of a graph. Offsets in the arena are not set yet (plan.h).
// REQUIRES: CheckGraph(graph) is ok.
Program Differentiate(const Graph& graph);

}  // namespace ostraka::exact
