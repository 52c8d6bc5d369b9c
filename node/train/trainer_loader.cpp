#include "node/train/trainer_loader.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "node/train/data_source.h"
#include "node/train/exact/exact_trainer.h"
#include "node/train/exact/graph_file.h"
#include "node/train/examples_file.h"
#include "node/train/stream/stream_index.h"
#include "node/train/toy_trainer.h"
#include "node/train/trainer_module.h"

namespace ostraka::train {
namespace {

constexpr char kModuleFile[] = "libostraka_torch.so";
constexpr std::array<std::string_view, 5> kModels = {"toy", "softmax", "mlp", "cnn", kGraphModel};

base::Status CheckModelName(const std::string& name) {
  if (std::find(kModels.begin(), kModels.end(), name) != kModels.end()) return base::OkStatus();
  std::string message = "unknown model '" + name + "'; known:";
  for (const std::string_view each : kModels) message += " " + std::string(each);
  return base::InvalidArgument(message);
}

base::Status ModuleMissing(const std::string& model, const std::vector<std::string>& module_files) {
  if (module_files.empty()) {
    return base::NotFound(model + " needs " + kModuleFile +
                          ", which the program of a tarball or wheel does not load: take the "
                          "Debian packages ostraka and ostraka-trainer-torch, or `make torch` in "
                          "the sources");
  }
  std::string message = model + " needs " + kModuleFile + ", which is not at";
  for (const std::string& file : module_files) message += " " + file;
  return base::NotFound(message +
                        ": `make torch` builds it, the Debian package ostraka-trainer-torch "
                        "installs it");
}

// dlerror's text in one line.
std::string LoaderError() {
  const char* text = dlerror();
  std::string line = text == nullptr ? "no reason given" : text;
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

base::StatusOr<const TrainerModule*> LoadModuleFile(const std::string& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    return base::Unavailable("cannot load a trainer module: " + LoaderError() +
                             "; is libtorch installed (Debian package libtorch1.13)?");
  }
  auto* entry = reinterpret_cast<TrainerModuleEntry*>(dlsym(library, kTrainerModuleEntry));
  if (entry == nullptr) {
    return base::FailedPrecondition(file + " is no trainer module: it lacks " +
                                    kTrainerModuleEntry);
  }
  const TrainerModule* module = entry();
  if (module->version != kTrainerModuleVersion || module->options_bytes != sizeof(TrainerOptions)) {
    return base::FailedPrecondition(file + " is of another build (module version " +
                                    std::to_string(module->version) + ", this program has " +
                                    std::to_string(kTrainerModuleVersion) +
                                    "): build or install both together");
  }
  return module;
}

// `needed_by` begins the message if the module is missing.
base::StatusOr<const TrainerModule*> LoadModule(const std::string& needed_by,
                                                const std::vector<std::string>& module_files) {
  for (const std::string& file : module_files) {
    std::error_code error;
    if (std::filesystem::exists(file, error)) return LoadModuleFile(file);
  }
  return ModuleMissing(needed_by, module_files);
}

}  // namespace

std::vector<std::string> TrainerModels() { return {kModels.begin(), kModels.end()}; }

base::Status CheckTrainerNames(const TrainerOptions& options) {
  RETURN_IF_ERROR(CheckModelName(options.model));
  RETURN_IF_ERROR(CheckDataName(options.data));
  if ((options.model == "toy") != (options.data == "toy")) {
    return base::InvalidArgument("model toy goes with data toy and nothing else; got model " +
                                 options.model + ", data " + options.data);
  }
  if (options.model == "cnn" && options.data == "text") {
    return base::InvalidArgument("model cnn is for images: data text goes with softmax or mlp");
  }
  if ((options.data == kTokens) && options.model != kGraphModel) {
    return base::InvalidArgument("data tokens are for graphs: model " + options.model +
                                 " reads a text as text:FILE");
  }
  if ((options.data == kExamples || options.data == kStream) && options.model != kGraphModel) {
    return base::InvalidArgument("data " + options.data +
                                 " are for graphs: say --model graph:FILE, not " + options.model);
  }
  if (options.model == kGraphModel && options.data == "text") {
    return base::InvalidArgument("a graph reads a text as tokens: name data tokens");
  }
  if (options.exact && options.model == "cnn") {
    return base::InvalidArgument(
        "model cnn needs libtorch, whose gradients differ between machines: use compute_profile "
        "tolerant");
  }
  return base::OkStatus();
}

base::StatusOr<Dataset> LoadDataFor(const TrainerOptions& options) {
  DataSource source{.name = options.data, .dir = options.data_dir, .access = options.stream};
  if (options.data == kTokens) {
    ASSIGN_OR_RETURN(const exact::Graph graph, GraphOf(options.graph));
    ASSIGN_OR_RETURN(source.context, ContextOf(graph));
  }
  return LoadDatasetOf(source, options.data_hash);
}

std::vector<std::string> ModuleCandidates() {
#ifdef OSTRAKA_STATIC
  return {};
#else
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  // Without /proc, look in the current folder; the message will name it.
  const std::filesystem::path folder = error ? "." : program.parent_path();
  return {(folder / kModuleFile).string(), (folder / "lib" / kModuleFile).string(),
          (folder.parent_path() / "lib" / "ostraka" / kModuleFile).string()};
#endif
}

base::StatusOr<std::unique_ptr<Trainer>> MakeTrainer(const TrainerOptions& options) {
  return MakeTrainerFrom(options, ModuleCandidates());
}

base::StatusOr<std::unique_ptr<Trainer>> MakeTrainerOver(const TrainerOptions& options,
                                                         Dataset data) {
  return MakeTrainerFrom(options, ModuleCandidates(), std::move(data));
}

base::StatusOr<std::unique_ptr<Trainer>> MakeTrainerFrom(
    const TrainerOptions& options, const std::vector<std::string>& module_files,
    std::optional<Dataset> data) {
  RETURN_IF_ERROR(CheckTrainerNames(options));
  if (options.model == "toy") {
    if (data) return base::InvalidArgument("model toy has a problem of its own, and no data set");
    return MakeToyTrainer(options);
  }
  const TrainerModule* module = nullptr;
  if (!options.exact) {
    ASSIGN_OR_RETURN(module, LoadModule("model " + options.model, module_files));
  }
  if (!data) {
    ASSIGN_OR_RETURN(data, LoadDataFor(options));
  }
  return options.exact ? MakeExactTrainer(options, *std::move(data))
                       : module->make(options, *std::move(data));
}

base::StatusOr<std::string> TrainerLibrary() {
  ASSIGN_OR_RETURN(const TrainerModule* module, LoadModule("training", ModuleCandidates()));
  return std::string(module->library);
}

}  // namespace ostraka::train
