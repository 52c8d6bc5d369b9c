#include "tests/unit/wire/allocation_counter.h"

#include <cstdlib>
#include <new>

namespace {

std::size_t g_allocated_bytes = 0;

}  // namespace

// In its own file, so that the compiler cannot inline one function of the pair without the other.
void* operator new(std::size_t size) {
  g_allocated_bytes += size;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace ostraka::wire {

std::size_t AllocatedBytes() { return g_allocated_bytes; }

}  // namespace ostraka::wire
