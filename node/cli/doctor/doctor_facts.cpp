// Measures this machine for node/cli/doctor/doctor.h.
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "exact/kernels/conformance.h"
#include "node/cli/doctor/control_group.h"
#include "node/cli/doctor/doctor.h"
#include "node/os/endpoint.h"
#include "node/os/tcp_probe.h"
#include "node/store/bulk_file.h"
#include "node/store/checkpoint.h"
#include "node/train/trainer_loader.h"

namespace ostraka::cli {
namespace {

namespace fs = std::filesystem;

std::string ErrorText(int error) { return std::generic_category().message(error); }

base::Duration Since(std::chrono::steady_clock::time_point begin) {
  return base::Nanoseconds(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin)
          .count());
}

// The value of "key: value" in a file of such lines, as in /proc.
std::string ValueOf(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || line.find_first_not_of(" \t", key.size()) != colon) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

// A value of /proc in kB, as bytes; 0: the file does not have it.
std::uint64_t BytesOf(const std::string& path, const std::string& key) {
  std::istringstream value(ValueOf(path, key));
  std::uint64_t kibibytes = 0;
  value >> kibibytes;
  return kibibytes * 1024;
}

// What a node keeps in its data folder that grows with the model.
std::uint64_t BytesIn(const std::string& node) {
  std::uint64_t bytes = 0;
  std::error_code error;  // what is not there has no bytes
  const std::uintmax_t bulk = fs::file_size(node + "/" + store::kBulkFileName, error);
  if (!error) bytes += bulk;
  for (const store::CheckpointFile& file : store::ListCheckpoints(node)) {
    const std::uintmax_t size = fs::file_size(file.path, error);
    if (!error) bytes += size;
  }
  return bytes;
}

using Gemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int,
                      float, float*, int);

// Multiplies single-precision 512 x 512 matrices for a third of a second.
double MeasureGflops(Gemm gemm) {
  constexpr int kSize = 512;
  constexpr int kRowMajor = 101;
  constexpr int kNoTranspose = 111;
  const std::vector<float> a(kSize * kSize, 0.5F);
  const std::vector<float> b(kSize * kSize, 0.25F);
  std::vector<float> c(kSize * kSize);
  const auto multiply = [&] {
    gemm(kRowMajor, kNoTranspose, kNoTranspose, kSize, kSize, kSize, 1.0F, a.data(), kSize,
         b.data(), kSize, 0.0F, c.data(), kSize);
  };
  multiply();  // warm-up: pages, threads
  const auto begin = std::chrono::steady_clock::now();
  int products = 0;
  for (; Since(begin) < base::Milliseconds(300); ++products) multiply();
  return 2.0 * kSize * kSize * kSize * products / Since(begin).seconds() * 1e-9;
}

// The name of a network file system, on which locks and commits are unreliable; empty if local.
std::string NetworkFileSystem(const std::string& folder) {
  struct statfs info {};
  if (statfs(folder.c_str(), &info) != 0) return "";
  switch (static_cast<std::uint32_t>(info.f_type)) {
    case 0x6969:
      return "nfs";
    case 0xff534d42:
    case 0xfe534d42:
      return "smb";
    case 0x00c36400:
      return "ceph";
    case 0x01021997:
      return "9p";
    default:
      return "";
  }
}

}  // namespace

CpuFacts ReadCpu() {
  CpuFacts facts;
  facts.model = ValueOf("/proc/cpuinfo", "model name");
#if defined(__x86_64__)
  facts.avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  facts.avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0;
#endif
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    facts.cores = static_cast<unsigned>(CPU_COUNT(&allowed));
  }
  facts.quota_cores = CoreQuota();
  return facts;
}

