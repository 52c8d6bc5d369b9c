// Times one gradient of a gpt: exact kernels beside libtorch's eager operations, one thread each,
// in alternation.
//
// usage: exact_gradient_bench [--level avx2|avx512|scalar] [--layers L] [--width D] [--context T]
// Prints the fastest of 20 of each, their ratio, and how far the gradients are apart.
// OPENBLAS_CORETYPE and ATEN_CPU_CAPABILITY choose libtorch's instruction sets.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "crypto/sign.h"
#include "tests/unit/exact/torch/torch_graph.h"

namespace ostraka::exact {
namespace {

double Milliseconds(const std::function<void()>& body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

int Main(int argc, char** argv) {
  if (!crypto::Initialize().ok()) return 3;
  ModelOptions options = {.model = "gpt", .vocabulary = 65};
  const Kernels* kernels = &BestKernels();
  for (int i = 1; i + 1 < argc; i += 2) {
    for (const Level level : kAllLevels) {
      if (LevelName(level) == argv[i + 1] && IsSupported(level)) kernels = &KernelsFor(level);
    }
    if (std::strcmp(argv[i], "--layers") == 0) options.layers = std::atoll(argv[i + 1]);
    if (std::strcmp(argv[i], "--width") == 0) options.width = std::atoll(argv[i + 1]);
    if (std::strcmp(argv[i], "--context") == 0) options.context = std::atoll(argv[i + 1]);
  }
  const testing::Problem problem = testing::DrawProblem(MakeModel(options).value().graph, 1, 0.05F);
  const aggregation::SerialExecutor executor;
  const PlannedProgram plan = PlanMemory(Differentiate(problem.graph), {}, 1).value();
  Runner runner(plan, {}, *kernels, executor);
  std::vector<float> gradient(problem.parameters.size());
  testing::Gradient theirs;
  double ours_best = 1e9;
  double theirs_best = 1e9;
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    ours_best = std::min(
        ours_best, Milliseconds([&] {
          OSTRAKA_CHECK(runner.Gradient(problem.parameters, problem.inputs(), gradient).ok());
        }));
    theirs_best =
        std::min(theirs_best, Milliseconds([&] { theirs = testing::TorchGradientOf(problem); }));
  }
  double square = 0;
  double whole = 0;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    square += std::pow(double{gradient[i]} - theirs.values[i], 2);
    whole += std::pow(double{theirs.values[i]}, 2);
  }
  std::printf(
      "gpt %zu parameters, %s: exact %.2f ms, libtorch %.2f ms, ratio %.2f; %.2f GFLOP; apart "
      "%.1e\n",
      gradient.size(), std::string(LevelName(kernels->level)).c_str(), ours_best, theirs_best,
      ours_best / theirs_best, static_cast<double>(plan.operations) * 1e-9,
      std::sqrt(square / whole));
  return 0;
}

}  // namespace
}  // namespace ostraka::exact

int main(int argc, char** argv) { return ostraka::exact::Main(argc, argv); }
