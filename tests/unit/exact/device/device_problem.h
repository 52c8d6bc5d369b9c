// Problems on a device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "exact/device/device_runner.h"
#include "tests/unit/exact/model_digests.h"

namespace ostraka::exact::testing {

inline constexpr DeviceLimits kRoomy = {.memory_bytes = std::uint64_t{1} << 30,
                                        .buffer_bytes = std::uint64_t{1} << 30};

// With the problem's parameters.
inline std::unique_ptr<DeviceRunner> RunnerFor(const Problem& problem, Device& device,
                                               const DeviceLimits& limits = kRoomy) {
  auto plan = PlanDevice(Differentiate(problem.graph), limits);
  OSTRAKA_CHECK(plan.ok());
  auto runner = DeviceRunner::Make(*std::move(plan), problem.constants, device);
  OSTRAKA_CHECK(runner.ok());
  OSTRAKA_CHECK((*runner)->SetParameters(problem.parameters).ok());
  return *std::move(runner);
}

inline Gradient GradientBy(DeviceRunner& runner, const Problem& problem) {
  Gradient gradient;
  gradient.values.resize(problem.parameters.size());
  gradient.loss = runner.AddGradient(problem.inputs()).value();
  OSTRAKA_CHECK(runner.TakeMean(gradient.values).ok());
  return gradient;
}

// As DigestOf by kernels.
inline base::Digest DigestOf(const Problem& problem, Device& device) {
  const auto runner = RunnerFor(problem, device);
  return DigestOf(GradientBy(*runner, problem));
}

}  // namespace ostraka::exact::testing
