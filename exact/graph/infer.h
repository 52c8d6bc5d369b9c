// The types of results: the rules of each operation (docs/graph.md).
//
// Thread safety: pure functions.
#pragma once

#include <span>

#include "exact/graph/graph.h"

namespace ostraka::exact {

// InvalidArgument unless the rank is at most kMaxRank, every extent is positive, and the elements
// are at most kMaxElements.
base::Status CheckType(const TensorType& type);

// The type of `instruction`'s result, given the types of its operands. Reshape and expand take the
// stated type as their target. InvalidArgument: the operands or attributes do not fit the
// operation. REQUIRES: CheckType of every operand and of the stated type is ok; the number of
// operands is within the operation's.
base::StatusOr<TensorType> InferType(const Instruction& instruction,
                                     std::span<const TensorType* const> operands);

}  // namespace ostraka::exact
