// `ostraka doctor`: problems of this machine that would affect a node, each with a remedy.
//
// doctor_facts.cpp reads facts from the machine; the functions here judge them, so tests need no
// faulty machine.
//
// Thread safety: pure functions.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exact/kernels/kernels.h"
#include "node/base/time.h"

namespace ostraka::cli {

enum class Severity : std::uint8_t {
  kOk,
  kWarning,  // works, but worse than it could
  kSerious,  // a node fails here, or is useless to its run
};
const char* SeverityName(Severity severity);  // ok, warning, serious

struct Finding {
  std::string check;  // "cpu", "blas", ...: as in JSON
  Severity severity = Severity::kOk;
  std::string text;  // the finding
  std::string fix;   // the remedy; empty iff ok
};

struct CpuFacts {
  std::string model;
  bool avx2 = false;
  bool avx512 = false;
  unsigned cores = 0;      // available to this process
  double quota_cores = 0;  // of the control group; 0: no quota
};
Finding JudgeCpu(const CpuFacts& facts);
Finding JudgeThreads(const CpuFacts& facts);

struct BlasFacts {
  bool loaded = false;    // libblas.so.3 exists
  bool openblas = false;  // and it is OpenBLAS
  std::string core;       // the CPU that OpenBLAS detected
  double gflops = 0;      // of a single-precision product on one thread; 0: not measured
};
// OpenBLAS may mistake a new CPU for an old one and then runs at a fraction of its speed.
Finding JudgeBlas(const BlasFacts& facts, const CpuFacts& cpu);

// Kernels of exact gradients for one instruction set of this machine.
struct KernelFacts {
  std::string level;    // exact::LevelName
  std::string digest;   // of its conformance vectors, as hexadecimal digits
  std::string problem;  // exact::CheckConformance's reason; empty if it computes as its peers do
};
// One finding for all levels. REQUIRES: at least one.
Finding JudgeKernels(const std::vector<KernelFacts>& facts);

// A device that could compute exact gradients.
struct DeviceFacts {
  std::string name = {};         // of `ostraka node --device`
  std::string description = {};  // as its driver has it
  std::uint64_t memory_bytes = 0;
  bool is_processor = false;
  std::string problem = {};  // why it cannot be used; empty if it computes as the processor does
  double gflops = 0;         // of a small transformer's gradient; 0: not measured
};
// All that drivers show.
struct DevicesFacts {
  std::vector<DeviceFacts> devices = {};
  std::vector<std::string> missing = {};  // why drivers show none, one line each
  // Cards on the bus while this process sees no device file of one.
  std::size_t hidden_cards = 0;
};
// One for each device; one if there is none.
std::vector<Finding> JudgeDevices(const DevicesFacts& facts);

struct ClockFacts {
  bool known = false;         // the kernel reports it
  bool synchronised = false;  // by NTP or the like
  double max_error_seconds = 0;
};
Finding JudgeClock(const ClockFacts& facts);

struct DiskFacts {
  std::string path;
  std::string problem;       // reason why nothing could be written; empty if writable
  std::string network_type;  // "nfs", ...; empty: a local file system
  std::uint64_t free_bytes = 0;
  base::Duration median_sync;  // of a small durable write
  base::Duration longest_sync;
  std::uint64_t held_bytes = 0;  // what the run's node has there already
};
// `need`: what a member of the run keeps; 0: no run, or not known.
Finding JudgeDisk(const DiskFacts& facts, std::uint64_t need = 0);

struct MemoryFacts {
  std::uint64_t available_bytes = 0;
  std::uint64_t limit_bytes = 0;  // of the control group; 0: none
  std::uint64_t held_bytes = 0;   // what a running node of the run has already
};
// `need`: as above.
Finding JudgeMemory(const MemoryFacts& facts, std::uint64_t need = 0);

// The least work of a step of some run, on this machine.
struct WorkFacts {
  base::Duration takes;     // as measured
  base::Duration allowed;   // by the run (protocol::WorkIn)
  double most_batches = 1;  // that count, as a multiple of the least
  std::string by;           // what computes
};
Finding JudgeWork(const WorkFacts& facts);

// Judges the soft and hard limit of open files.
Finding JudgeFiles(std::uint64_t soft, std::uint64_t hard);

struct ListenFacts {
  std::string address;
  std::string problem;  // reason why listening fails; empty if it works
};
Finding JudgeListen(const ListenFacts& facts);

struct ReachFacts {
  std::string peer;     // for people: name or id
  std::string address;  // empty: it only dials
  std::string problem;  // reason why the connection failed; empty if it worked
};
// One finding for all members of a run.
Finding JudgeReach(const std::vector<ReachFacts>& facts);

// --- doctor_facts.cpp: measurements -------------------------------------------------------------

CpuFacts ReadCpu();
BlasFacts ReadBlas();                                   // takes about half a second
KernelFacts TryKernels(const exact::Kernels& kernels);  // takes some milliseconds
std::vector<KernelFacts> ReadKernels();                 // of each level that this machine has
// By drivers in child processes. Takes about a second a device, and longer where a driver compiles
// the kernels for the first time.
DevicesFacts ReadDevices();
ClockFacts ReadClock();
// Of a folder that is missing, the nearest one above it. Leaves no file there. `node`: the data
// folder of the run's node, or empty.
DiskFacts ReadDisk(const std::string& folder, const std::string& node = "");
// `node`: the running node of the run, if there is one.
MemoryFacts ReadMemory(std::optional<pid_t> node = std::nullopt);
Finding CheckFiles();
Finding CheckModule();  // whether models that need libtorch can be trained
ListenFacts TryListen(const std::string& address);
ReachFacts TryReach(const std::string& peer, const std::string& address);

}  // namespace ostraka::cli
