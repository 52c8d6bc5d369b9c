// ostraka memory: what a member of a run needs, and what training a transformer takes elsewhere.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "node/cli/model/commands.h"
#include "node/cli/model/training_memory.h"
#include "node/cli/options/choices.h"
#include "node/cli/options/manifest_options.h"
#include "node/cli/terminal/human.h"
#include "node/cli/views/disk_text.h"
#include "node/cli/views/node_json.h"
#include "node/config/manifest_toml.h"
#include "node/config/run_memory.h"
#include "node/config/training.h"
#include "node/train/trainer_loader.h"

namespace ostraka::cli {
namespace {

using nlohmann::json;

constexpr double kGiB = 1 << 30;

struct MemoryOptions {
  // Of a run.
  std::string manifest;
  std::string data;
  std::string graph;
  bool recompute = false;
  // Of the calculator.
  std::string preset;
  std::string precision = "O1";
  std::string optimizer = "adam";
  TrainingMemoryOptions training;
  bool keeps_activations = false;
  bool json = false;
};

const std::map<std::string, Precision> kPrecisions = {
    {"O0", Precision::kO0}, {"O1", Precision::kO1}, {"O3", Precision::kO3}};
const std::map<std::string, StateBits> kOptimizers = {
    {"adam", StateBits::k32}, {"16-bit-adam", StateBits::k16}, {"8-bit-adam", StateBits::k8}};

template <typename T>
std::vector<std::string> NamesIn(const std::map<std::string, T>& choices) {
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) names.push_back(name);
  return names;
}

std::vector<std::string> PresetNames() {
  std::vector<std::string> names;
  for (const TransformerSizes& sizes : TransformerPresets()) names.emplace_back(sizes.name);
  return names;
}

base::StatusOr<json> Compute(const MemoryOptions& options) {
  const auto sizes = FindTransformer(options.preset);
  if (!sizes) {
    return base::InvalidArgument("no preset '" + options.preset +
                                 "'; known: " + CLI::detail::join(PresetNames(), ", "));
  }
  TrainingMemoryOptions training = options.training;
  const auto precision = kPrecisions.find(options.precision);
  const auto optimizer = kOptimizers.find(options.optimizer);
  if (precision == kPrecisions.end()) {
    return base::InvalidArgument("--precision must be O0, O1 or O3");
  }
  if (optimizer == kOptimizers.end()) {
    return base::InvalidArgument("--optimizer must be adam, 16-bit-adam or 8-bit-adam");
  }
  training.precision = precision->second;
  training.state = optimizer->second;
  training.checkpoint = !options.keeps_activations;
  const TrainingMemory memory = TrainingMemoryOf(*sizes, training);
  return json{{"preset", options.preset},
              {"parameters", memory.parameters},
              {"device_gib", memory.device_bytes / kGiB},
              {"host_gib", memory.host_bytes / kGiB}};
}

// The table of a run, from the trainer that its members make.
ExitCode TellOfRun(const MemoryOptions& options) {
  struct Table {
    std::vector<config::MemoryRow> rows;
    protocol::DiskNeed disk;
  };
  const auto table = [&]() -> base::StatusOr<Table> {
    ASSIGN_OR_RETURN(const protocol::Manifest manifest, config::ReadManifestFile(options.manifest));
    ASSIGN_OR_RETURN(const train::TrainerOptions trainer_options,
                     config::TrainerOptionsOf(
                         manifest, {.data = options.data,
                                    .graph = GraphFileOf(options.graph, options.manifest, manifest),
                                    .recompute = options.recompute}));
    ASSIGN_OR_RETURN(const auto trainer, train::MakeTrainer(trainer_options));
    return Table{config::MemoryRowsOf(manifest, *trainer),
                 protocol::DiskOf(manifest, base::ElementCount(trainer->layout()))};
  }();
  if (!table.ok()) return Fail(table.status());
  if (options.json) {
    json list = json::array();
    for (const config::MemoryRow& row : table->rows) {
      list.push_back({{"what", row.what}, {"bytes", row.bytes}});
    }
    PrintJson({{"total_bytes", config::SumOf(table->rows)},
               {"rows", list},
               {"disk", DiskJson(table->disk)}});
    return kDone;
  }
  for (const config::MemoryRow& row : table->rows) {
    std::printf("%9s  %s\n", BytesText(row.bytes).c_str(), row.what.c_str());
  }
  std::printf(
      "%9s  in a quiet step; a case that is open takes up to a state's more for each step "
      "that it is about\n",
      BytesText(config::SumOf(table->rows)).c_str());
  std::printf("It keeps %s.\n", DiskText(table->disk).c_str());
  return kDone;
}

ExitCode RunCommand(const MemoryOptions& options) {
  if (!options.manifest.empty()) return TellOfRun(options);
  if (options.preset.empty()) {
    return Fail(base::InvalidArgument(
        "name a run's manifest, or with --preset a model: see `ostraka memory --help`"));
  }
  const auto result = Compute(options);
  if (!result.ok()) return Fail(result.status());
  if (options.json) {
    std::printf("%s\n", result->dump().c_str());
    return kDone;
  }
  std::printf("%s: %.0f million parameters\n", options.preset.c_str(),
              (*result)["parameters"].get<double>() / 1e6);
  std::printf("training with %s, %s: %.2f GiB on the device", options.optimizer.c_str(),
              options.precision.c_str(), (*result)["device_gib"].get<double>());
  if (options.training.offload) {
    std::printf(", %.2f GiB in the machine's memory", (*result)["host_gib"].get<double>());
  }
  std::printf("\n");
  return kDone;
}

}  // namespace

