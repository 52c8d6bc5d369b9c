#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "node/cli/doctor/doctor.h"
#include "node/cli/terminal/human.h"

namespace ostraka::cli {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

std::string Bytes(std::uint64_t bytes) {
  char text[32];
  if (bytes >= 1024 * kMiB) {
    std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(bytes) / (1024.0 * kMiB));
  } else {
    std::snprintf(text, sizeof text, "%llu MiB", static_cast<unsigned long long>(bytes / kMiB));
  }
  return text;
}

std::string Millis(base::Duration duration) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f ms", duration.seconds() * 1e3);
  return text;
}

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

// OpenBLAS core names (from its getarch) that use 256 or 512 bits; all others are older.
constexpr std::array<std::string_view, 7> kAvx2Cores = {
    "haswell", "zen", "skylakex", "cooperlake", "sapphirerapids", "excavator", "steamroller"};
constexpr std::array<std::string_view, 3> kAvx512Cores = {"skylakex", "cooperlake",
                                                          "sapphirerapids"};

template <std::size_t n>
bool Names(const std::array<std::string_view, n>& names, const std::string& core) {
  std::string lower = core;
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return std::find(names.begin(), names.end(), lower) != names.end();
}

}  // namespace

const char* SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kOk:
      return "ok";
    case Severity::kWarning:
      return "warning";
    case Severity::kSerious:
      break;
  }
  return "serious";
}

Finding JudgeCpu(const CpuFacts& facts) {
  const std::string model = facts.model.empty() ? "unknown CPU" : facts.model;
  if (facts.avx512) return {"cpu", Severity::kOk, model + ", AVX-512", ""};
  if (facts.avx2) return {"cpu", Severity::kOk, model + ", AVX2", ""};
  return {"cpu", Severity::kWarning, model + ", no AVX2: aggregation runs at scalar speed",
          "use a machine or a VM type with AVX2; results have equal bits without it"};
}

Finding JudgeThreads(const CpuFacts& facts) {
  std::string text = std::to_string(facts.cores) + (facts.cores == 1 ? " core" : " cores");
  if (facts.quota_cores > 0) text += ", of which a quota allows " + Number(facts.quota_cores);
  const double usable = facts.quota_cores > 0 ? std::min<double>(facts.cores, facts.quota_cores)
                                              : static_cast<double>(facts.cores);
  if (usable >= 2) return {"threads", Severity::kOk, text, ""};
  return {"threads", Severity::kWarning,
          text + ": gradients, aggregation and the network share one",
          "give the node two cores or more, or other members wait for it in every step"};
}

Finding JudgeBlas(const BlasFacts& facts, const CpuFacts& cpu) {
  if (!facts.loaded) {
    return {"blas", Severity::kOk,
            "no libblas.so.3, which libtorch alone needs: runs with exact gradients, the default, "
            "do without",
            ""};
  }
  if (!facts.openblas) {
    return {"blas", Severity::kWarning,
            "libblas.so.3 is not OpenBLAS: libtorch's matrix products run at a tenth of the speed",
            "apt-get install libopenblas0-pthread"};
  }
  std::string text = "OpenBLAS for " + facts.core;
  if (facts.gflops > 0) text += ", " + Number(facts.gflops) + " GFLOP/s on one thread";
  const char* better = cpu.avx512 && !Names(kAvx512Cores, facts.core) ? "SkylakeX"
                       : cpu.avx2 && !Names(kAvx2Cores, facts.core)   ? "Haswell"
                                                                      : nullptr;
  if (better == nullptr) return {"blas", Severity::kOk, text, ""};
  return {"blas", Severity::kWarning, text + ": it mistakes this CPU for an older one",
          std::string("start the node with OPENBLAS_CORETYPE=") + better +
              " in its environment, and compare the GFLOP/s that this command prints with it"};
}

Finding JudgeKernels(const std::vector<KernelFacts>& facts) {
  std::string levels;
  for (const KernelFacts& level : facts) {
    if (!level.problem.empty()) {
      return {"kernels", Severity::kSerious, level.level + ": " + level.problem,
              "leave this machine out of runs with compute_profile exact/1, and test its memory"};
    }
    levels += (levels.empty() ? "" : ", ") + level.level;
  }
  const std::string text =
      "exact gradients by " + levels + ", conformance digest " + facts.front().digest;
  if (facts.size() == 1 && facts.front().level == exact::LevelName(exact::Level::kScalar)) {
    return {"kernels", Severity::kWarning, text + ": a hundred times slower than with FMA",
            "use a CPU with AVX2 and FMA, or a 64-bit ARM"};
  }
  return {"kernels", Severity::kOk, text, ""};
}

