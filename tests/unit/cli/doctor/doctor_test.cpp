#include "node/cli/doctor/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exact/kernels/conformance.h"

namespace ostraka::cli::doctor_test {
namespace {

using ::testing::HasSubstr;

CpuFacts NewCpu() {
  CpuFacts cpu;
  cpu.model = "Xeon";
  cpu.avx2 = cpu.avx512 = true;
  cpu.cores = 8;
  return cpu;
}

BlasFacts OpenBlas(const std::string& core) {
  BlasFacts blas;
  blas.loaded = blas.openblas = true;
  blas.core = core;
  blas.gflops = 33;
  return blas;
}

// Every finding that is not ok has a remedy, and no other has one.
void Expect(const Finding& finding, Severity severity, const std::string& words = "") {
  EXPECT_EQ(finding.severity, severity) << finding.text;
  EXPECT_EQ(finding.fix.empty(), severity == Severity::kOk) << finding.text;
  EXPECT_FALSE(finding.check.empty());
  EXPECT_THAT(finding.text + " | " + finding.fix, HasSubstr(words));
}

TEST(DoctorTest, EachDeviceHasAFinding) {
  const std::vector<Finding> none = JudgeDevices({.devices = {}, .missing = {"no CUDA", "no CL"}});
  ASSERT_EQ(none.size(), 1U);
  Expect(none[0], Severity::kOk, "no GPU that a node could use (no CUDA; no CL)");

  DevicesFacts facts;
  facts.devices = {
      {.name = "cuda:0", .description = "Card", .memory_bytes = 8ULL << 30, .gflops = 99.7},
      {.name = "opencl:0", .description = "pocl", .is_processor = true},
      {.name = "opencl:1", .description = "Old", .problem = "case 'x' differs"}};
  const std::vector<Finding> findings = JudgeDevices(facts);
  ASSERT_EQ(findings.size(), 3U);
  Expect(findings[0], Severity::kOk,
         "cuda:0: Card, 8.0 GiB, computes the processor's bits, 99 GFLOP/s");
  Expect(findings[1], Severity::kOk, "is this machine's processor");
  Expect(findings[2], Severity::kWarning, "opencl:1: Old: case 'x' differs | update its driver");
}

TEST(DoctorTest, ACardWithoutADeviceFileIsReported) {
  const std::vector<Finding> findings =
      JudgeDevices({.devices = {}, .missing = {"no CUDA"}, .hidden_cards = 2});
  ASSERT_EQ(findings.size(), 1U);
  Expect(findings[0], Severity::kWarning, "2 graphics cards, and this process sees no device");
}

TEST(DoctorTest, WorkThatTakesTooLongIsSerious) {
  const WorkFacts facts{.takes = base::Seconds(4), .allowed = base::Seconds(3), .by = "processor"};
  Expect(JudgeWork(facts), Severity::kSerious,
         "takes 4.0 s on processor, and the run allows 3.0 s: this node would be late | give");
  Expect(JudgeWork({.takes = base::Seconds(4), .allowed = base::Milliseconds(4500), .by = ""}),
         Severity::kWarning, "a busy moment");
  const Finding fast = JudgeWork({.takes = base::Milliseconds(100),
                                  .allowed = base::Seconds(10),
                                  .most_batches = 2,
                                  .by = "cuda:0"});
  Expect(fast, Severity::kOk, "it leaves this machine idle for 97% of that time");
  EXPECT_THAT(JudgeWork({.takes = base::Seconds(4), .allowed = base::Seconds(10), .by = ""}).text,
              ::testing::Not(HasSubstr("idle")));
}

TEST(DoctorTest, BlasThatMistakesTheCpuIsReportedWithItsRemedy) {
  CpuFacts avx2 = NewCpu();
  avx2.avx512 = false;
  CpuFacts old = avx2;
  old.avx2 = false;
  Expect(JudgeBlas(OpenBlas("SkylakeX"), NewCpu()), Severity::kOk, "33.0 GFLOP/s");
  Expect(JudgeBlas(OpenBlas("Cooperlake"), NewCpu()), Severity::kOk);
  Expect(JudgeBlas(OpenBlas("Haswell"), NewCpu()), Severity::kWarning,
         "OPENBLAS_CORETYPE=SkylakeX");
  Expect(JudgeBlas(OpenBlas("Prescott"), NewCpu()), Severity::kWarning,
         "OPENBLAS_CORETYPE=SkylakeX");
  Expect(JudgeBlas(OpenBlas("Haswell"), avx2), Severity::kOk);
  Expect(JudgeBlas(OpenBlas("Zen"), avx2), Severity::kOk);
  Expect(JudgeBlas(OpenBlas("Nehalem"), avx2), Severity::kWarning, "OPENBLAS_CORETYPE=Haswell");
  Expect(JudgeBlas(OpenBlas("Nehalem"), old), Severity::kOk);
  BlasFacts reference;
  reference.loaded = true;
  Expect(JudgeBlas(reference, NewCpu()), Severity::kWarning, "libopenblas0-pthread");
  Expect(JudgeBlas({}, NewCpu()), Severity::kOk, "exact gradients, the default, do without");
}

TEST(DoctorTest, CpuAndThreads) {
  Expect(JudgeCpu(NewCpu()), Severity::kOk, "Xeon, AVX-512");
  CpuFacts cpu = NewCpu();
  cpu.avx2 = cpu.avx512 = false;
  Expect(JudgeCpu(cpu), Severity::kWarning, "no AVX2");
  Expect(JudgeThreads(NewCpu()), Severity::kOk, "8 cores");
  cpu.quota_cores = 0.5;
  Expect(JudgeThreads(cpu), Severity::kWarning, "a quota allows 0.5");
  cpu.quota_cores = 0;
  cpu.cores = 1;
  Expect(JudgeThreads(cpu), Severity::kWarning, "1 core:");
}

TEST(DoctorTest, KernelsShowTheirDigest) {
  const std::vector<KernelFacts> here = ReadKernels();
  ASSERT_FALSE(here.empty());
  EXPECT_EQ(here.front().level, "scalar");
  for (const KernelFacts& level : here) EXPECT_EQ(level.digest, exact::kConformanceDigest);
  EXPECT_THAT(JudgeKernels(here).text, HasSubstr(std::string(exact::kConformanceDigest)));
  Expect(JudgeKernels({here.front()}), Severity::kWarning, "FMA");
  Expect(JudgeKernels({here.front(), {"avx2", here.front().digest, ""}}), Severity::kOk,
         "scalar, avx2");
}

// Adds from the first to the last, where every other machine has 16 lanes.
float SumInAnotherOrder(const float* x, std::size_t count) {
  float sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += x[i];
  return sum;
}

TEST(DoctorTest, OneKernelWithAnotherOrderIsSerious) {
  exact::Kernels planted = exact::KernelsFor(exact::Level::kScalar);
  planted.sum = &SumInAnotherOrder;
  const KernelFacts facts = TryKernels(planted);
  EXPECT_NE(facts.digest, exact::kConformanceDigest);
  Expect(JudgeKernels({TryKernels(exact::KernelsFor(exact::Level::kScalar)), facts}),
         Severity::kSerious, "must give");
}

TEST(DoctorTest, Clock) {
  Expect(JudgeClock({.known = true, .synchronised = true, .max_error_seconds = 0.25}),
         Severity::kOk, "off by at most 0.2 s");
  Expect(JudgeClock({.known = true, .synchronised = false, .max_error_seconds = 16}),
         Severity::kWarning, "timedatectl");
  Expect(JudgeClock({}), Severity::kWarning, "does not say");
}

TEST(DoctorTest, Disk) {
  const DiskFacts good{.path = "/d",
                       .problem = "",
                       .network_type = "",
                       .free_bytes = std::uint64_t{50} << 30,
                       .median_sync = base::Milliseconds(2),
                       .longest_sync = base::Milliseconds(9)};
  Expect(JudgeDisk(good), Severity::kOk,
         "50.0 GiB free, a durable write takes 2.0 ms (longest 9.0");
  DiskFacts bad = good;
  bad.median_sync = base::Milliseconds(51);
  Expect(JudgeDisk(bad), Severity::kWarning, "SSD");
  bad = good;
  bad.free_bytes = 500 << 20;
  Expect(JudgeDisk(bad), Severity::kWarning, "500 MiB free");
  bad.free_bytes = 100 << 20;
  Expect(JudgeDisk(bad), Severity::kSerious, "free some space");
  bad = good;
  bad.network_type = "nfs";
  Expect(JudgeDisk(bad), Severity::kSerious, "nfs");
  bad = good;
  bad.problem = "cannot be written (Permission denied)";
  Expect(JudgeDisk(bad), Severity::kSerious, "--data-dir");

  const std::uint64_t gib = std::uint64_t{1} << 30;
  Expect(JudgeDisk(good, 6 * gib), Severity::kOk, "a member of this run keeps up to 6.0 GiB");
  bad = good;
  bad.free_bytes = 3 * gib;
  Expect(JudgeDisk(bad, 6 * gib), Severity::kSerious, "a full disk ends the node");
  bad.held_bytes = 4 * gib;
  Expect(JudgeDisk(bad, 6 * gib), Severity::kOk, "4.0 GiB of it are there");
}

TEST(DoctorTest, MemoryAndFiles) {
  const std::uint64_t gib = std::uint64_t{1} << 30;
  Expect(JudgeMemory({.available_bytes = 4 * gib, .limit_bytes = 0}), Severity::kOk, "4.0 GiB");
  Expect(JudgeMemory({.available_bytes = 4 * gib, .limit_bytes = gib / 4}), Severity::kWarning,
         "a limit of 256 MiB");
  Expect(JudgeMemory({.available_bytes = gib / 16, .limit_bytes = 0}), Severity::kSerious);
  Expect(JudgeMemory({.available_bytes = 4 * gib, .limit_bytes = 0}, 2 * gib), Severity::kOk,
         "needs about 2.0 GiB");
  Expect(JudgeMemory({.available_bytes = 4 * gib, .limit_bytes = 2 * gib}, 2 * gib),
         Severity::kWarning, "--recompute");
  Expect(JudgeMemory({.available_bytes = 4 * gib, .limit_bytes = gib}, 2 * gib),
         Severity::kSerious);
  Expect(JudgeMemory({.available_bytes = gib, .held_bytes = 2 * gib}, 2 * gib), Severity::kOk,
         "the one that runs has 2.0 GiB of it");
  Expect(JudgeFiles(1024, 4096), Severity::kOk);
  Expect(JudgeFiles(256, 4096), Severity::kWarning, "LimitNOFILE");
  Expect(JudgeFiles(64, 64), Severity::kSerious);
}

TEST(DoctorTest, Network) {
  Expect(JudgeListen({.address = "0.0.0.0:7000", .problem = ""}), Severity::kOk, "0.0.0.0:7000");
  Expect(JudgeListen({.address = "x", .problem = "the port is taken"}), Severity::kSerious,
         "the port is taken");
  const ReachFacts up{.peer = "aa", .address = "a:1", .problem = ""};
  const ReachFacts down{.peer = "bb", .address = "b:1", .problem = "Connection refused"};
  const ReachFacts dials{.peer = "cc", .address = "", .problem = ""};
  Expect(JudgeReach({up, dials}), Severity::kOk, "1 of 1 members");
  Expect(JudgeReach({up, down, dials}), Severity::kWarning, "bb at b:1: Connection refused");
  Expect(JudgeReach({down, dials}), Severity::kSerious, "0 of 1");
}

// Facts of the machine that runs the tests: only that they can be read.
TEST(DoctorFactsTest, AreReadFromThisMachine) {
  EXPECT_GE(ReadCpu().cores, 1u);
  EXPECT_GT(ReadMemory().available_bytes, 1u << 20);
  const DiskFacts disk = ReadDisk(::testing::TempDir() + "not/there/yet");
  EXPECT_EQ(disk.problem, "");
  EXPECT_GT(disk.longest_sync.ns, 0);
  EXPECT_GE(disk.longest_sync, disk.median_sync);
  EXPECT_NE(ReadDisk("/proc/none").problem, "");
  EXPECT_EQ(TryListen("127.0.0.1:0").problem, "");
  EXPECT_NE(TryListen("nonsense").problem, "");
  EXPECT_NE(TryReach("aa", "127.0.0.1:1").problem, "");
}

}  // namespace
}  // namespace ostraka::cli::doctor_test
