// Makes the trainer that a manifest names. Models that need libtorch live in a module that is
// loaded on first use, so that programs that do not train start in milliseconds.
//
// Thread safety: safe from any thread (dlopen is); trainers have one thread each.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "node/base/status.h"
#include "node/train/trainer.h"

namespace ostraka::train {

// InvalidArgument, listing what is known, unless the model and the data of `options` exist and go
// together. Loads nothing: for checking a manifest on a machine that cannot train.
base::Status CheckTrainerNames(const TrainerOptions& options);

// InvalidArgument: unknown names, or values out of range. NotFound: the module is in none of
// ModuleCandidates(). Unavailable: it is there but does not load. FailedPrecondition: it is of
// another build. Each message is one line that says what to do.
base::StatusOr<std::unique_ptr<Trainer>> MakeTrainer(const TrainerOptions& options);

// What the module computes with, for people; "libtorch 1.13.1". Errors as MakeTrainer.
base::StatusOr<std::string> TrainerLibrary();

// Where the module may be, in order: beside the running program, in lib/ beside it, and in
// ../lib/ostraka/ as installed.
std::vector<std::string> ModuleCandidates();

// MakeTrainer with the module sought at `module_files`, in order.
base::StatusOr<std::unique_ptr<Trainer>> MakeTrainerFrom(
    const TrainerOptions& options, const std::vector<std::string>& module_files);

}  // namespace ostraka::train
