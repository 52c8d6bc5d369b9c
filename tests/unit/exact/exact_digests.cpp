// Prints "LEVEL NAME DIGEST" for the conformance vectors and for whole gradients of models, on one
// and on two threads, at each level that this machine has. `--quick`: the conformance vectors
// alone. Exit code 1: two digests of one name differ, or the conformance digest is not the recorded
// one.
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "crypto/sign.h"
#include "exact/kernels/conformance.h"
#include "node/os/thread_executor.h"
#include "tests/unit/exact/model_digests.h"

namespace ostraka::exact {
namespace {

int Main(bool quick) {
  if (!crypto::Initialize().ok()) return 3;
  std::map<std::string, std::string> seen = {{"conformance", std::string(kConformanceDigest)}};
  bool conforms = true;
  const auto print = [&](Level level, const std::string& name, const base::Digest& digest) {
    std::printf("%s %s %s\n", std::string(LevelName(level)).c_str(), name.c_str(),
                digest.Hex().c_str());
    std::fflush(stdout);
    conforms = conforms && seen.emplace(name, digest.Hex()).first->second == digest.Hex();
  };
  const aggregation::SerialExecutor one;
  const os::ThreadExecutor two(2);
  for (const Level level : kAllLevels) {
    if (!IsSupported(level)) continue;
    const Kernels& kernels = KernelsFor(level);
    print(level, "conformance", ConformanceDigest(kernels));
    if (quick) continue;
    for (const testing::NamedProblem& each : testing::DigestProblems()) {
      print(level, each.name, testing::DigestOf(each.problem, kernels, one, 1));
      print(level, each.name, testing::DigestOf(each.problem, kernels, two, 2));
    }
  }
  return conforms ? 0 : 1;
}

}  // namespace
}  // namespace ostraka::exact

int main(int argc, char** argv) {
  return ostraka::exact::Main(argc > 1 && std::strcmp(argv[1], "--quick") == 0);
}