BlasFacts ReadBlas() {
  BlasFacts facts;
  // The name that libtorch links to; the system chooses the library behind it.
  void* const library = dlopen("libblas.so.3", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return facts;
  facts.loaded = true;
  if (auto* core = reinterpret_cast<char* (*)()>(dlsym(library, "openblas_get_corename"))) {
    facts.openblas = true;
    facts.core = core();
  }
  if (auto* threads = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"))) {
    threads(1);  // one thread, as in a node (node/train/torch/torch_runtime.h)
  }
  if (auto* gemm = reinterpret_cast<Gemm>(dlsym(library, "cblas_sgemm"))) {
    facts.gflops = MeasureGflops(gemm);
  }
  return facts;  // does not unload the library, which is unsafe
}

ClockFacts ReadClock() {
  timex info{};
  const int state = adjtimex(&info);  // modes 0: reads only
  ClockFacts facts;
  facts.known = state >= 0;
  facts.synchronised = state >= 0 && state != TIME_ERROR && (info.status & STA_UNSYNC) == 0;
  facts.max_error_seconds = static_cast<double>(info.maxerror) * 1e-6;
  return facts;
}

DiskFacts ReadDisk(const std::string& folder, const std::string& node) {
  DiskFacts facts;
  facts.path = folder;
  std::error_code error;
  // If the folder does not exist yet, examine its nearest existing parent.
  fs::path place = fs::absolute(folder, error);
  while (!error && !fs::exists(place, error) && place.has_relative_path()) {
    place = place.parent_path();
  }
  std::string name = (place / ".ostraka-doctor-XXXXXX").string();
  const int fd = mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) {
    facts.problem = "cannot be written (" + ErrorText(errno) + ")";
    return facts;
  }
  facts.network_type = NetworkFileSystem(place.string());
  facts.free_bytes = fs::space(place, error).available;
  constexpr int kWrites = 21;
  const std::string page(4096, 'o');
  std::vector<base::Duration> took;
  for (int i = 0; i < kWrites && facts.problem.empty(); ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const bool written = write(fd, page.data(), page.size()) == static_cast<ssize_t>(page.size()) &&
                         fdatasync(fd) == 0;
    if (!written) facts.problem = "cannot be written (" + ErrorText(errno) + ")";
    took.push_back(Since(begin));
  }
  close(fd);
  unlink(name.c_str());
  std::sort(took.begin(), took.end());
  facts.median_sync = took[took.size() / 2];
  facts.longest_sync = took.back();
  if (!node.empty()) facts.held_bytes = BytesIn(node);
  return facts;
}

MemoryFacts ReadMemory(std::optional<pid_t> node) {
  MemoryFacts facts;
  facts.available_bytes = BytesOf("/proc/meminfo", "MemAvailable");
  struct sysinfo known {};
  if (facts.available_bytes == 0 && sysinfo(&known) == 0) {  // without /proc: without the caches
    facts.available_bytes = (std::uint64_t{known.freeram} + known.bufferram) * known.mem_unit;
  }
  facts.limit_bytes = MemoryLimit();
  if (node) {
    facts.held_bytes = BytesOf("/proc/" + std::to_string(*node) + "/status", "VmRSS");
  }
  return facts;
}

Finding CheckFiles() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);  // cannot fail for this process; zeros would be reported
  return JudgeFiles(limit.rlim_cur, limit.rlim_max);
}

Finding CheckModule() {
  train::TrainerOptions options;
  options.model = "softmax";
  const auto trainer = train::MakeTrainer(options);
  if (trainer.ok()) return {"trainer", Severity::kOk, "libtorch loads", ""};
  return {"trainer", Severity::kOk,
          "libtorch does not load, which the model cnn, runs with compute_profile tolerant and "
          "`ostraka compare` alone need (for them: the Debian packages ostraka and "
          "ostraka-trainer-torch, or `make torch`)",
          ""};
}

KernelFacts TryKernels(const exact::Kernels& kernels) {
  const base::Status conforms = exact::CheckConformance(kernels);
  return {.level = std::string(exact::LevelName(kernels.level)),
          .digest = exact::ConformanceDigest(kernels).Hex(),
          .problem = conforms.ok() ? "" : base::MessageOf(conforms)};
}

std::vector<KernelFacts> ReadKernels() {
  std::vector<KernelFacts> facts;
  for (const exact::Level level : exact::kAllLevels) {
    if (exact::IsSupported(level)) facts.push_back(TryKernels(exact::KernelsFor(level)));
  }
  return facts;
}

ListenFacts TryListen(const std::string& address) {
  ListenFacts facts{address, ""};
  const auto fd = os::ListenOn(address, "--listen");
  if (fd.ok()) {
    close(*fd);
  } else {
    facts.problem = base::MessageOf(fd.status());
  }
  return facts;
}

ReachFacts TryReach(const std::string& peer, const std::string& address) {
  ReachFacts facts{peer, address, ""};
  if (address.empty()) return facts;
  const base::Status status = os::ProbeTcp(address, base::Seconds(2));
  if (!status.ok()) facts.problem = base::MessageOf(status);
  return facts;
}

}  // namespace ostraka::cli
