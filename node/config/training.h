// The trainer that a manifest asks for, with this machine's settings.
//
// Thread safety: pure functions, but for reading a graph file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "node/base/status.h"
#include "node/protocol/ground/manifest.h"
#include "node/train/trainer.h"

namespace ostraka::config {

// What a machine chooses for itself.
struct LocalTraining {
  std::string data = {};  // where the run's data are here (train::ParseDataSource), or empty
  // Of data that are fetched; null: from public addresses and folders, and nothing is kept.
  std::shared_ptr<const train::StreamAccess> stream = nullptr;
  std::string graph = {};           // where the run's graph file is here, or empty
  std::string kernels = {};         // of exact gradients; empty: the widest
  std::size_t threads = 1;          // of exact gradients
  bool recompute = false;           // TrainerOptions::recompute
  std::size_t sample_tokens = 0;    // TrainerOptions::sample_tokens
  std::string device = "cpu";       // of exact gradients: cpu, auto, or one of node/device
  std::uint64_t device_memory = 0;  // bytes that they may take there; 0: most of it
  train::HeldOut evaluate_on = train::HeldOut::kTest;
};

// The trainer options of `manifest` plus the settings of this machine. Reads the graph file and its
// constants, if the run trains one and `local` names it. InvalidArgument: unknown names, a model or
// data without a hash, data other than the manifest's, a graph for a run that trains none, a device
// for a run that can use none. Errors of ReadGraphOf, ReadConstants and device::CheckDeviceName.
base::StatusOr<train::TrainerOptions> TrainerOptionsOf(const protocol::Manifest& manifest,
                                                       const LocalTraining& local);

// The profile of a run for which nobody chose one: exact/1 if exact kernels train its model.
std::string_view DefaultProfile(std::string_view model);

// InvalidArgument unless this build knows the manifest's model and data.
base::Status CheckTraining(const protocol::Manifest& manifest);

// FailedPrecondition unless a model of `dimension` parameters can be cut into parts for `members`,
// and the parts of the genesis' owners are not too long for the codec of results: what an owner can
// add unseen grows with them.
base::Status CheckDimension(std::uint64_t dimension, std::size_t members,
                            const protocol::Manifest& manifest);

}  // namespace ostraka::config
