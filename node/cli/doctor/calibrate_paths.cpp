// Runs the code paths that honest machines may take (node/cli/doctor/calibration.h), each in its
// own process, because libraries read these settings only once.
//
// The number of threads is not varied: the trainer sets libtorch and BLAS to one (torch_runtime.h).
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "exact/kernels/kernels.h"
#include "node/cli/doctor/calibration.h"
#include "node/cli/terminal/float_file.h"
#include "node/cli/terminal/process.h"
#include "node/os/own_program.h"
#include "node/protocol/ground/manifest.h"
#include "node/train/trainer_loader.h"

namespace ostraka::cli {
namespace {

namespace fs = std::filesystem;

// The CPU that libtorch (ATEN_CPU_CAPABILITY), OpenBLAS, oneDNN and MKL are told to assume.
struct Path {
  const char* name;
  bool CpuFacts::*needs;  // null: every CPU has it
  std::array<std::string_view, 4> settings;
};
constexpr std::array<std::string_view, 4> kVariables = {
    "ATEN_CPU_CAPABILITY", "OPENBLAS_CORETYPE", "ONEDNN_MAX_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS"};
constexpr Path kPaths[] = {
    {"as it is", nullptr, {}},
    {"SSE", nullptr, {"default", "Nehalem", "SSE41", "SSE4_2"}},
    {"AVX2", &CpuFacts::avx2, {"avx2", "Haswell", "AVX2", "AVX2"}},
    {"AVX2 (Zen)", &CpuFacts::avx2, {"avx2", "Zen", "AVX2", "AVX2"}},
    {"AVX-512", &CpuFacts::avx512, {"avx512", "SkylakeX", "AVX512_CORE", "AVX512"}},
};
// Limit for one path; most of its time is loading libtorch.
constexpr std::chrono::minutes kPatience{5};

// Sets variables that the children inherit; no other thread reads the environment meanwhile.
void SetEnvironment(const Path& path) {
  for (std::size_t i = 0; i < kVariables.size(); ++i) {
    const std::string name(kVariables[i]);
    if (path.settings[i].empty()) {
      unsetenv(name.c_str());
    } else {
      setenv(name.c_str(), std::string(path.settings[i]).c_str(), 1);
    }
  }
}

base::Status RunPath(const Path& path, const std::vector<std::string>& arguments,
                     const std::string& log) {
  SetEnvironment(path);
  ASSIGN_OR_RETURN(
      Process process,
      Process::Start({.program = os::OwnProgram(), .arguments = arguments, .stderr_file = log}));
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (process.stdout_fd() >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      return base::Unavailable(std::string("path ") + path.name + " took more than 5 minutes");
    }
    pollfd closed{.fd = process.stdout_fd(), .events = POLLIN, .revents = 0};
    poll(&closed, 1, static_cast<int>(left.count()));
    RETURN_IF_ERROR(process.ReadLines().status());
  }
  // The process closes its stdout by ending.
  siginfo_t ended{};
  waitid(P_PID, static_cast<id_t>(process.pid()), &ended, WEXITED | WNOWAIT);
  const std::optional<int> status = process.Poll();
  if (!status) return base::Internal(std::string("path ") + path.name + " cannot be awaited");
  if (*status == 0) return base::OkStatus();
  return base::Unavailable(std::string("path ") + path.name + " ended with status " +
                           std::to_string(*status));
}

// The paths that this machine can take: of libtorch, or of exact kernels.
std::vector<Path> PathsHere(bool exact) {
  std::vector<Path> paths;
  const CpuFacts cpu = ReadCpu();
  for (const Path& path : kPaths) {
    if (!exact && (path.needs == nullptr || cpu.*path.needs)) paths.push_back(path);
  }
  for (const exact::Level level : exact::kAllLevels) {
    if (!exact || !exact::IsSupported(level)) continue;
    paths.push_back({exact::LevelName(level).data(), nullptr, {}});
  }
  return paths;
}

base::StatusOr<std::vector<PathNoise>> Measure(const protocol::Manifest& manifest,
                                               const std::vector<std::string>& model,
                                               const std::string& folder, std::uint64_t dimension) {
  const bool exact = manifest.compute_profile == protocol::kExact;
  std::vector<std::pair<PathNoise, Gradients>> measured;
  for (const Path& path : PathsHere(exact)) {
    const std::string out = folder + "/gradients";
    std::vector<std::string> arguments = {"doctor", "--probe-into", out, "--probe-at",
                                          folder + "/places"};
    if (exact) arguments.insert(arguments.end(), {"--probe-kernels", path.name});
    arguments.insert(arguments.end(), model.begin(), model.end());
    RETURN_IF_ERROR(RunPath(path, arguments, folder + "/log"));
    ASSIGN_OR_RETURN(Gradients gradients, ReadFloats(out, dimension));
    measured.push_back({{path.name, 0}, std::move(gradients)});
  }
  // As many parts as members without one validator; eight members if the manifest has none.
  const std::size_t members = manifest.members.empty() ? 8 : manifest.members.size();
  const auto parts = static_cast<std::uint32_t>(std::max<std::size_t>(members - 1, 3));
  std::vector<PathNoise> paths;
  for (auto& [path, stated] : measured) {
    for (const auto& [other, recomputed] : measured) {
      path.noise = std::max(path.noise, WorstNoise(stated, recomputed, parts));
    }
    paths.push_back(path);
  }
  return paths;
}

}  // namespace

CalibrationFacts Calibrate(const protocol::Manifest& manifest, const std::string& manifest_file,
                           const train::TrainerOptions& options, const std::string& graph) {
  CalibrationFacts facts;
  facts.exact = options.exact;
  facts.model = options.model + " on " + options.data;
  facts.eps_g = manifest.eps_g;
  facts.from_manifest = !manifest_file.empty();
  std::string folder = (fs::temp_directory_path() / "ostraka-calibrate-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    facts.problem = "cannot create a folder in " + fs::temp_directory_path().string();
    return facts;
  }
  std::map<std::string, std::optional<std::string>> before;
  for (const std::string_view name : kVariables) {
    const char* value = getenv(std::string(name).c_str());
    before[std::string(name)] = value == nullptr ? std::nullopt : std::optional<std::string>(value);
  }
  const auto measure = [&]() -> base::StatusOr<std::vector<PathNoise>> {
    ASSIGN_OR_RETURN(const auto trainer, train::MakeTrainer(options));
    std::vector<std::string> model = {"--probe-model", options.model};
    if (facts.from_manifest) model = {manifest_file};
    if (!graph.empty()) model.insert(model.end(), {"--graph", graph});
    if (!options.data_dir.empty()) {
      model.insert(model.end(), {"--data", options.data + ":" + options.data_dir});
    }
    return Measure(manifest, model, folder, base::ElementCount(trainer->layout()));
  };
  auto paths = measure();
  for (const auto& [name, value] : before) {
    value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
  }
  std::error_code ignored;  // a folder left in /tmp does not fail the measurement
  fs::remove_all(folder, ignored);
  if (paths.ok()) {
    facts.paths = *std::move(paths);
  } else {
    facts.problem = base::MessageOf(paths.status());
  }
  return facts;
}

}  // namespace ostraka::cli
