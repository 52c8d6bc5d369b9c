// Makes the trainer that a manifest names. Models that need libtorch are in a module that is loaded
// on first use, so that programs that do not train start in milliseconds.
//
// Thread safety: safe from any thread (dlopen is); trainers have one thread each.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/base/status.h"
#include "node/train/dataset.h"
#include "node/train/trainer.h"

namespace ostraka::train {

// The models that a trainer can be made of, `graph` among them.
std::vector<std::string> TrainerModels();

// InvalidArgument, with a list of what is known, unless the model and the data of `options` exist
// and fit each other. Loads nothing, so it can check a manifest on a machine that cannot train.
base::Status CheckTrainerNames(const TrainerOptions& options);

// InvalidArgument: unknown names, or values out of range. NotFound: the module is in none of
// ModuleCandidates(). Unavailable: it exists but does not load. FailedPrecondition: it is from
// another build. Each message is one line with a remedy.
base::StatusOr<std::unique_ptr<Trainer>> MakeTrainer(const TrainerOptions& options);

// The data that `options` name, for a trainer of them. LoadDatasetOf's errors; of tokens also
// GraphOf's. REQUIRES: a model other than the toy.
base::StatusOr<Dataset> LoadDataFor(const TrainerOptions& options);

// A trainer of the options' model over `data`, in place of the data that they name. InvalidArgument
// for the toy, which has no examples (node/train/toy_trainer.h); other errors as MakeTrainer.
base::StatusOr<std::unique_ptr<Trainer>> MakeTrainerOver(const TrainerOptions& options,
                                                         Dataset data);

// The module's library for people, for example "libtorch 1.13.1". Errors as MakeTrainer.
base::StatusOr<std::string> TrainerLibrary();

// Paths where the module may be, in order of search: beside the running program, in lib/ beside it,
// and in ../lib/ostraka/ as installed. None with OSTRAKA_STATIC: a module has the system's
// libstdc++, and such a program its own.
std::vector<std::string> ModuleCandidates();

// MakeTrainer, or with `data` MakeTrainerOver, but searches the module at `module_files`, in order.
base::StatusOr<std::unique_ptr<Trainer>> MakeTrainerFrom(
    const TrainerOptions& options, const std::vector<std::string>& module_files,
    std::optional<Dataset> data = std::nullopt);

}  // namespace ostraka::train
