// Prints "LEVEL NAME DIGEST" for the conformance vectors and program and for whole gradients of
// models, on one and on two threads, at each level that this machine has, and by the emulated
// device. `--quick`: without the models. Exit code 1: two digests of one name differ, or a
// conformance digest is not the recorded one.
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "crypto/sign.h"
#include "exact/device/conformance_program.h"
#include "exact/device/emulated_device.h"
#include "exact/kernels/conformance.h"
#include "node/os/thread_executor.h"
#include "tests/unit/exact/device/device_problem.h"
#include "tests/unit/exact/model_digests.h"

namespace ostraka::exact {
namespace {

int Main(bool quick) {
  if (!crypto::Initialize().ok()) return 3;
  std::map<std::string, std::string> seen = {{"conformance", std::string(kConformanceDigest)},
                                             {"program", std::string(kProgramDigest)}};
  bool conforms = true;
  const auto print_by = [&](const std::string& by, const std::string& name,
                            const base::Digest& digest) {
    std::printf("%s %s %s\n", by.c_str(), name.c_str(), digest.Hex().c_str());
    std::fflush(stdout);
    conforms = conforms && seen.emplace(name, digest.Hex()).first->second == digest.Hex();
  };
  const auto print = [&](Level level, const std::string& name, const base::Digest& digest) {
    print_by(std::string(LevelName(level)), name, digest);
  };
  const aggregation::SerialExecutor one;
  const os::ThreadExecutor two(2);
  for (const Level level : kAllLevels) {
    if (!IsSupported(level)) continue;
    const Kernels& kernels = KernelsFor(level);
    print(level, "conformance", ConformanceDigest(kernels));
    print(level, "program", ProgramDigest(kernels).value());
    if (quick) continue;
    for (const testing::NamedProblem& each : testing::DigestProblems()) {
      print(level, each.name, testing::DigestOf(each.problem, kernels, one, 1));
      print(level, each.name, testing::DigestOf(each.problem, kernels, two, 2));
    }
  }
  const std::unique_ptr<Device> device = MakeEmulatedDevice();
  print_by("device_emulated", "program", ProgramDigest(*device).value());
  if (!quick) {
    for (const testing::NamedProblem& each : testing::DigestProblems()) {
      print_by("device_emulated", each.name, testing::DigestOf(each.problem, *device));
    }
  }
  return conforms ? 0 : 1;
}

}  // namespace
}  // namespace ostraka::exact

int main(int argc, char** argv) {
  return ostraka::exact::Main(argc > 1 && std::strcmp(argv[1], "--quick") == 0);
}
