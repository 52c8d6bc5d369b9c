// Times a whole exact gradient beside libtorch's, in alternation, and compares planned with
// measured memory.
//
// usage: gradient_bench [--smoke] [--level avx2|avx512|neon|scalar] [--threads N]
//        gradient_bench --memory    planned and measured bytes; exit code 1: a plan does not hold
//        gradient_bench --hashes    of libtorch's gradients of the models of exact_digests
//
// Times are the fastest of repeats of about 10 s a model. libtorch runs the same graph by eager
// operations (node/train/torch/torch_graph.h). OPENBLAS_CORETYPE chooses its OpenBLAS
// kernels: SkylakeX for AVX-512, Haswell for AVX2, beside --level avx2; ATEN_CPU_CAPABILITY its
// own.
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "node/os/thread_executor.h"
#include "node/train/torch/eager_memory.h"
#include "tests/unit/exact/model_digests.h"
#include "tests/unit/exact/torch/torch_problem.h"

namespace ostraka::exact {
namespace {

using testing::Problem;

struct Options {
  bool smoke = false;
  bool memory = false;
  bool hashes = false;
  std::string level;
  std::size_t threads = 1;
};

struct Named {
  std::string name;
  ModelOptions model;
};

ModelOptions Transformer(const char* model, std::int64_t layers, std::int64_t width,
                         std::int64_t heads, std::int64_t context) {
  return {.model = model,
          .batch = 8,
          .layers = layers,
          .width = width,
          .heads = heads,
          .context = context};
}

std::vector<Named> Models(bool smoke) {
  if (smoke) return {{"gpt", Transformer("gpt", 1, 32, 2, 16)}};
  return {{"gpt 4 x 128, context 64", Transformer("gpt", 4, 128, 4, 64)},
          {"gpt 4 x 256, context 64", Transformer("gpt", 4, 256, 4, 64)},
          {"gpt 6 x 384, context 128", Transformer("gpt", 6, 384, 6, 128)},
          {"llama 4 x 256, context 64", Transformer("llama", 4, 256, 4, 64)}};
}

Problem ProblemOf(const ModelOptions& options) {
  const Model model = MakeModel(options).value();
  return testing::DrawProblem(model.graph, 1, 0.05F, model.constants);
}

double SecondsOf(const std::function<void()>& body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Ours with what it needs to run.
struct Exact {
  Exact(const Problem& drawn, const Kernels& kernels, std::size_t threads)
      : problem(drawn),
        executor(threads),
        runner(PlanMemory(Differentiate(drawn.graph), {}, threads).value(), drawn.constants,
               kernels, executor),
        gradient(drawn.parameters.size()) {}

  void Run() {
    OSTRAKA_CHECK(runner.Gradient(problem.parameters, problem.inputs(), gradient).ok());
  }

  const Problem& problem;
  os::ThreadExecutor executor;
  Runner runner;
  std::vector<float> gradient;
};

void TimeModel(const Named& model, const Kernels& kernels, const Options& options) {
  const Problem problem = ProblemOf(model.model);
  Exact ours(problem, kernels, options.threads);
  train::TorchGraph theirs = testing::TorchGraphOf(problem, static_cast<int>(options.threads));
  double best[2] = {1e9, 1e9};
  double spent = 0;
  for (int round = 0; round < (options.smoke ? 2 : 3) || (!options.smoke && spent < 10); ++round) {
    const double each[2] = {SecondsOf([&] { ours.Run(); }), SecondsOf([&] { theirs.Run(); })};
    for (int i = 0; i < 2; ++i) {
      best[i] = std::min(best[i], each[i]);
      spent += each[i];
    }
  }
  std::printf(
      "%-26s %9zu parameters  ours %8.2f ms (%5.1f GFLOP/s)  libtorch %8.2f ms  ratio %.2f\n",
      model.name.c_str(), problem.parameters.size(), best[0] * 1e3,
      static_cast<double>(ours.runner.plan().operations) / best[0] * 1e-9, best[1] * 1e3,
      best[0] / best[1]);
  std::fflush(stdout);
}

// A line of /proc/self/status, in bytes.
std::uint64_t StatusBytes(const char* name) {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with(name))
      return std::strtoull(line.c_str() + std::strlen(name), nullptr, 10) << 10;
  }
  return 0;
}

// The bytes that `model` adds to the peak of a process in which `run` has run a small one before:
// memory that one model leaves behind is not the next one's. Whether `holds(planned, measured)`.
bool Holds(const Named& model, const char* who,
           const std::function<std::uint64_t(const Problem&)>& run,
           const std::function<bool(std::uint64_t planned, std::uint64_t measured)>& holds) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    run(ProblemOf(Models(true).front().model));  // the program's own pages are no model's
    malloc_trim(0);
    const std::uint64_t before = StatusBytes("VmRSS:");
    const Problem problem = ProblemOf(model.model);
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5";  // the peak begins anew
    const std::uint64_t planned = run(problem);
    const std::uint64_t measured = StatusBytes("VmHWM:") - before;
    std::printf(
        "%-26s %-8s %9zu parameters  planned %8.2f MiB  measured %8.2f MiB  measured / planned "
        "%.3f\n",
        model.name.c_str(), who, problem.parameters.size(),
        static_cast<double>(planned) / (1 << 20), static_cast<double>(measured) / (1 << 20),
        static_cast<double>(measured) / static_cast<double>(planned));
    std::fflush(stdout);
    _exit(holds(planned, measured) ? 0 : 1);
  }
  int status = 1;
  return waitpid(child, &status, 0) == child && status == 0;
}

