#include "node/os/heap.h"

#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace ostraka::os {

void UseOneHeap() {
#ifdef __GLIBC__
  constexpr int kMiB = 1 << 20;
  mallopt(M_ARENA_MAX, 1);
  // Larger blocks are mapped by themselves and unmapped when they are freed, so all their pages are
  // zeroed anew each time. glibc's own threshold rises to this value too, but stops doing so once
  // another one is set.
  mallopt(M_MMAP_THRESHOLD, 32 * kMiB);
  mallopt(M_TRIM_THRESHOLD, 16 * kMiB);
#endif
}

}  // namespace ostraka::os
