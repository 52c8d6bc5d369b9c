#include "sim/compare/engine/profile.h"

#include <algorithm>
#include <fstream>
#include <span>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/train/trainer_loader.h"
#include "sim/compare/engine/worker_pool.h"

namespace ostraka::compare {
namespace {

// Gradients on the embedded data, at sizes for which libtorch uses different kernels.
base::StatusOr<std::string> Fingerprint() {
  crypto::Hasher hasher(crypto::kDomainCompareProfile);
  for (const char* model : {"softmax", "mlp", "cnn"}) {
    for (const std::uint64_t batch : {8, 32, 100}) {
      ASSIGN_OR_RETURN(const auto trainer,
                       train::MakeTrainer({.model = model, .data = "digits", .batch_size = batch}));
      const auto at = trainer->InitialParameters({});
      ASSIGN_OR_RETURN(const auto gradient, trainer->Gradient(at, {}));
      hasher.Update(base::AsBytes(std::span<const float>(gradient)));
    }
  }
  return hasher.Finish().Short();
}

base::StatusOr<std::string> Describe() {
  ASSIGN_OR_RETURN(const std::string numerics, Fingerprint());
  ASSIGN_OR_RETURN(const std::string library, train::TrainerLibrary());
  return library + ", numerics " + numerics;
}

}  // namespace

std::string ProcessorName() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("model name"))
      return line.substr(std::min(line.find(':') + 2, line.size()));
  }
  return "unknown processor";
}

base::StatusOr<std::string> ComputeProfile() {
  // The first letter says whether the rest is a profile or an error.
  std::string answer;
  base::Status failed;
  PoolOptions pool;
  pool.work = [](std::size_t) {
    const auto profile = Describe();
    return profile.ok() ? "=" + *profile : "!" + base::MessageOf(profile.status());
  };
  pool.done = [&](const TaskDone& done) {
    if (!done.died && done.text.starts_with("=")) {
      answer = done.text.substr(1);
      return base::OkStatus();
    }
    return base::Unavailable(done.died ? "cannot train here: " + done.text : done.text.substr(1));
  };
  RETURN_IF_ERROR(RunTasks(1, pool));
  return answer;
}

}  // namespace ostraka::compare