void AddMemoryCommand(CLI::App& program, Invocation& invocation) {
  auto* command = program.add_subcommand(
      "memory",
      "what a member of a run needs of its memory; or what training a well-known transformer takes "
      "with the usual frameworks");
  auto options = std::make_shared<MemoryOptions>();
  auto* manifest = command->add_option("manifest", options->manifest, "the run's manifest");
  command->add_option("--data", options->data, "where the run's data is on this machine")
      ->needs(manifest);
  command
      ->add_option("--graph", options->graph,
                   "the run's graph file, if it trains one (default: the manifest's path and "
                   ".graph)")
      ->needs(manifest);
  command->add_flag("--recompute", options->recompute, "as of a node with --recompute")
      ->needs(manifest);
  auto* preset = OfferChoices(
      command->add_option("--preset", options->preset, "a model, instead of a run"), PresetNames());
  preset->excludes(manifest);
  OfferChoices(command->add_option("--optimizer", options->optimizer,
                                   "adam with moments of 32 bits, 16-bit-adam or 8-bit-adam"),
               NamesIn(kOptimizers))
      ->capture_default_str()
      ->needs(preset);
  OfferChoices(
      command->add_option("--precision", options->precision, "O0: float32; O1: mixed; O3: float16"),
      NamesIn(kPrecisions))
      ->capture_default_str()
      ->needs(preset);
  command->add_option("--batch-size", options->training.batch, "sequences")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str()
      ->needs(preset);
  command
      ->add_flag("--offload", options->training.offload,
                 "optimizer and weight gradients in the machine's memory")
      ->needs(preset);
  command
      ->add_flag("--keep-activations", options->keeps_activations,
                 "all layers' activations, not computed again")
      ->needs(preset);
  command->add_flag("--json", options->json, "print one JSON object");
  command->footer(
      "Example: ostraka memory run.toml --data text:book.txt\n"
      "ostraka memory --preset bert-large --optimizer 8-bit-adam --offload");
  command->callback(
      [options, &invocation] { invocation.body = [options] { return RunCommand(*options); }; });
}

}  // namespace ostraka::cli
