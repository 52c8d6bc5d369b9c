// Looks for GPUs, and tries them, for node/cli/doctor/doctor.h.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "exact/device/conformance_program.h"
#include "exact/device/device_plan.h"
#include "exact/device/device_runner.h"
#include "exact/models/models.h"
#include "exact/program/differentiate.h"
#include "node/base/check.h"
#include "node/cli/doctor/doctor.h"
#include "node/device/hosted_device.h"

namespace ostraka::cli {
namespace {

namespace fs = std::filesystem;

// PCI's class of displays, whose kinds are VGA, 3D and others.
constexpr std::string_view kDisplay = "0x03";

std::size_t CardsOnTheBus() {
  std::size_t cards = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/sys/bus/pci/devices", error)) {
    std::ifstream file(entry.path() / "class");
    std::ifstream maker(entry.path() / "vendor");
    std::string kind;
    std::string vendor;
    if (!(file >> kind) || !(maker >> vendor) || !kind.starts_with(kDisplay)) continue;
    // Others are a virtual machine's or a server's screens.
    const bool computes = vendor == "0x10de" || vendor == "0x1002" || vendor == "0x8086";
    cards += computes ? 1 : 0;
  }
  return cards;
}

// Operations a second of the gradient of a small transformer, without the first.
base::StatusOr<double> MeasureFlops(exact::Device& device) {
  constexpr int kRuns = 3;
  const auto model = exact::MakeModel(
      {.batch = 8, .layers = 4, .width = 256, .heads = 4, .context = 256, .base = {}});
  OSTRAKA_CHECK(model.ok());
  const exact::DeviceTraits& traits = device.traits();
  ASSIGN_OR_RETURN(
      exact::DevicePlan plan,
      exact::PlanDevice(exact::Differentiate(model->graph), {.memory_bytes = traits.memory_bytes,
                                                             .buffer_bytes = traits.buffer_bytes}));
  const std::size_t count = plan.planned.program.parameter_count;
  const std::uint64_t operations = plan.planned.operations;
  ASSIGN_OR_RETURN(const std::unique_ptr<exact::DeviceRunner> runner,
                   exact::DeviceRunner::Make(std::move(plan), {}, device));
  const std::vector<std::int32_t> tokens(std::size_t{8} * 256, 1);
  const std::vector<exact::InputValues> inputs = {{.integers = tokens}, {.integers = tokens}};
  RETURN_IF_ERROR(runner->SetParameters(std::vector<float>(count, 0.01F)));
  RETURN_IF_ERROR(runner->AddGradient(inputs).status());
  const auto begin = std::chrono::steady_clock::now();
  for (int run = 0; run < kRuns; ++run) RETURN_IF_ERROR(runner->AddGradient(inputs).status());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(operations) * kRuns / took.count();
}

base::Status Try(DeviceFacts& facts) {
  ASSIGN_OR_RETURN(const auto opened, device::OpenHosted(facts.name));
  RETURN_IF_ERROR(exact::CheckDevice(*opened));
  ASSIGN_OR_RETURN(const double flops, MeasureFlops(*opened));
  facts.gflops = flops * 1e-9;
  return base::OkStatus();
}

}  // namespace

DevicesFacts ReadDevices() {
  DevicesFacts facts;
  const auto listed = device::ListHosted();
  if (!listed.ok()) {
    facts.missing.push_back(base::MessageOf(listed.status()));
    return facts;
  }
  for (const device::ListedDevice& each : *listed) {
    if (!each.error.empty()) {
      facts.missing.push_back(each.error);
      continue;
    }
    DeviceFacts found{.name = each.name,
                      .description = each.description,
                      .memory_bytes = each.memory_bytes,
                      .is_processor = each.is_processor,
                      .problem = {}};
    if (!found.is_processor) {
      if (const base::Status tried = Try(found); !tried.ok()) {
        found.problem = base::MessageOf(tried);
      }
    }
    facts.devices.push_back(std::move(found));
  }
  if (!device::MaySeeGpu()) facts.hidden_cards = CardsOnTheBus();
  return facts;
}

}  // namespace ostraka::cli