std::vector<Finding> JudgeDevices(const DevicesFacts& facts) {
  std::vector<Finding> findings;
  for (const DeviceFacts& device : facts.devices) {
    const std::string what = device.name + ": " + device.description;
    if (device.is_processor) {
      findings.push_back(
          {"device", Severity::kOk,
           what + " is this machine's processor, which a node uses better without it", ""});
    } else if (!device.problem.empty()) {
      findings.push_back({"device", Severity::kWarning, what + ": " + device.problem,
                          "update its driver; until then a node computes on its processor"});
    } else {
      findings.push_back({"device", Severity::kOk,
                          what + ", " + Bytes(device.memory_bytes) +
                              ", computes the processor's bits, " +
                              std::to_string(static_cast<long>(device.gflops)) + " GFLOP/s",
                          ""});
    }
  }
  if (facts.hidden_cards > 0) {
    findings.push_back(
        {"device", Severity::kWarning,
         "this machine has " + std::to_string(facts.hidden_cards) +
             (facts.hidden_cards == 1 ? " graphics card" : " graphics cards") +
             ", and this process sees no device of it",
         "install its driver; for the service copy gpu.conf (docs/operating.md); a container "
         "must be given its devices"});
  }
  if (!findings.empty()) return findings;
  std::string why;
  for (const std::string& line : facts.missing) why += (why.empty() ? " (" : "; ") + line;
  return {{"device", Severity::kOk,
           "no GPU that a node could use" + (why.empty() ? why : why + ")"), ""}};
}

Finding JudgeClock(const ClockFacts& facts) {
  if (!facts.known) {
    return {"clock", Severity::kWarning, "the kernel does not say whether the clock is right",
            "check that a time service runs where this machine is hosted"};
  }
  const std::string error = "off by at most " + Number(facts.max_error_seconds) + " s";
  if (facts.synchronised) return {"clock", Severity::kOk, "synchronised, " + error, ""};
  return {"clock", Severity::kWarning,
          "not synchronised: logs of several nodes will not line up (the protocol itself uses no "
          "wall clock)",
          "timedatectl set-ntp true, or run chrony; in a container ask the host"};
}

Finding JudgeDisk(const DiskFacts& facts, std::uint64_t need) {
  const std::string where = facts.path + ": ";
  if (!facts.problem.empty()) {
    return {"disk", Severity::kSerious, where + facts.problem,
            "give a writable folder with --data-dir"};
  }
  if (!facts.network_type.empty()) {
    return {"disk", Severity::kSerious,
            where + "a network file system (" + facts.network_type +
                "), where a commit may not be durable and locks may not hold",
            "put the data folder on a local disk (--data-dir)"};
  }
  std::string text = where + Bytes(facts.free_bytes) + " free, a durable write takes " +
                     Millis(facts.median_sync) + " (longest " + Millis(facts.longest_sync) + ")";
  if (need > 0) {
    text += ", a member of this run keeps up to " + Bytes(need);
    if (facts.held_bytes > 0) text += " (" + Bytes(facts.held_bytes) + " of it are there)";
  }
  if (facts.free_bytes < 128 * kMiB || facts.free_bytes + facts.held_bytes < need) {
    return {"disk", Severity::kSerious, text,
            "free some space, or give another disk with --data-dir: a full disk ends the node"};
  }
  // Each step waits for about ten syncs in sequence.
  if (facts.median_sync > base::Milliseconds(50)) {
    return {"disk", Severity::kWarning, text + ": each step waits for about ten of them",
            "use an SSD, or a disk that fewer programs share"};
  }
  if (facts.free_bytes < 1024 * kMiB) {
    return {"disk", Severity::kWarning, text, "free some space, or keep fewer checkpoints"};
  }
  return {"disk", Severity::kOk, text, ""};
}

