// The host's side of CUDA over a driver that emulates its device (fake_libcuda.cpp), and the PTX as
// text. Nothing here has met a GPU.
#include "node/device/cuda_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "exact/device/conformance_program.h"
#include "exact/device/emulated_device.h"
#include "exact/device/kernel_text.h"
#include "node/device/cuda_api.h"
#include "node/device/kernel_ptx.h"
#include "node/device/library.h"
#include "tests/unit/exact/device/device_problem.h"
#include "tests/unit/exact/testing.h"

namespace ostraka::device::cuda_device_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// The words of a line of PTX that computes with floats.
std::string OperationOf(const std::string& line) {
  static const std::regex kOperation(
      R"(^\s*(?:@!?%p\d+\s+)?([a-z0-9]+(?:\.[a-z0-9]+)*\.f(?:16|32|64)\S*)\s)");
  std::smatch match;
  return std::regex_search(line, match, kOperation) ? match[1].str() : "";
}

std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// If this fails, the text has changed: node/device/make_ptx.py makes the PTX anew.
TEST(Ptx, IsMadeOfTheText) {
  const base::Digest hash =
      crypto::Hash(crypto::kDomainConformance, base::AsBytes(exact::kKernelText));
  EXPECT_EQ(LinesOf(kKernelPtx).front(), "// kernels.inc " + hash.Hex());
}

// Each rounds once, to nearest, and none may be contracted; or it rounds nothing.
TEST(Ptx, ComputesFloatsByTheseAlone) {
  const std::set<std::string> allowed = {
      "add.rn.f32",       "sub.rn.f32",      "mul.rn.f32",    "fma.rn.f32",    "div.rn.f32",
      "sqrt.rn.f32",      "mov.f32",         "selp.f32",      "neg.f32",       "abs.f32",
      "ld.param.f32",     "ld.global.f32",   "st.global.f32", "ld.shared.f32", "st.shared.f32",
      "ld.shared.v4.f32", "ld.shared.v2.f32"};
  std::map<std::string, int> found;
  for (const std::string& line : LinesOf(kKernelPtx)) {
    const std::string operation = OperationOf(line);
    if (operation.empty() || operation.starts_with("setp.")) continue;
    EXPECT_TRUE(allowed.contains(operation)) << line;
    ++found[operation];
  }
  EXPECT_GT(found["fma.rn.f32"], 1000) << "the search finds nothing";
  EXPECT_GT(found["div.rn.f32"], 5);
  EXPECT_THAT(std::string(kKernelPtx), Not(ContainsRegex("ftz|approx|\\.full|\\.f64")));
  EXPECT_THAT(std::string(kKernelPtx), HasSubstr(".version 7.8\n.target sm_50\n"));
  EXPECT_EQ(OperationOf("\t@%p1 add.f32 \t%f1, %f2, %f3;"), "add.f32") << "would be seen";
}

// What launches hand over has the kinds that the PTX names.
TEST(Ptx, TakesTheParametersOfTheEmulation) {
  std::map<std::string, std::string> parameters;
  for (const std::string& line : LinesOf(kKernelPtx)) {
    static const std::regex kParameter(R"(\.param \.([ubf]\d+) (\w+)_param_\d+)");
    std::smatch match;
    if (line.starts_with("\tld") || !std::regex_search(line, match, kParameter)) continue;
    parameters[match[2]] += match[1] == "u64" ? 'b' : match[1] == "f32" ? 'f' : 'u';
  }
  EXPECT_EQ(parameters.size(), exact::kEmulatedKernels.size());
  for (const exact::EmulatedKernel& each : exact::kEmulatedKernels) {
    EXPECT_EQ(parameters[each.kernel.name], each.parameters) << each.kernel.name;
  }
}

