// Times exact matrix products beside OpenBLAS, one thread each, in alternation.
//
// usage: exact_bench [--smoke] [--level avx2|avx512|neon|scalar] [--blas FILE]
// Prints one line a shape: GFLOP/s of both and their ratio; the fastest of repeats that take about
// 0.2 s. OPENBLAS_CORETYPE=Haswell makes OpenBLAS use AVX2, to compare with --level avx2. Without
// OpenBLAS only ours is timed.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "exact/kernels/product.h"
#include "node/base/rng.h"

namespace ostraka::exact {
namespace {

struct Shape {
  const char* name;
  std::size_t rows, columns, depth;
  bool left_transposed, right_transposed;
};

// Products of a GPT's forward and backward pass, as a graph's linear and attention make them.
constexpr Shape kShapes[] = {
    {"512x128x512 forward", 512, 128, 512, false, true},
    {"512x512x128 forward", 512, 512, 128, false, true},
    {"512x384x128 forward", 512, 384, 128, false, true},
    {"512x128x512 dX", 512, 128, 512, false, false},
    {"512x128x512 dW", 512, 128, 512, true, false},
    {"1024x256x1024 forward", 1024, 256, 1024, false, true},
    {"1024x1024x256 dX", 1024, 1024, 256, false, false},
    {"1024x256x1024 dW", 1024, 256, 1024, true, false},
    {"2048x1536x384 forward", 2048, 1536, 384, false, true},
    {"1536x384x2048 dW", 1536, 384, 2048, true, false},
    {"1024x1024x1024", 1024, 1024, 1024, false, false},
    {"logits 1024x256x256", 1024, 256, 256, false, true},
    {"logits 512x65x128", 512, 65, 128, false, true},
    {"lora 512x8x128 down", 512, 8, 128, false, true},
    {"lora 512x128x8 up", 512, 128, 8, false, true},
    {"lora 8x128x512 dA", 8, 128, 512, true, false},
    {"attention 64x64x32 QK", 64, 64, 32, false, true},
    {"attention 64x32x64 PV", 64, 32, 64, false, false},
    {"attention 128x128x64 QK", 128, 128, 64, false, true},
    {"attention 128x64x128 PV", 128, 64, 128, false, false},
};

using Sgemm = void(int, int, int, int, int, int, float, const float*, int, const float*, int, float,
                   float*, int);

Sgemm* LoadBlas(const std::string& file) {
  void* const library = dlopen(file.c_str(), RTLD_NOW);
  if (library == nullptr) return nullptr;
  if (auto* set = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"))) {
    set(1);
  }
  if (auto* core = reinterpret_cast<char* (*)()>(dlsym(library, "openblas_get_corename"))) {
    std::printf("OpenBLAS core %s\n", core());
  }
  return reinterpret_cast<Sgemm*>(dlsym(library, "cblas_sgemm"));
}

double SecondsOf(const std::function<void()>& body, std::size_t repeats) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < repeats; ++i) body();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  return taken.count() / static_cast<double>(repeats);
}

// The fastest seconds of each body, run in turns.
std::vector<double> Fastest(const std::vector<std::function<void()>>& bodies, double operations,
                            bool smoke) {
  const auto repeats = static_cast<std::size_t>(std::max(1.0, smoke ? 1.0 : 2e8 / operations));
  std::vector<double> best(bodies.size(), 1e9);
  for (int round = 0; round < (smoke ? 1 : 60); ++round) {
    for (std::size_t b = 0; b < bodies.size(); ++b) {
      best[b] = std::min(best[b], SecondsOf(bodies[b], repeats));
    }
  }
  return best;
}

void TimeShape(const Shape& shape, const Kernels& kernels, Sgemm* blas, bool smoke) {
  base::Rng rng(1);
  std::vector<float> left(shape.rows * shape.depth);
  std::vector<float> right(shape.depth * shape.columns);
  std::vector<float> out(shape.rows * shape.columns);
  for (float& value : left) value = static_cast<float>(rng.Normal());
  for (float& value : right) value = static_cast<float>(rng.Normal());
  ProductScratch scratch(1);
  const Product product = {
      .rows = shape.rows,
      .columns = shape.columns,
      .depth = shape.depth,
      .left = {left.data(), shape.left_transposed ? shape.rows : shape.depth,
               shape.left_transposed},
      .right = {right.data(), shape.right_transposed ? shape.depth : shape.columns,
                shape.right_transposed},
      .out = out.data(),
      .out_stride = shape.columns};
  std::vector<std::function<void()>> bodies = {[&] { kernels.multiply(product, scratch.of(0)); }};
  if (blas != nullptr) {
    bodies.emplace_back([&] {
      constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112;
      blas(kRowMajor, shape.left_transposed ? kTransposed : kPlain,
           shape.right_transposed ? kTransposed : kPlain, static_cast<int>(shape.rows),
           static_cast<int>(shape.columns), static_cast<int>(shape.depth), 1, left.data(),
           static_cast<int>(product.left.stride), right.data(),
           static_cast<int>(product.right.stride), 0, out.data(), static_cast<int>(shape.columns));
    });
  }
  const double operations = 2.0 * static_cast<double>(shape.rows * shape.columns * shape.depth);
  const std::vector<double> seconds = Fastest(bodies, operations, smoke);
  std::printf("%-26s ours %6.1f GFLOP/s", shape.name, operations / seconds[0] * 1e-9);
  if (blas != nullptr) {
    std::printf("  OpenBLAS %6.1f  ratio %.2f", operations / seconds[1] * 1e-9,
                seconds[1] / seconds[0]);
  }
  std::printf("\n");
  std::fflush(stdout);
}

int Main(int argc, char** argv) {
  bool smoke = false;
  std::string level;
  std::string blas = "libopenblas.so.0";
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--smoke") == 0) {
      smoke = true;
    } else if (std::strcmp(argv[i], "--level") == 0 && i + 1 < argc) {
      level = argv[++i];
    } else if (std::strcmp(argv[i], "--blas") == 0 && i + 1 < argc) {
      blas = argv[++i];
    } else {
      std::fprintf(stderr, "usage: exact_bench [--smoke] [--level LEVEL] [--blas FILE]\n");
      return 2;
    }
  }
  const Kernels* kernels = &BestKernels();
  for (const Level each : kAllLevels) {
    if (LevelName(each) == level && IsSupported(each)) kernels = &KernelsFor(each);
  }
  std::printf("level %s\n", std::string(LevelName(kernels->level)).c_str());
  Sgemm* const sgemm = LoadBlas(blas);
  for (const Shape& shape : kShapes) TimeShape(shape, *kernels, sgemm, smoke);
  return 0;
}

}  // namespace
}  // namespace ostraka::exact

int main(int argc, char** argv) { return ostraka::exact::Main(argc, argv); }
