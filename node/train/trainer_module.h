// What a trainer module (a shared library such as libostraka_torch.so) exports: one C function
// named kTrainerModuleEntry that returns a TrainerModule.
//
// Everything else of the module is hidden, and nothing is ever unloaded: trainers' code must
// outlive them, and the libraries below them do not survive an unloading.
#pragma once

#include <cstdint>
#include <memory>

#include "node/base/status.h"
#include "node/train/trainer.h"

namespace ostraka::train {

// Changes whenever Trainer, TrainerOptions or TrainerModule do. A module of another version is
// refused before anything of it but the two numbers is used.
inline constexpr std::uint32_t kTrainerModuleVersion = 3;
inline constexpr char kTrainerModuleEntry[] = "ostraka_trainer_module";

struct TrainerModule {
  std::uint32_t version = kTrainerModuleVersion;
  std::uint32_t options_bytes = sizeof(TrainerOptions);  // sees a change that forgot the version
  // Never throws. InvalidArgument for options that the module cannot serve.
  base::StatusOr<std::unique_ptr<Trainer>> (*make)(const TrainerOptions& options) = nullptr;
  // What computes, for people: "libtorch 1.13.1".
  const char* library = "";
};

using TrainerModuleEntry = const TrainerModule*();

}  // namespace ostraka::train
