// Bits and speed of a device, a line of JSON for each answer: what run.sh calls.
//
//   device_measure DEVICE digests            the nine gradients of docs/numerics.md 7
//   device_measure DEVICE cases SEEDS        drawn graphs of one operation, beside the processor
//   device_measure DEVICE conformance        the conformance program, with each kernel of products
//   device_measure DEVICE product ROWS COLUMNS DEPTH
//   device_measure DEVICE gpt LAYERS WIDTH HEADS CONTEXT VOCABULARY BATCH
//   device_measure DEVICE step LAYERS WIDTH HEADS CONTEXT VOCABULARY BATCH
// DEVICE: cpu, emulated, opencl:N or cuda:N, and after commas: ptx=FILE, own_division, options=TEXT
// (of OpenCL's compiler). Exit code: 0 done, 1 bits differ, 2 usage, 3 the device fails.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "crypto/sign.h"
#include "exact/device/conformance_program.h"
#include "exact/device/emulated_device.h"
#include "node/device/cuda_device.h"
#include "node/device/opencl_device.h"
#include "tests/unit/exact/device/device_problem.h"

namespace ostraka::exact {
namespace {

using Words = std::vector<std::string>;

enum Exit { kSame = 0, kDiffers = 1, kUsage = 2, kFails = 3 };

Words Split(const std::string& text, char at) {
  Words words = {""};
  for (const char c : text) {
    if (c == at) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

std::string FileText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Null: the processor.
base::StatusOr<std::unique_ptr<Device>> OpenFor(const std::string& text) {
  const Words words = Split(text, ',');
  const std::string& name = words[0];
  device::CudaOptions cuda;
  device::OpenClOptions opencl;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].starts_with("ptx=")) cuda.ptx = FileText(words[i].substr(4));
    if (words[i] == "own_division") opencl.own_division = true;
    if (words[i].starts_with("options=")) opencl.build_options = words[i].substr(8);
  }
  if (name == "cpu") return std::unique_ptr<Device>();
  if (name == "emulated") return MakeEmulatedDevice();
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos) return base::InvalidArgument("no device " + name);
  const auto index = static_cast<std::size_t>(std::atoi(name.c_str() + colon + 1));
  return name.starts_with("cuda") ? device::OpenCuda(index, cuda)
                                  : device::OpenOpenCl(index, opencl);
}

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The median of some runs after one that warms up.
base::StatusOr<double> Median(const std::function<base::Status()>& run) {
  constexpr int kRuns = 7;
  constexpr double kEnough = 20;  // seconds
  RETURN_IF_ERROR(run());
  std::vector<double> seconds;
  const double begin = Now();
  for (int i = 0; i < kRuns && Now() - begin < kEnough; ++i) {
    const double start = Now();
    RETURN_IF_ERROR(run());
    seconds.push_back(Now() - start);
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

class Measure {
 public:
  Measure(std::string name, Device* device) : name_(std::move(name)), device_(device) {}

  base::StatusOr<Exit> Digests() {
    int differ = 0;
    for (const testing::NamedProblem& each : testing::DigestProblems()) {
      const std::string got =
          (device_ == nullptr ? testing::DigestOf(each.problem, BestKernels(), one_, 1)
                              : testing::DigestOf(each.problem, *device_))
              .Short();
      const bool same = got == testing::kRecordedDigests.at(each.name);
      differ += same ? 0 : 1;
      std::printf(
          "{\"device\":\"%s\",\"what\":\"digest\",\"name\":\"%s\",\"digest\":\"%s\","
          "\"same\":%s}\n",
          name_.c_str(), each.name.c_str(), got.c_str(), same ? "true" : "false");
    }
    return differ == 0 ? kSame : kDiffers;
  }

  base::StatusOr<Exit> Cases(int seeds) {
    std::size_t cases = 0;
    std::size_t numbers = 0;
    std::string first;
    std::size_t differ = 0;
    for (int seed = 1; seed <= seeds; ++seed) {
      for (const ConformanceCase& each : DrawnCases(static_cast<std::uint64_t>(seed) + 1000)) {
        ASSIGN_OR_RETURN(const CaseResult wanted, ResultOf(each, BestKernels()));
        ASSIGN_OR_RETURN(const CaseResult got, ResultOf(each, *device_, Tile::kByShape));
        ++cases;
        numbers += wanted.gradient.size() + 1;
        const bool same = std::memcmp(&got.loss, &wanted.loss, sizeof(float)) == 0 &&
                          std::memcmp(got.gradient.data(), wanted.gradient.data(),
                                      wanted.gradient.size() * sizeof(float)) == 0;
        if (!same && differ++ == 0) first = each.name + " of seed " + std::to_string(seed);
      }
    }
    std::printf(
        "{\"device\":\"%s\",\"what\":\"cases\",\"cases\":%zu,\"numbers\":%zu,\"differ\":%zu,"
        "\"first\":\"%s\"}\n",
        name_.c_str(), cases, numbers, differ, first.c_str());
    return differ == 0 ? kSame : kDiffers;
  }

  base::StatusOr<Exit> Conformance() {
    const base::Status status = CheckDevice(*device_);
    if (!status.ok() && status.code() != absl::StatusCode::kFailedPrecondition) return status;
    std::printf("{\"device\":\"%s\",\"what\":\"conformance\",\"same\":%s,\"why\":\"%s\"}\n",
                name_.c_str(), status.ok() ? "true" : "false", base::MessageOf(status).c_str());
    return status.ok() ? kSame : kDiffers;
  }

  base::StatusOr<Exit> Product(std::size_t rows, std::size_t columns, std::size_t depth) {
    Program program;
    program.parameter_count = rows * depth + depth * columns;
    program.buffers = {
        {.place = Place::kParameter, .offset = 0, .count = rows * depth},
        {.place = Place::kParameter, .offset = rows * depth, .count = depth * columns},
        {.place = Place::kArena, .count = rows * columns}};
    program.steps = {{.kind = ProductStep{.rows = rows, .columns = columns, .depth = depth},
                      .reads = {0, 1},
                      .writes = {2}}};
    program.forward_steps = 1;
    program.loss = 2;
    const std::vector<float> parameters(program.parameter_count, 0.01F);
    ASSIGN_OR_RETURN(const double seconds, LossSeconds(program, parameters, {}));
    const double operations =
        2.0 * static_cast<double>(rows * columns) * static_cast<double>(depth);
    std::printf(
        "{\"device\":\"%s\",\"what\":\"product\",\"rows\":%zu,\"columns\":%zu,\"depth\":%zu,"
        "\"seconds\":%.6g,\"tflops\":%.4g}\n",
        name_.c_str(), rows, columns, depth, seconds, operations / seconds * 1e-12);
    return kSame;
  }

  // A gradient as a member's: parameters up, gradient down.
  base::StatusOr<Exit> Gpt(const ModelOptions& options) {
    const Model model = MakeModel(options).value();
    const testing::Problem problem = testing::DrawProblem(model.graph, 1, 0.02F, model.constants);
    testing::Gradient gradient;
    gradient.values.resize(problem.parameters.size());
    std::uint64_t operations = 0;
    base::StatusOr<double> seconds = 0.0;
    if (device_ == nullptr) {
      ASSIGN_OR_RETURN(PlannedProgram plan, PlanMemory(Differentiate(problem.graph), {}, 1));
      operations = plan.operations;
      Runner runner(std::move(plan), problem.constants, BestKernels(), one_);
      seconds = Median([&]() -> base::Status {
        ASSIGN_OR_RETURN(gradient.loss,
                         runner.Gradient(problem.parameters, problem.inputs(), gradient.values));
        return base::OkStatus();
      });
    } else {
      const auto runner = testing::RunnerFor(problem, *device_, Limits());
      operations = runner->plan().planned.operations;
      seconds = Median([&]() -> base::Status {
        RETURN_IF_ERROR(runner->SetParameters(problem.parameters));
        ASSIGN_OR_RETURN(gradient.loss, runner->AddGradient(problem.inputs()));
        return runner->TakeMean(gradient.values);
      });
    }
    RETURN_IF_ERROR(seconds.status());
    std::printf(
        "{\"device\":\"%s\",\"what\":\"gpt\",\"parameters\":%zu,\"batch\":%lld,\"context\":%lld,"
        "\"seconds\":%.6g,\"tflops\":%.4g,\"digest\":\"%s\"}\n",
        name_.c_str(), problem.parameters.size(), static_cast<long long>(options.batch),
        static_cast<long long>(options.context), *seconds,
        static_cast<double>(operations) / *seconds * 1e-12,
        testing::DigestOf(std::move(gradient)).Short().c_str());
    return kSame;
  }

  // A local step with its moments on the device, and one whose gradient the processor takes.
  base::StatusOr<Exit> LocalStep(const ModelOptions& options) {
    constexpr aggregation::LocalSteps kPlan = {.count = 1 << 20,
                                               .rate = 0.001,
                                               .clip_norm = 1,
                                               .beta1 = 0.9,
                                               .beta2 = 0.95,
                                               .epsilon = 1e-8};
    const Model model = MakeModel(options).value();
    const testing::Problem problem = testing::DrawProblem(model.graph, 1, 0.02F, model.constants);
    const auto runner = testing::RunnerFor(problem, *device_, Limits());
    RETURN_IF_ERROR(runner->BeginDescent(1));
    std::uint64_t steps = 0;
    ASSIGN_OR_RETURN(const double there, Median([&]() -> base::Status {
                       RETURN_IF_ERROR(runner->AddGradient(problem.inputs()).status());
                       RETURN_IF_ERROR(runner->EndBatch());
                       RETURN_IF_ERROR(runner->StepDescent(kPlan, steps++));
                       return device_->Finish();
                     }));
    ASSIGN_OR_RETURN(const std::vector<float> y, runner->ReadParameters());
    aggregation::LocalDescent descent(kPlan, problem.parameters);
    std::vector<float> gradient(problem.parameters.size());
    const auto step = [&]() -> base::Status {
      RETURN_IF_ERROR(runner->SetParameters(descent.at()));
      RETURN_IF_ERROR(runner->AddGradient(problem.inputs()).status());
      RETURN_IF_ERROR(runner->TakeMean(gradient));
      descent.Step(gradient);
      return base::OkStatus();
    };
    bool same = false;
    ASSIGN_OR_RETURN(const double here, Median([&]() -> base::Status {
                       RETURN_IF_ERROR(step());
                       const auto at = descent.at();
                       same = same || (descent.count() == steps &&
                                       std::equal(y.begin(), y.end(), at.begin(), at.end()));
                       return base::OkStatus();
                     }));
    while (!same && descent.count() < steps) {
      RETURN_IF_ERROR(step());
      same = descent.count() == steps && std::equal(y.begin(), y.end(), descent.at().begin());
    }
    std::printf(
        "{\"device\":\"%s\",\"what\":\"local step\",\"parameters\":%zu,\"batch\":%lld,"
        "\"context\":%lld,\"seconds\":%.6g,\"by_processor\":%.6g,\"same\":%s}\n",
        name_.c_str(), problem.parameters.size(), static_cast<long long>(options.batch),
        static_cast<long long>(options.context), there, here, same ? "true" : "false");
    return same ? kSame : kDiffers;
  }

 private:
  DeviceLimits Limits() const {
    const DeviceTraits& traits = device_->traits();
    return {.memory_bytes = traits.memory_bytes / 10 * 9, .buffer_bytes = traits.buffer_bytes};
  }

  base::StatusOr<double> LossSeconds(const Program& program, const std::vector<float>& parameters,
                                     const std::vector<InputValues>& inputs) {
    if (device_ == nullptr) {
      ASSIGN_OR_RETURN(PlannedProgram plan, PlanMemory(program, {}, 1));
      Runner runner(std::move(plan), {}, BestKernels(), one_);
      return Median([&] { return runner.Loss(parameters, inputs).status(); });
    }
    ASSIGN_OR_RETURN(DevicePlan plan, PlanDevice(program, Limits()));
    ASSIGN_OR_RETURN(const auto runner, DeviceRunner::Make(std::move(plan), {}, *device_));
    RETURN_IF_ERROR(runner->SetParameters(parameters));
    return Median([&] { return runner->Loss(inputs).status(); });
  }

  const std::string name_;
  Device* const device_;  // null: the processor
  const aggregation::SerialExecutor one_;
};

base::StatusOr<Exit> Run(const Words& words) {
  const auto number = [&](std::size_t i) { return std::atoll(words[i].c_str()); };
  const auto count = [&](std::size_t i) { return static_cast<std::size_t>(number(i)); };
  ASSIGN_OR_RETURN(const std::unique_ptr<Device> device, OpenFor(words[0]));
  Measure measure(words[0], device.get());
  const std::string& what = words[1];
  if (what == "digests" && words.size() == 2) return measure.Digests();
  if (what == "product" && words.size() == 5) return measure.Product(count(2), count(3), count(4));
  const bool is_gpt = words.size() == 8 && (what == "gpt" || what == "step");
  const ModelOptions gpt = !is_gpt ? ModelOptions{}
                                   : ModelOptions{.batch = number(7),
                                                  .layers = number(2),
                                                  .width = number(3),
                                                  .heads = number(4),
                                                  .context = number(5),
                                                  .vocabulary = number(6),
                                                  .base = {}};
  if (is_gpt && what == "gpt") return measure.Gpt(gpt);
  if (device == nullptr) return kUsage;
  if (is_gpt) return measure.LocalStep(gpt);
  if (what == "cases" && words.size() == 3) return measure.Cases(static_cast<int>(number(2)));
  if (what == "conformance" && words.size() == 2) return measure.Conformance();
  return kUsage;
}

int Main(const Words& words) {
  if (words.size() < 2 || !crypto::Initialize().ok()) return kUsage;
  const auto code = Run(words);
  if (code.ok()) return *code;
  std::fprintf(stderr, "device_measure: %s\n", base::MessageOf(code.status()).c_str());
  return kFails;
}

}  // namespace
}  // namespace ostraka::exact

int main(int argc, char** argv) { return ostraka::exact::Main({argv + 1, argv + argc}); }
