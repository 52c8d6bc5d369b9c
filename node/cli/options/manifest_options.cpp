#include "node/cli/options/manifest_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "exact/graph/graph_text.h"
#include "exact/kernels/kernels.h"
#include "node/base/suggest.h"
#include "node/cli/options/choices.h"
#include "node/cli/options/update_choices.h"
#include "node/config/stream_access.h"
#include "node/config/training.h"
#include "node/protocol/ground/setting.h"
#include "node/train/data_source.h"
#include "node/train/exact/constants_file.h"
#include "node/train/exact/graph_file.h"
#include "node/train/exact/text_model.h"
#include "node/train/trainer_loader.h"

namespace ostraka::cli {

namespace setting = protocol::setting;

namespace {

constexpr base::Duration kBytesNeed = base::Seconds(20);

// By the work of the slowest machine: three times that for parts, which an aggregator waits for
// from the step's begin, and once where a step is quiet; beside it what the bytes need.
void SetWaitsFor(base::Duration work, protocol::Manifest& manifest) {
  manifest.work = work;
  manifest.part_timeout = work * 3 + kBytesNeed;
  manifest.adaptive = true;
  manifest.part_floor = base::Milliseconds(work.ns * 3 / 2'000'000) + base::Seconds(4);
  manifest.patience = std::max(manifest.patience, work);
}

base::Status SetDeadlines(const ManifestOptions& options, protocol::Manifest& manifest) {
  const auto of = [](std::uint64_t ms) {
    return base::Milliseconds(static_cast<std::int64_t>(ms));
  };
  manifest.delta = of(options.delta_ms);
  if (options.work_ms.value_or(0) > 0) SetWaitsFor(of(*options.work_ms), manifest);
  if (options.part_timeout_ms) manifest.part_timeout = of(*options.part_timeout_ms);
  if (options.part_floor_ms) {
    manifest.adaptive = true;
    manifest.part_floor = of(*options.part_floor_ms);
  }
  if (options.patience_ms) manifest.patience = of(*options.patience_ms);
  const base::Duration most = of(setting::kSealTimeout.most / 3);
  if (manifest.part_timeout > most) {
    const auto in_ms = [](base::Duration time) { return std::to_string(time.ns / 1'000'000); };
    return base::InvalidArgument(
        options.part_timeout_ms
            ? "--part-timeout-ms is at most " + in_ms(most) + ", a third of a day"
            : "--work-ms is at most " + in_ms({(most - kBytesNeed).ns / 3}) +
                  ": the wait for parts would be 3 work_ms + " + in_ms(kBytesNeed) +
                  ", more than a third of a day");
  }
  // Validate refuses a manifest in which a seal ends before its parts can arrive.
  manifest.seal_timeout = std::max(manifest.seal_timeout, manifest.part_timeout * 3);
  return base::OkStatus();
}

constexpr std::string_view kGraphSource = "graph:";

// Models whose graph this command makes.
constexpr std::array<std::string_view, 3> kMade = {"gpt", "albert", "llama"};

bool IsMade(const std::string& model) {
  return std::find(kMade.begin(), kMade.end(), model) != kMade.end();
}

std::vector<std::string> Models() {
  std::vector<std::string> models = TextsOf(kMade);
  for (const std::string& model : train::TrainerModels()) {
    models.push_back(model == train::kGraphModel ? std::string(kGraphSource) : model);
  }
  return models;
}

// Of what --model takes: the names below CheckTrainerNames are those of a manifest.
base::Status CheckModel(const std::string& model) {
  if (model.starts_with(kGraphSource)) return base::OkStatus();
  std::vector<std::string> known = Models();
  if (std::find(known.begin(), known.end(), model) != known.end()) return base::OkStatus();
  std::replace(known.begin(), known.end(), std::string(kGraphSource), std::string("graph:FILE"));
  std::string list;
  for (const std::string& each : known) list += (list.empty() ? "" : " ") + each;
  const std::string meant = base::ClosestName(model, known);
  return base::InvalidArgument("unknown model '" + model + "'" +
                               (meant.empty() ? "" : "; did you mean '" + meant + "'?") +
                               "; known: " + list);
}

// A model of texts over the default data would fail by its shapes.
base::Status CheckReadsText(const std::string& model, const train::DataSource& source) {
  if (!IsMade(model) || source.name == "text" || source.name == train::kTokens) {
    return base::OkStatus();
  }
  return base::InvalidArgument("model " + model + " learns a text, and data " + source.name +
                               " are none: give --data text:FILE, any file (a book, say)");
}

// Data of which only the file is given.
base::Status CheckDataText(const std::string& text) {
  const auto parsed = train::ParseDataSource(text);
  if (parsed.ok() || text.find(':') != std::string::npos) return parsed.status();
  std::error_code ignored;
  if (std::filesystem::is_directory(text, ignored)) {
    return base::InvalidArgument("--data " + text + ": say what is in the folder: mnist:" + text +
                                 " (IDX files) or cifar10:" + text + " (binary batches)");
  }
  if (std::filesystem::exists(text, ignored)) {
    return base::InvalidArgument("--data " + text + ": say what the file is: text:" + text +
                                 ", or tokens:" + text + " if `ostraka data pack` made it");
  }
  return parsed.status();
}

// What a run of this graph trains, on what, and in which batches.
base::Status TakeGraph(const ManifestOptions& options, const std::string& text,
                       protocol::TrainingPlan& plan, train::DataSource& source) {
  ASSIGN_OR_RETURN(const exact::Graph graph, train::GraphOf(text));
  plan.model = train::TextOf(train::ModelId{std::string(train::kGraphModel), exact::GraphId(text)});
  if (!options.batch_size) {
    ASSIGN_OR_RETURN(plan.batch_size, train::BatchOf(graph));
  }
  if (source.name == "text") source.name = train::kTokens;
  if (source.name != train::kTokens) return base::OkStatus();
  ASSIGN_OR_RETURN(source.context, train::ContextOf(graph));
  return base::OkStatus();
}

base::Status SetCodecs(const ManifestOptions& options, protocol::Manifest& manifest) {
  ASSIGN_OR_RETURN(manifest.codecs.parts, CodecOf(options.part_codec));
  ASSIGN_OR_RETURN(manifest.codecs.results, CodecOf(options.result_codec));
  manifest.tau_initial = protocol::FirstTau(manifest.codecs);
  return base::OkStatus();
}

base::Status SetProfile(const ManifestOptions& options, const std::string& model,
                        protocol::Manifest& manifest) {
  manifest.compute_profile =
      options.profile.empty() ? std::string(config::DefaultProfile(model)) : options.profile;
  if (manifest.compute_profile == protocol::kExact) {
    manifest.eps_g = 0;
  } else if (manifest.compute_profile != protocol::kTolerant) {
    return base::InvalidArgument("--profile must be exact/1 or tolerant, not '" +
                                 manifest.compute_profile + "'");
  }
  return base::OkStatus();
}

}  // namespace

base::StatusOr<train::GraphFiles> GraphFilesOf(const ManifestOptions& options) {
  const std::string& model = options.manifest.training.model;
  train::GraphFiles files;
  if (model.starts_with(kGraphSource)) {
    const std::string path = model.substr(kGraphSource.size());
    ASSIGN_OR_RETURN(files.text, train::ReadGraphFile(path));
    const auto graph = train::GraphOf(files.text);
    if (!graph.ok()) {
      return base::MakeStatus(graph.status().code(), path + ": " + base::MessageOf(graph.status()));
    }
    ASSIGN_OR_RETURN(files.constants, train::ReadConstants(path, *graph));
    return files;
  }
  if (!IsMade(model)) return files;
  exact::ModelOptions sizes = options.sizes;
  sizes.model = model;
  const auto source = train::ParseDataSource(options.manifest.training.data);
  if (source.ok() && source->name == train::kTokens) {
    sizes.vocabulary = train::VocabularyOf(*source);
  }
  sizes.batch =
      static_cast<std::int64_t>(options.batch_size.value_or(options.manifest.training.batch_size));
  ASSIGN_OR_RETURN(const exact::Model made, exact::MakeModel(sizes));
  files.text = exact::PrintGraph(made.graph);
  if (!made.constants.empty()) files.constants = train::ConstantsBytes(made.constants);
  return files;
}

base::Status CheckNoLeak(const train::GraphFiles& graph, const protocol::Manifest& manifest,
                         std::vector<float> parameters) {
  ASSIGN_OR_RETURN(const train::DataId data, train::ParseDataId(manifest.training.data));
  if (graph.text.empty() || data.name != train::kTokens) return base::OkStatus();
  ASSIGN_OR_RETURN(const exact::Graph parsed, train::GraphOf(graph.text));
  ASSIGN_OR_RETURN(auto constants, train::ConstantsOf(parsed, graph.constants));
  return train::CheckNoLeak(parsed, std::move(constants), std::move(parameters));
}

std::string GraphBeside(const std::string& manifest_file) { return manifest_file + ".graph"; }

std::string GraphFileOf(const std::string& given, const std::string& manifest_file,
                        const protocol::Manifest& manifest) {
  const bool is_graph = manifest.training.model.starts_with(std::string(train::kGraphModel) + "@");
  return given.empty() && is_graph ? GraphBeside(manifest_file) : given;
}

std::vector<std::string> ModeNames() {
  std::vector<std::string> names;
  for (const protocol::Mode mode : {protocol::Mode::kMajority, protocol::Mode::kBalanced,
                                    protocol::Mode::kThird, protocol::Mode::kChecked}) {
    names.emplace_back(protocol::ModeName(mode));
  }
  return names;
}

std::vector<std::string> KernelNames() {
  std::vector<std::string> names;
  for (const exact::Level level : exact::kAllLevels) names.emplace_back(exact::LevelName(level));
  return names;
}

namespace {

base::StatusOr<config::UpdateWishes> WishesOf(const ManifestOptions& options) {
  config::UpdateWishes wishes = options.update;
  if (wishes.inner_rate && wishes.inner_steps.value_or(1) == 1) {
    return base::InvalidArgument(
        "--inner-rate is of local steps: give --inner-steps above 1 too, or leave it out");
  }
  if (!options.optimizer.empty()) {
    ASSIGN_OR_RETURN(wishes.optimizer, OptimizerOf(options.optimizer));
  }
  if (!options.schedule.empty()) {
    ASSIGN_OR_RETURN(wishes.schedule, ScheduleOf(options.schedule));
  }
  return wishes;
}

// `more`: what the option says beyond the manifest.
template <typename Value>
CLI::Option* AddSetting(CLI::App& command, const protocol::Setting& setting, Value& value,
                        const std::string& more = "") {
  return command.add_option(std::string(setting.flag), value, std::string(setting.help) + more);
}
// A wait, or a count that is checked before it is converted.
template <typename Value>
CLI::Option* AddRanged(CLI::App& command, const protocol::Setting& setting, Value& value,
                       const std::string& more = "") {
  return AddSetting(command, setting, value, more)->check(CLI::Range(setting.least, setting.most));
}

void AddUpdateOptions(CLI::App& command, ManifestOptions& options) {
  config::UpdateWishes& update = options.update;
  OfferChoices(AddSetting(command, setting::kOptimizer, options.optimizer,
                          " (default: sgd; nesterov with local steps)"),
               OptimizerNames());
  AddSetting(command, setting::kLearningRate, update.rate,
             " (default: by optimizer, model and data, docs/training.md)");
  OfferChoices(AddSetting(command, setting::kSchedule, options.schedule,
                          " (default: linear; cosine with local steps)"),
               ScheduleNames());
  AddSetting(command, setting::kWarmup, update.warmup_steps,
             " (default: 10; with local steps a sixth of those that train)");
  AddSetting(command, setting::kDecaySteps, update.decay_steps,
             " (default: a fifth of those that train)");
  AddSetting(command, setting::kMomentum, update.momentum,
             " (default: by model and data; 0 with --learning-rate; of nesterov 0.9, "
             "with local steps 0.8)");
  AddSetting(command, setting::kClipNorm, update.clip_norm,
             " (default: 0; of adamw and lamb 1, and by model and data, docs/training.md)");
  AddSetting(command, setting::kWeightDecay, options.manifest.training.weight_decay)
      ->capture_default_str();
  AddRanged(command, setting::kInnerSteps, update.inner_steps, " (default: 1; docs/training.md)");
  AddSetting(command, setting::kInnerRate, update.inner_rate, " (default: 0.006)");
}

// A rate that rises beyond the last step that trains never reaches its value.
base::Status CheckWarmup(const ManifestOptions& options, const protocol::TrainingPlan& plan) {
  const std::uint64_t warmup = options.update.warmup_steps.value_or(0);
  // The manifest's own check refuses a run in which no step trains.
  if (plan.steps <= plan.settle_steps) return base::OkStatus();
  const std::uint64_t train = plan.steps - plan.settle_steps;
  if (warmup <= train) return base::OkStatus();
  return base::InvalidArgument("--warmup " + std::to_string(warmup) + ": of " +
                               std::to_string(plan.steps) + " --steps " + std::to_string(train) +
                               " train, as the last " + std::to_string(plan.settle_steps) +
                               " only settle claims: give at most " + std::to_string(train));
}

// In the words of these options, and before a model's library is looked for.
base::Status CheckBatchesAndProfile(const protocol::Manifest& manifest) {
  const protocol::TrainingPlan& plan = manifest.training;
  if (plan.most_batches < plan.batches || plan.most_batches > 2 * plan.batches) {
    return base::InvalidArgument("--most-batches must be " + std::to_string(plan.batches) + " to " +
                                 std::to_string(2 * plan.batches) + ": --batches to twice as many");
  }
  const bool is_plain =
      plan.inner.steps == 1 && plan.most_batches == 1 && manifest.codecs == protocol::Codecs{};
  if (is_plain || manifest.compute_profile == protocol::kExact) return base::OkStatus();
  return base::InvalidArgument(
      "--inner-steps, --batches and codecs need profile exact/1: leave them out, or --profile");
}

}  // namespace

void AddManifestOptions(CLI::App& command, ManifestOptions& options) {
  auto& m = options.manifest;
  auto& t = m.training;
  AddSetting(command, setting::kName, m.name);
  OfferChoices(AddSetting(command, setting::kMode, options.mode), ModeNames())
      ->capture_default_str();
  OfferChoices(command.add_option(
                   "--model", t.model,
                   "softmax, mlp, cnn, toy, gpt, albert, llama, or graph:FILE (docs/graph.md)"),
               Models())
      ->capture_default_str();
  const auto size = [&command](const char* name, std::int64_t& value, const char* help) {
    command.add_option(name, value, help)->capture_default_str();
  };
  size("--layers", options.sizes.layers, "gpt, albert, llama: layers");
  size("--width", options.sizes.width, "gpt, albert, llama: width of the residual stream");
  size("--heads", options.sizes.heads, "gpt, albert, llama: heads of attention");
  size("--context", options.sizes.context,
       "gpt, albert, llama: bytes of text that a prediction sees");
  OfferChoices(command.add_option(
                   "--profile", options.profile,
                   "exact/1: gradients have equal bits on every machine; tolerant: by libtorch, "
                   "compared within eps_g (default: exact/1, but for cnn and toy)"),
               {protocol::kExact, protocol::kTolerant});
  OfferChoices(
      command.add_option(
          "--data", t.data,
          "digits (embedded), mnist:DIR (IDX files), cifar10:DIR (binary batches), "
          "text:FILE (any file), tokens:FILE (of `data pack`), examples:FILE (rows of named "
          "columns, for graph:FILE), stream:PLACE (such rows in chunks), or toy with model toy"),
      train::DataSourceBeginnings())
      ->capture_default_str();
  AddSetting(command, setting::kHidden, t.hidden)->capture_default_str();
  AddSetting(command, setting::kBatchSize, options.batch_size,
             " (default 32; of graph:FILE the file's)");
  AddRanged(command, setting::kBatches, t.batches)->capture_default_str();
  AddRanged(command, setting::kMostBatches, options.most_batches,
            " (default: as many as at least)");
  AddSetting(command, setting::kSteps, t.steps)->capture_default_str();
  AddUpdateOptions(command, options);
  AddSetting(command, setting::kValidators, m.validators)->capture_default_str();
  AddRanged(command, setting::kAlarmValidators, options.alarm_validators,
            " (default: from 16 members on a quarter of them)");
  OfferChoices(AddSetting(command, setting::kPartCodec, options.part_codec), PartCodecNames())
      ->capture_default_str();
  OfferChoices(AddSetting(command, setting::kResultCodec, options.result_codec), ResultCodecNames())
      ->capture_default_str();
  AddRanged(command, setting::kWork, options.work_ms,
            "; the waits below then follow from it (docs/operating.md)");
  AddRanged(command, setting::kPartTimeout, options.part_timeout_ms,
            " (default: " + std::to_string(m.part_timeout.ns / 1'000'000) + "; 3 work_ms + 20000)");
  AddRanged(command, setting::kPartFloor, options.part_floor_ms,
            ", so that the wait follows the run (default: it does not; 1.5 work_ms + 4000)");
  AddRanged(command, setting::kDelta, options.delta_ms)->capture_default_str();
  AddRanged(command, setting::kPatience, options.patience_ms,
            " (default: 1000, or --work-ms if that is more)");
}

void SetAlarm(const ManifestOptions& options, protocol::Manifest& manifest) {
  manifest.alarm_validators =
      options.alarm_validators.value_or(protocol::DefaultAlarm(manifest.members.size()));
}

base::StatusOr<protocol::Manifest> MakeManifest(const ManifestOptions& options) {
  protocol::Manifest manifest = options.manifest;
  ASSIGN_OR_RETURN(manifest.mode, protocol::ParseMode(options.mode));
  RETURN_IF_ERROR(SetDeadlines(options, manifest));
  protocol::TrainingPlan& plan = manifest.training;
  // The default data are meant for the other models.
  if (plan.model == "toy" && plan.data == "digits") plan.data = "toy";
  RETURN_IF_ERROR(CheckModel(plan.model));
  RETURN_IF_ERROR(CheckDataText(plan.data));
  ASSIGN_OR_RETURN(train::DataSource source, train::ParseDataSource(plan.data));
  RETURN_IF_ERROR(CheckReadsText(plan.model, source));
  plan.batch_size = options.batch_size.value_or(plan.batch_size);
  plan.most_batches = static_cast<std::uint32_t>(options.most_batches.value_or(plan.batches));
  ASSIGN_OR_RETURN(const train::GraphFiles graph, GraphFilesOf(options));
  if (!graph.text.empty()) RETURN_IF_ERROR(TakeGraph(options, graph.text, plan, source));
  const std::string model = plan.model.substr(0, plan.model.find('@'));
  RETURN_IF_ERROR(SetProfile(options, model, manifest));
  RETURN_IF_ERROR(SetCodecs(options, manifest));
  train::DataId id{.name = source.name, .hash = {}};
  // Check names first: that is faster than reading files.
  RETURN_IF_ERROR(train::CheckTrainerNames(
      {.model = model, .data = id.name, .exact = manifest.compute_profile == protocol::kExact}));
  ASSIGN_OR_RETURN(const config::UpdateWishes wishes, WishesOf(options));
  config::SetUpdate(wishes, model, id.name, plan);
  RETURN_IF_ERROR(CheckWarmup(options, plan));
  RETURN_IF_ERROR(CheckBatchesAndProfile(manifest));
  if (id.name != "toy") {
    source.access = config::StreamAccessOf({.allow_private = options.allow_private_sources});
    ASSIGN_OR_RETURN(const train::Dataset data, train::LoadDataset(source));
    id.hash = train::HashOf(data);
  }
  plan.data = train::TextOf(id);
  return manifest;
}

}  // namespace ostraka::cli
