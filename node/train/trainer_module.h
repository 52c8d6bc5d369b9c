// The interface of a trainer module (a shared library such as libostraka_torch.so): one exported C
// function named kTrainerModuleEntry that returns a TrainerModule.
//
// Everything else in the module is hidden. Modules are never unloaded, because trainers' code must
// outlive them and the libraries below do not survive unloading.
#pragma once

#include <cstdint>
#include <memory>

#include "node/base/status.h"
#include "node/train/dataset.h"
#include "node/train/trainer.h"

namespace ostraka::train {

// Changes whenever Trainer, TrainerOptions, Dataset or TrainerModule change, or what a module can
// train (7: graphs). Of a module of another
// version, only the two numbers are read before it is refused.
inline constexpr std::uint32_t kTrainerModuleVersion = 15;
inline constexpr char kTrainerModuleEntry[] = "ostraka_trainer_module";

struct TrainerModule {
  std::uint32_t version = kTrainerModuleVersion;
  std::uint32_t options_bytes = sizeof(TrainerOptions);  // detects a change without a new version
  // A trainer over `data`. Never throws. InvalidArgument for options that the module cannot serve.
  base::StatusOr<std::unique_ptr<Trainer>> (*make)(const TrainerOptions& options,
                                                   Dataset data) = nullptr;
  // The module's library for people: "libtorch 1.13.1".
  const char* library = "";
};

using TrainerModuleEntry = const TrainerModule*();

}  // namespace ostraka::train
