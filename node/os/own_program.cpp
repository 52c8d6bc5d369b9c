#include "node/os/own_program.h"

#include <sys/auxv.h>
#include <unistd.h>

namespace ostraka::os {

std::string OwnProgram() {
  constexpr const char* kLink = "/proc/self/exe";
  if (access(kLink, X_OK) == 0) return kLink;
  const auto* const started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  return started == nullptr ? kLink : started;
}

}  // namespace ostraka::os