TEST(CudaList, SaysThatThereIsNoLibrary) {
  const CudaOptions none = {.library = "libnothing_of_this_name.so.1"};
  EXPECT_EQ(ListCuda(none).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(base::MessageOf(OpenCuda(0, none).status()),
              HasSubstr("libnothing_of_this_name.so.1"));
  EXPECT_THAT(base::MessageOf(ListCuda({.library = "libc.so.6"}).status()), HasSubstr("cuInit"));
}

class OnFakeCuda : public ::testing::Test {
 protected:
  OnFakeCuda() : library_(LoadLibrary(OSTRAKA_FAKE_LIBCUDA).value()) { Fail("", 0, 0); }
  ~OnFakeCuda() override { EXPECT_EQ(Held(), 0) << "not given back to the driver"; }

  void Fail(const char* call, int at, int code) {
    void (*fail)(const char*, int, int) = nullptr;
    ASSERT_TRUE(FindFunction(library_, "FakeCudaFail", fail).ok());
    fail(call, at, code);
  }
  int Held() const {
    int (*held)() = nullptr;
    return FindFunction(library_, "FakeCudaHeld", held).ok() ? held() : -1;
  }

  void* library_;
  const CudaOptions fake_ = {.library = OSTRAKA_FAKE_LIBCUDA};
};

TEST_F(OnFakeCuda, IsDescribed) {
  const std::vector<CudaInfo> list = ListCuda(fake_).value();
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].name, "fake");
  EXPECT_EQ(list[0].major, 8);
  EXPECT_EQ(list[0].minor, 6);
  EXPECT_EQ(list[0].driver, 12020);
  EXPECT_EQ(list[0].memory_bytes, std::uint64_t{1} << 30);
  EXPECT_EQ(OpenCuda(1, fake_).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(OnFakeCuda, Conforms) {
  const auto device = OpenCuda(0, fake_).value();
  EXPECT_EQ(exact::ProgramDigest(*device).value().Hex(), exact::kProgramDigest);
}

TEST_F(OnFakeCuda, TellsWhatTheDriverSaysOfTheKernels) {
  const auto device = OpenCuda(0, {.library = OSTRAKA_FAKE_LIBCUDA, .ptx = "nonsense"});
  EXPECT_EQ(device.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(base::MessageOf(device.status()), HasSubstr("CUDA error 200 no PTX"));
}

// Two micro-batches of a small model and their mean.
base::Status Compute(const CudaOptions& options, std::vector<float>& mean) {
  const exact::Model model =
      exact::MakeModel({.model = "mlp", .batch = 2, .features = 5, .hidden = 7, .classes = 3})
          .value();
  const exact::testing::Problem problem = exact::testing::DrawProblem(model.graph, 1);
  mean.assign(problem.parameters.size(), 0);
  ASSIGN_OR_RETURN(const std::unique_ptr<exact::Device> device, OpenCuda(0, options));
  ASSIGN_OR_RETURN(exact::DevicePlan plan,
                   exact::PlanDevice(exact::Differentiate(problem.graph), exact::testing::kRoomy));
  ASSIGN_OR_RETURN(const std::unique_ptr<exact::DeviceRunner> runner,
                   exact::DeviceRunner::Make(std::move(plan), {}, *device));
  RETURN_IF_ERROR(runner->SetParameters(problem.parameters));
  for (int i = 0; i < 2; ++i) RETURN_IF_ERROR(runner->AddGradient(problem.inputs()).status());
  return runner->TakeMean(mean);
}

TEST_F(OnFakeCuda, EachCallThatFailsEndsInAStatus) {
  constexpr int kLost = 719;  // CUDA_ERROR_LAUNCH_FAILED
  std::vector<float> wanted;
  ASSERT_TRUE(Compute(fake_, wanted).ok());
  for (const char* call :
       {"cuInit", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceGetAttribute",
        "cuDeviceTotalMem_v2", "cuDevicePrimaryCtxRetain", "cuCtxSynchronize", "cuModuleLoadDataEx",
        "cuModuleGetFunction", "cuMemAlloc_v2", "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2",
        "cuLaunchKernel"}) {
    int at = 0;
    for (;; ++at) {
      Fail(call, at, kLost);
      std::vector<float> mean;
      const base::Status status = Compute(fake_, mean);
      Fail("", 0, 0);
      EXPECT_EQ(Held(), 0) << call << " at " << at;
      if (status.ok()) {
        EXPECT_EQ(exact::testing::BitsOf(mean), exact::testing::BitsOf(wanted));
        break;
      }
      EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << call << " at " << at;
    }
    EXPECT_GT(at, 0) << call;
  }
}

TEST_F(OnFakeCuda, SaysThatMemoryIsFull) {
  Fail("cuMemAlloc_v2", 0, cuda::kOutOfMemory);
  const auto device = OpenCuda(0, fake_).value();
  const auto buffer = device->Allocate(64);
  EXPECT_EQ(buffer.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(base::MessageOf(buffer.status()),
              HasSubstr("cuda fake, a buffer of 64 bytes: CUDA error 2"));
}

}  // namespace
}  // namespace ostraka::device::cuda_device_test
