// Runs a few simulations with the kernels of each instruction set of this machine, and prints a
// line for each:
//   LEVEL DIGEST OPTIONS
// DIGEST is of the whole trace (sim/run/cluster.h). Exit code 1: two levels differ. Builds by
// different compilers and flags must print equal digests; `make digests` compares them.
//
// There is no golden digest here, because every change of the protocol would change it.
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "aggregation/kernels/simd.h"
#include "node/base/check.h"
#include "sim/run/cluster.h"

namespace ostraka::sim {
namespace {

namespace simd = aggregation::simd;

// Attacks on gradients that need every kind of arithmetic, attacks on the protocol, faults of
// machines and of the network, dimensions that are no multiple of a vector register's width, a
// model that exact kernels train.
constexpr std::string_view kRuns[] = {
    "seed=1 peers=8 byzantine=3 attack=sign_flip dimension=1000 steps=20",
    "seed=2 peers=16 byzantine=7 attack=alie dimension=257 steps=10",
    "seed=3 peers=8 byzantine=2 attack=ipm attack.eps=0.1 dimension=10000 steps=10",
    "seed=4 peers=11 byzantine=2 attack=min_max mode=third dimension=131 steps=10",
    "seed=5 peers=8 byzantine=3 attack=cover_up dimension=64 steps=12",
    "seed=6 peers=8 byzantine=2 attack=double_propose crashes=2 loss_permille=20 steps=12",
    "seed=7 peers=6 byzantine=0 cut=halves cut_at_ns=1000000000 dimension=99 steps=10",
    "seed=8 peers=8 byzantine=1 attack=gaussian unprotected=1 dimension=1000 steps=10",
    "seed=9 peers=8 byzantine=3 attack=label_flip model=gpt exact=1 batch_size=8 steps=12",
};

base::Digest DigestAt(simd::Level level, const SimOptions& options) {
  const simd::ForcedLevel forced(level);
  const auto result = RunSimulation(options);
  OSTRAKA_CHECK(result.ok());
  return result->trace_digest;
}

int PrintAll() {
  bool all_equal = true;
  for (const std::string_view run : kRuns) {
    auto options = ParseOptions(run);
    OSTRAKA_CHECK(options.ok());
    options->await_removal = false;  // the runs are short
    std::optional<base::Digest> reference;
    for (const simd::Level level : simd::kAllLevels) {
      if (!simd::IsSupported(level)) continue;
      const base::Digest digest = DigestAt(level, *options);
      if (!reference) reference = digest;
      all_equal = all_equal && digest == *reference;
      std::printf("%s %s %s\n", std::string(simd::LevelName(level)).c_str(), digest.Hex().c_str(),
                  std::string(run).c_str());
      std::fflush(stdout);
    }
  }
  return all_equal ? 0 : 1;
}

}  // namespace
}  // namespace ostraka::sim

int main() { return ostraka::sim::PrintAll(); }
