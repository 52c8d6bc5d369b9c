#include "node/train/torch/torch_runtime.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>

namespace ostraka::train {

void UseThreads(int threads) {
  at::set_num_threads(threads);
  // OpenBLAS has its own threads, unknown to libtorch. Other BLAS libraries lack this symbol.
  using SetThreads = void(int);
  auto* set = reinterpret_cast<SetThreads*>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (set != nullptr) set(threads);
}

}  // namespace ostraka::train
