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
  // glibc maps a larger block by itself and unmaps it when it is freed, so each use zeroes its
  // pages anew. Its threshold would rise to 32 MiB as blocks are freed, but setting
  // M_TRIM_THRESHOLD ends that, so it is set here.
  mallopt(M_MMAP_THRESHOLD, 32 * kMiB);
  mallopt(M_TRIM_THRESHOLD, 16 * kMiB);
#endif
}

}  // namespace ostraka::os
