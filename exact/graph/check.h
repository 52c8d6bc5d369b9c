// Whether a graph means something: every type, every range of integers, and what the loss is.
//
// Thread safety: pure function.
#pragma once

#include <vector>

#include "exact/graph/graph.h"

namespace ostraka::exact {

// InvalidArgument, naming the value, unless
//   names are distinct and of letters, digits, '_' and '.';
//   each instruction's stated type is the one that its operation gives (infer.h);
//   integers stay within what reads them: embedding's table, cross_entropy's classes (-1: ignored);
//   no mask of attention depends on a parameter, because masks have no gradient;
//   the loss is a scalar that depends on a parameter;
//   parameters together have at most kMaxElements elements.
base::Status CheckGraph(const Graph& graph);

// For each value, whether it depends on a parameter. REQUIRES: operands come before their use.
std::vector<bool> DependsOnParameters(const Graph& graph);

}  // namespace ostraka::exact
