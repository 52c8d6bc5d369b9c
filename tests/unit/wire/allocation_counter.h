// Counts what operator new hands out in a program that links allocation_counter.cpp.
#pragma once

#include <cstddef>

namespace ostraka::wire {

// Bytes since the program began; what was freed still counts.
std::size_t AllocatedBytes();

}  // namespace ostraka::wire
