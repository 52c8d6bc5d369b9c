// Any text as a graph file: refused in one line, or a graph that prints to its own bytes. One that
// passes its checks must plan within the limits or be refused, and a small one must run: every
// level gives one gradient, and no step touches memory that is not its own (address sanitizer).
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "crypto/sign.h"
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

void RunOn(const PlannedProgram& plan, const Kernels& kernels, std::vector<std::uint32_t>& bits) {
  std::vector<std::vector<float>> constants;
  for (const std::size_t count : plan.program.constant_elements) constants.push_back(Values(count));
  std::vector<std::vector<float>> floats;
  std::vector<std::vector<std::int32_t>> integers;
  for (const Input& input : plan.program.inputs) {
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
  std::vector<InputValues> inputs;
  for (std::size_t i = 0; i < floats.size(); ++i) inputs.push_back({floats[i], integers[i]});
  const aggregation::SerialExecutor executor;
  Runner runner(plan, constants, kernels, executor);
  std::vector<float> gradient(plan.program.parameter_count, 7);
  const auto loss = runner.Gradient(Values(gradient.size()), inputs, gradient);
  OSTRAKA_CHECK(loss.ok());
  gradient.push_back(*loss);
  for (const float value : gradient) bits.push_back(std::bit_cast<std::uint32_t>(value));
}

void RunOne(std::string_view text) {
  const auto graph = ParseGraph(text);
  if (!graph.ok()) return CheckRefusal(graph.status());
  OSTRAKA_CHECK(PrintGraph(*graph) == text);
  const base::Status checked = CheckGraph(*graph);
  if (!checked.ok()) return CheckRefusal(checked);
  const auto plan = PlanMemory(Differentiate(*graph), kSmall, 1);
  if (!plan.ok()) return CheckRefusal(plan.status());
  std::vector<std::uint32_t> expected;
  RunOn(*plan, KernelsFor(Level::kScalar), expected);
  std::vector<std::uint32_t> best;
  RunOn(*plan, BestKernels(), best);
  OSTRAKA_CHECK(best == expected);
  // Parts of the forward pass twice, cut where the text's length says.
  const Program program = Differentiate(*graph);
  if (program.forward_steps < 2) return;
  const std::vector<std::size_t> cuts = {1 + text.size() % (program.forward_steps - 1)};
  for (const auto& again :
       {PlanMemory(Recompute(program, cuts), {}, 1), PlanLeastMemory(program, {}, 1)}) {
    std::vector<std::uint32_t> found;
    RunOn(*again, KernelsFor(Level::kScalar), found);
    OSTRAKA_CHECK(found == expected);
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