Finding JudgeMemory(const MemoryFacts& facts, std::uint64_t need) {
  const std::uint64_t free = facts.available_bytes + facts.held_bytes;
  const std::uint64_t usable = facts.limit_bytes > 0 ? std::min(free, facts.limit_bytes) : free;
  std::string text = Bytes(facts.available_bytes) + " available";
  if (facts.limit_bytes > 0) text += ", a limit of " + Bytes(facts.limit_bytes);
  if (usable < 128 * kMiB) {
    return {"memory", Severity::kSerious, text, "end other programs, or raise the limit"};
  }
  if (need > 0) {
    text += ", a member of this run needs about " + Bytes(need) + " (ostraka memory)";
    if (facts.held_bytes > 0)
      text += "; the one that runs has " + Bytes(facts.held_bytes) + " of it";
    const char* const fix =
        "end other programs, raise the limit, or start the node (and this) with --recompute";
    if (usable < need) return {"memory", Severity::kSerious, text, fix};
    if (usable / 5 * 4 < need) return {"memory", Severity::kWarning, text, fix};
    return {"memory", Severity::kOk, text, ""};
  }
  // A node with libtorch and a small model takes about 250 MiB.
  if (usable < 512 * kMiB) {
    return {"memory", Severity::kWarning, text + ": enough for small models only",
            "end other programs, or raise the limit"};
  }
  return {"memory", Severity::kOk, text, ""};
}

Finding JudgeWork(const WorkFacts& facts) {
  const double takes = facts.takes.seconds();
  const double allowed = facts.allowed.seconds();
  std::string text = "the least work of a step takes " + SpanText(takes) + " on " + facts.by +
                     ", and the run allows " + SpanText(allowed);
  const char* const fix =
      "give the node (and this) more --threads or a GPU (--device), or join a run with a larger "
      "--work-ms";
  if (takes > allowed) {
    return {"work", Severity::kSerious, text + ": this node would be late", fix};
  }
  if (takes > 0.8 * allowed) {
    return {"work", Severity::kWarning, text + ": a busy moment makes this node late", fix};
  }
  // A machine that is faster than its batches need waits for the slower ones.
  const double spare = 0.8 * allowed / std::max(takes, 1e-3);
  if (spare > 2 * facts.most_batches) {
    text += "; it leaves this machine idle for " +
            std::to_string(static_cast<long>(100 - 100 * facts.most_batches / spare)) +
            "% of that time";
  }
  return {"work", Severity::kOk, text, ""};
}

Finding JudgeFiles(std::uint64_t soft, std::uint64_t hard) {
  const std::string text =
      std::to_string(soft) + " open files (up to " + std::to_string(hard) + ")";
  // A run of 256 members needs two connections per member while links are made, plus files.
  if (soft >= 1024) return {"files", Severity::kOk, text, ""};
  return {"files", soft < 128 ? Severity::kSerious : Severity::kWarning,
          text + ": too few for a large run, or for many connections at once",
          "ulimit -n 4096 before the start, or LimitNOFILE=4096 in its systemd unit"};
}

Finding JudgeListen(const ListenFacts& facts) {
  if (facts.problem.empty()) {
    const bool any = facts.address.ends_with(":0");
    return {"listen", Severity::kOk,
            any ? "can listen on a port; --listen *:PORT tries the one of the node"
                : "can listen on " + facts.address,
            ""};
  }
  return {"listen", Severity::kSerious, facts.problem,
          "choose another address with --listen, or end the program that uses the port"};
}

Finding JudgeReach(const std::vector<ReachFacts>& facts) {
  std::size_t dialed = 0;
  std::string failed;
  std::size_t failures = 0;
  for (const ReachFacts& fact : facts) {
    if (fact.address.empty()) continue;
    ++dialed;
    if (fact.problem.empty()) continue;
    ++failures;
    failed +=
        (failed.empty() ? "" : "; ") + fact.peer + " at " + fact.address + ": " + fact.problem;
  }
  const std::string text = std::to_string(dialed - failures) + " of " + std::to_string(dialed) +
                           " members with an address answer";
  if (failures == 0) return {"reach", Severity::kOk, text, ""};
  const Severity severity = failures == dialed ? Severity::kSerious : Severity::kWarning;
  return {"reach", severity, text + " (" + failed + ")",
          "start the nodes that are down; for the others check the firewalls on both sides and the "
          "port forwarding"};
}

}  // namespace ostraka::cli
