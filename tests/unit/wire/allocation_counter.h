// Counts allocations by operator new in a program that links allocation_counter.cpp.
#pragma once

#include <cstddef>

namespace ostraka::wire {

// Bytes allocated since the program began, including freed ones.
std::size_t AllocatedBytes();

}  // namespace ostraka::wire
