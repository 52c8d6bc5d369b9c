// Any text as a graph file: refused in one line, or a graph that prints to its own bytes. One that
// passes its checks must plan within the limits or be refused, and a small one must run: every
// level and the emulated device, whatever its memory cuts, give one gradient, and no step touches
// memory that is not its own (address sanitizer).
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "crypto/sign.h"
#include "exact/device/device_runner.h"
#include "exact/device/emulated_device.h"
#include "exact/graph/check.h"
#include "exact/graph/graph_text.h"
#include "exact/program/differentiate.h"
#include "exact/program/plan.h"
#include "exact/program/recompute.h"
#include "exact/run/runner.h"
#include "node/base/check.h"

namespace ostraka::exact {
namespace {

constexpr PlanLimits kSmall = {.max_bytes = 8 << 20, .max_operations = 2'000'000};

void CheckRefusal(const base::Status& status) {
  OSTRAKA_CHECK(status.code() == absl::StatusCode::kInvalidArgument);
  OSTRAKA_CHECK(!status.message().empty());
  OSTRAKA_CHECK(base::MessageOf(status).find('\n') == std::string::npos);
}

// Values that depend on their position alone, NaNs and subnormals among them.
std::vector<float> Values(std::size_t count) {
  constexpr float kSpecials[] = {1e-42F, -0.0F, 3e38F, std::bit_cast<float>(0xffc01234U)};
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = i % 97 == 96 ? kSpecials[i / 97 % 4] : static_cast<float>(i % 13) / 8 - 0.75F;
  }
  return values;
}

// What a program is run with.
struct Work {
  explicit Work(const Program& program) : parameters(Values(program.parameter_count)) {
    for (const std::size_t count : program.constant_elements) constants.push_back(Values(count));
    for (const Input& input : program.inputs) {
      const auto count = static_cast<std::size_t>(input.type.count());
      const bool of_integers = input.type.element == Element::kInt;
      floats.push_back(Values(of_integers ? 0 : count));
      integers.emplace_back(of_integers ? count : 0);
      for (std::size_t i = 0; i < integers.back().size(); ++i) {
        const auto span = static_cast<std::size_t>(input.bound - input.lowest);
        integers.back()[i] =
            static_cast<std::int32_t>(input.lowest + static_cast<std::int64_t>(i * 7 % span));
      }
    }
    for (std::size_t i = 0; i < floats.size(); ++i) inputs.push_back({floats[i], integers[i]});
  }

  std::vector<float> parameters;
  std::vector<std::vector<float>> constants;
  std::vector<std::vector<float>> floats;
  std::vector<std::vector<std::int32_t>> integers;
  std::vector<InputValues> inputs;
};

std::vector<std::uint32_t> BitsOf(const std::vector<float>& gradient, float loss) {
  std::vector<std::uint32_t> bits;
  for (const float value : gradient) bits.push_back(std::bit_cast<std::uint32_t>(value));
  bits.push_back(std::bit_cast<std::uint32_t>(loss));
  return bits;
}

std::vector<std::uint32_t> RunOn(const PlannedProgram& plan, const Work& work,
                                 const Kernels& kernels) {
  const aggregation::SerialExecutor executor;
  Runner runner(plan, work.constants, kernels, executor);
  std::vector<float> gradient(plan.program.parameter_count, 7);
  const auto loss = runner.Gradient(work.parameters, work.inputs, gradient);
  OSTRAKA_CHECK(loss.ok());
  return BitsOf(gradient, *loss);
}

std::vector<std::uint32_t> RunOnDevice(const DevicePlan& plan, const Work& work) {
  const auto device = MakeEmulatedDevice({.memory_bytes = plan.bytes, .buffer_bytes = plan.bytes});
  const auto runner = DeviceRunner::Make(plan, work.constants, *device);
  OSTRAKA_CHECK(runner.ok() && (*runner)->SetParameters(work.parameters).ok());
  const auto loss = (*runner)->AddGradient(work.inputs);
  std::vector<float> gradient(work.parameters.size(), 7);
  OSTRAKA_CHECK(loss.ok() && (*runner)->TakeMean(gradient).ok());
  return BitsOf(gradient, *loss);
}

void RunOne(std::string_view text) {
  const auto graph = ParseGraph(text);
  if (!graph.ok()) return CheckRefusal(graph.status());
  OSTRAKA_CHECK(PrintGraph(*graph) == text);
  const base::Status checked = CheckGraph(*graph);
  if (!checked.ok()) return CheckRefusal(checked);
  const auto plan = PlanMemory(Differentiate(*graph), kSmall, 1);
  if (!plan.ok()) return CheckRefusal(plan.status());
  const Work work(plan->program);
  const std::vector<std::uint32_t> expected = RunOn(*plan, work, KernelsFor(Level::kScalar));
  OSTRAKA_CHECK(RunOn(*plan, work, BestKernels()) == expected);
  for (const std::uint64_t bytes : {64 << 20, 64 << 10, 1 << 10}) {
    const auto on_device =
        PlanDevice(Differentiate(*graph),
                   {.memory_bytes = 64 << 20, .buffer_bytes = bytes, .scratch_bytes = bytes});
    if (!on_device.ok()) {
      CheckRefusal(on_device.status());
    } else {
      OSTRAKA_CHECK(RunOnDevice(*on_device, work) == expected);
    }
  }
  // Parts of the forward pass twice, cut where the text's length says.
  const Program program = Differentiate(*graph);
  if (program.forward_steps < 2) return;
  const std::vector<std::size_t> cuts = {1 + text.size() % (program.forward_steps - 1)};
  for (const auto& again :
       {PlanMemory(Recompute(program, cuts), {}, 1), PlanLeastMemory(program, {}, 1)}) {
    OSTRAKA_CHECK(RunOn(*again, work, KernelsFor(Level::kScalar)) == expected);
  }
}

}  // namespace
}  // namespace ostraka::exact

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool initialized = ostraka::crypto::Initialize().ok();
  OSTRAKA_CHECK(initialized);
  ostraka::exact::RunOne({reinterpret_cast<const char*>(data), size});
  return 0;
}
