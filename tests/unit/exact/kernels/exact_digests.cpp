// Prints "LEVEL DIGEST" for the kernels of each level that this machine has. Exit code 1: one of
// them is not the recorded digest.
#include <cstdio>
#include <string>

#include "crypto/sign.h"
#include "exact/kernels/conformance.h"

namespace ostraka::exact {
namespace {

int Main() {
  if (!crypto::Initialize().ok()) return 3;
  bool conforms = true;
  for (const Level level : kAllLevels) {
    if (!IsSupported(level)) continue;
    const std::string digest = ConformanceDigest(KernelsFor(level)).Hex();
    std::printf("%s %s\n", std::string(LevelName(level)).c_str(), digest.c_str());
    conforms = conforms && digest == kConformanceDigest;
  }
  return conforms ? 0 : 1;
}

}  // namespace
}  // namespace ostraka::exact

int main() { return ostraka::exact::Main(); }
