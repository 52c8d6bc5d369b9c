// Compares two blocks field by field, for people.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "node/wire/block.h"

namespace ostraka::protocol {

// Names the first field in which the blocks differ and shows both values; empty if they are equal.
std::string FirstDifference(const wire::Block& block, const wire::Block& expected);

}  // namespace ostraka::protocol