// Whether our plan is no less than what was measured, and no more than a tenth above it, and what
// is said of libtorch, with the caller's own parameters and inputs, no less.
bool MemoryHolds(const Named& model, const Kernels& kernels, std::size_t threads) {
  const auto ours = [&](const Problem& problem) {
    Exact exact(problem, kernels, threads);
    exact.Run();
    return exact.runner.plan().peak_bytes;
  };
  const auto theirs = [&](const Problem& problem) {
    testing::TorchGradientOf(problem, static_cast<int>(threads));
    return train::EagerBytes(problem.graph) + problem.parameters.size() * sizeof(float);
  };
  const bool plan = Holds(model, "ours", ours, [](std::uint64_t planned, std::uint64_t measured) {
    return measured <= planned && planned - measured <= planned / 10;
  });
  return Holds(model, "libtorch", theirs,
               [](std::uint64_t planned, std::uint64_t measured) { return measured <= planned; }) &&
         plan;
}

void HashModels(std::size_t threads) {
  for (const testing::NamedProblem& each : testing::DigestProblems()) {
    testing::Gradient gradient = testing::TorchGradientOf(each.problem, static_cast<int>(threads));
    gradient.values.push_back(gradient.loss);
    const base::Digest digest = crypto::Hash(
        crypto::kDomainConformance, base::AsBytes(std::span<const float>(gradient.values)));
    std::printf("%-14s %s\n", each.name.c_str(), digest.Hex().substr(0, 16).c_str());
  }
}

int Main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--smoke") {
      options.smoke = true;
    } else if (word == "--memory") {
      options.memory = true;
    } else if (word == "--hashes") {
      options.hashes = true;
    } else if (word == "--level" && i + 1 < argc) {
      options.level = argv[++i];
    } else if (word == "--threads" && i + 1 < argc && std::atoi(argv[i + 1]) > 0) {
      options.threads = static_cast<std::size_t>(std::atoi(argv[++i]));
    } else {
      std::fprintf(
          stderr,
          "usage: gradient_bench [--smoke] [--level LEVEL] [--threads N] | --memory | --hashes\n");
      return 2;
    }
  }
  const Kernels* kernels = &BestKernels();
  for (const Level each : kAllLevels) {
    if (LevelName(each) == options.level && IsSupported(each)) kernels = &KernelsFor(each);
  }
  if (options.hashes) {
    HashModels(options.threads);
    return 0;
  }
  std::printf("level %s, %zu threads\n", std::string(LevelName(kernels->level)).c_str(),
              options.threads);
  bool holds = true;
  for (const Named& model : Models(options.smoke)) {
    if (options.memory) {
      holds = MemoryHolds(model, *kernels, options.threads) && holds;
    } else {
      TimeModel(model, *kernels, options);
    }
  }
  return holds ? 0 : 1;
}

}  // namespace
}  // namespace ostraka::exact

int main(int argc, char** argv) { return ostraka::exact::Main(argc, argv); }
