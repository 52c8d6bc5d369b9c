#include "exact/device/conformance_program.h"

#include <bit>
#include <cstdint>
#include <optional>
#include <utility>

#include "aggregation/kernels/rows.h"
#include "crypto/domains.h"
#include "crypto/hash.h"
#include "exact/device/device_plan.h"
#include "exact/device/device_runner.h"
#include "exact/run/runner.h"
#include "node/base/bytes.h"

namespace ostraka::exact {

const std::string_view kProgramDigest =
    "6d6365c49cbd9b3728d7c609b55b2779b88141af2cfcd1f9cebb1acc2b20cc48";

namespace {

// So little that attention takes its queries in several cuts.
constexpr std::uint64_t kScratchBytes = std::uint64_t{64} << 10;

constexpr Tile kTiles[] = {Tile::kByShape, Tile::k32, Tile::k64, Tile::k128};

std::string NameOf(Tile tile) {
  switch (tile) {
    case Tile::kByShape:
      return "tiles by shape";
    case Tile::k32:
      return "tiles of 32";
    case Tile::k64:
      return "tiles of 64";
    case Tile::k128:
      return "tiles of 128";
  }
  return "";
}

void Feed(crypto::Hasher& hasher, const CaseResult& result) {
  hasher.Update(base::AsBytes(std::span<const float>(&result.loss, 1)));
  hasher.Update(base::AsBytes(std::span<const float>(result.gradient)));
}

template <typename Compute>
base::StatusOr<base::Digest> DigestOfCases(const Compute& compute) {
  crypto::Hasher hasher(crypto::kDomainConformance);
  for (const ConformanceCase& each : ConformanceCases()) {
    ASSIGN_OR_RETURN(const CaseResult result, compute(each));
    Feed(hasher, result);
  }
  return hasher.Finish();
}

std::string HexOf(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint8_t bytes[] = {
      static_cast<std::uint8_t>(bits >> 24), static_cast<std::uint8_t>(bits >> 16),
      static_cast<std::uint8_t>(bits >> 8), static_cast<std::uint8_t>(bits)};
  return "0x" + base::ToHex(bytes);
}

// Where two results differ first, in words.
std::optional<std::string> Difference(const CaseResult& got, const CaseResult& wanted) {
  const auto differ = [](float a, float b) {
    return std::bit_cast<std::uint32_t>(a) != std::bit_cast<std::uint32_t>(b);
  };
  const auto told = [](const std::string& what, float a, float b) {
    return what + " is " + HexOf(a) + ", not " + HexOf(b);
  };
  for (std::size_t i = 0; i < wanted.gradient.size(); ++i) {
    if (!differ(got.gradient[i], wanted.gradient[i])) continue;
    return told("element " + std::to_string(i) + " of the gradient", got.gradient[i],
                wanted.gradient[i]);
  }
  if (differ(got.loss, wanted.loss)) return told("the loss", got.loss, wanted.loss);
  return std::nullopt;
}

// Local steps by `runner`, in the words of docs/numerics.md, 10.
base::StatusOr<CaseResult> DescentOf(const ConformanceCase& each, Runner& runner) {
  aggregation::LocalDescent descent(each.local, each.parameters);
  const std::size_t batches = each.micro_batches.size() / each.local.count;
  CaseResult result;
  std::vector<float> next(each.parameters.size());
  for (std::size_t step = 0; step < each.local.count; ++step) {
    std::vector<float> sum;
    for (std::size_t batch = 0; batch < batches; ++batch) {
      const CaseInputs& inputs = each.micro_batches[step * batches + batch];
      ASSIGN_OR_RETURN(result.loss, runner.Gradient(descent.at(), inputs.values(), next));
      if (batches > 1) aggregation::ZeroNonFinite(next);
      if (sum.empty()) {
        sum = next;
      } else {
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += next[i];
      }
    }
    if (batches > 1) {
      const auto share = static_cast<float>(1.0 / static_cast<double>(batches));
      for (float& value : sum) value *= share;
    }
    descent.Step(sum);
  }
  result.gradient = descent.TakeDistance();
  return result;
}

base::StatusOr<CaseResult> DescentOf(const ConformanceCase& each, DeviceRunner& runner) {
  const std::size_t batches = each.micro_batches.size() / each.local.count;
  RETURN_IF_ERROR(runner.BeginDescent(static_cast<std::uint32_t>(batches)));
  CaseResult result;
  for (std::size_t step = 0; step < each.local.count; ++step) {
    for (std::size_t batch = 0; batch < batches; ++batch) {
      const CaseInputs& inputs = each.micro_batches[step * batches + batch];
      ASSIGN_OR_RETURN(result.loss, runner.AddGradient(inputs.values()));
      RETURN_IF_ERROR(runner.EndBatch());
    }
    RETURN_IF_ERROR(runner.StepDescent(each.local, step));
  }
  ASSIGN_OR_RETURN(result.gradient, runner.ReadParameters());
  aggregation::MakeDistance(each.parameters, result.gradient);
  return result;
}

}  // namespace

base::StatusOr<CaseResult> ResultOf(const ConformanceCase& each, const Kernels& kernels) {
  const aggregation::SerialExecutor one;
  ASSIGN_OR_RETURN(PlannedProgram plan, PlanMemory(each.program, {}, 1));
  Runner runner(std::move(plan), {}, kernels, one);
  if (each.local.count > 1) return DescentOf(each, runner);
  CaseResult result;
  std::vector<float> next(each.parameters.size());
  for (const CaseInputs& inputs : each.micro_batches) {
    ASSIGN_OR_RETURN(result.loss, runner.Gradient(each.parameters, inputs.values(), next));
    if (result.gradient.empty()) {
      result.gradient = next;
    } else {
      float* const sum = result.gradient.data();
      kernels.RunMap(Map::kAdd, {sum, next.data(), nullptr, 0, sum, next.size()});
    }
  }
  if (each.micro_batches.size() > 1) {
    float* const sum = result.gradient.data();
    const float share = 1 / static_cast<float>(each.micro_batches.size());
    kernels.RunMap(Map::kMulScalar, {sum, nullptr, nullptr, share, sum, next.size()});
  }
  return result;
}

base::StatusOr<CaseResult> ResultOf(const ConformanceCase& each, Device& device, Tile tile) {
  const DeviceTraits& traits = device.traits();
  ASSIGN_OR_RETURN(DevicePlan plan, PlanDevice(each.program, {.memory_bytes = traits.memory_bytes,
                                                              .buffer_bytes = traits.buffer_bytes,
                                                              .scratch_bytes = kScratchBytes}));
  ASSIGN_OR_RETURN(const std::unique_ptr<DeviceRunner> runner,
                   DeviceRunner::Make(std::move(plan), {}, device));
  runner->UseTile(tile);
  RETURN_IF_ERROR(runner->SetParameters(each.parameters));
  if (each.local.count > 1) return DescentOf(each, *runner);
  CaseResult result;
  for (const CaseInputs& inputs : each.micro_batches) {
    ASSIGN_OR_RETURN(result.loss, runner->AddGradient(inputs.values()));
  }
  result.gradient.resize(each.parameters.size());
  RETURN_IF_ERROR(runner->TakeMean(result.gradient));
  return result;
}

base::StatusOr<base::Digest> ProgramDigest(const Kernels& kernels) {
  return DigestOfCases([&](const ConformanceCase& each) { return ResultOf(each, kernels); });
}

base::StatusOr<base::Digest> ProgramDigest(Device& device) {
  return DigestOfCases(
      [&](const ConformanceCase& each) { return ResultOf(each, device, Tile::kByShape); });
}

base::Status CheckDevice(Device& device) {
  const std::vector<ConformanceCase> cases = ConformanceCases();
  std::vector<CaseResult> wanted;
  crypto::Hasher hasher(crypto::kDomainConformance);
  for (const ConformanceCase& each : cases) {
    ASSIGN_OR_RETURN(CaseResult result, ResultOf(each, BestKernels()));
    Feed(hasher, result);
    wanted.push_back(std::move(result));
  }
  const std::string digest = hasher.Finish().Hex();
  if (digest != kProgramDigest) {
    return base::FailedPrecondition("this machine's kernels give " + digest.substr(0, 16) +
                                    " for the conformance program, not " +
                                    std::string(kProgramDigest.substr(0, 16)) +
                                    ": no device can be compared with them");
  }
  for (const Tile tile : kTiles) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (tile != Tile::kByShape && !cases[i].of_products) continue;
      ASSIGN_OR_RETURN(const CaseResult got, ResultOf(cases[i], device, tile));
      const auto difference = Difference(got, wanted[i]);
      if (!difference) continue;
      return base::FailedPrecondition(device.traits().name +
                                      " computes other bits than every machine must: case '" +
                                      cases[i].name + "', " + NameOf(tile) + ": " + *difference);
    }
  }
  return base::OkStatus();
}

}  // namespace ostraka::exact
