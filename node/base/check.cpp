#include "node/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace ostraka::base {

void CheckFailed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "CHECK failed: %s at %s:%d\n", expression, file, line);
  std::abort();
}

}  // namespace ostraka::base
