/* What the archives of g++ 12 take from glibc 2.35 and 2.36, written with functions of glibc 2.34, so that a program or
   module with OSTRAKA_STATIC starts there. Hidden: nobody else in the process meets these. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if __GLIBC_PREREQ(2, 35)
struct search {
  uintptr_t address;
  struct dl_find_object* found;
};

/* One loaded object; 1, which ends the iteration, if it holds the address. */
static int look(struct dl_phdr_info* object, size_t size, void* data) {
  (void)size;
  const struct search* search = data;
  void* eh_frame = NULL;
  uintptr_t start = 0;
  uintptr_t end = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* header = &object->dlpi_phdr[i];
    const uintptr_t from = object->dlpi_addr + header->p_vaddr;
    if (header->p_type == DLFO_EH_SEGMENT_TYPE) eh_frame = (void*)from;
    if (header->p_type == PT_LOAD && search->address - from < header->p_memsz) {
      start = from;
      end = from + header->p_memsz;
    }
  }
  if (start == end) return 0;
  if (eh_frame == NULL) return -1;
  search->found->dlfo_map_start = (void*)start;
  search->found->dlfo_map_end = (void*)end;
  search->found->dlfo_eh_frame = eh_frame;
  return 1;
}

/* How libgcc's unwinder (libgcc_eh.a) finds the frames of a function, through the list of loaded objects. libgcc reads
   dlfo_eh_frame alone. 0 if found, else -1. */
__attribute__((visibility("hidden"))) int _dl_find_object(void* address, struct dl_find_object* result) {
  memset(result, 0, sizeof *result);
  struct search search = {(uintptr_t)address, result};
  return dl_iterate_phdr(&look, &search) == 1 ? 0 : -1;
}
#endif

#if __GLIBC_PREREQ(2, 36)
/* std::random_device (libstdc++.a). glibc's own ends the process too where the kernel gives no randomness. */
__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t drawn;
  if (getentropy(&drawn, sizeof drawn) != 0) abort();
  return drawn;
}
#endif
