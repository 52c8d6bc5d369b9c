// ostraka generate: a text, continued by the model of a run.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "crypto/sign.h"
#include "node/cli/model/commands.h"
#include "node/cli/views/node_json.h"
#include "node/store/checkpoint.h"
#include "node/train/exact/constants_file.h"
#include "node/train/exact/graph_file.h"
#include "node/train/exact/text_model.h"

namespace ostraka::cli {
namespace {

namespace fs = std::filesystem;

struct GenerateOptions {
  std::string data_dir;
  std::string prompt;
  std::string graph;
  std::optional<std::uint64_t> step;
  std::uint64_t count = 200;
  std::optional<std::uint64_t> seed;
  train::Sampling sampling;
  bool json = false;
};

// A token is a byte, whatever the model could take.
constexpr std::uint32_t kTokens = 256;
// Many files beside a run are no runs'.
constexpr std::size_t kMostGraphs = 64;

// The graph files beside `folder` and in it, whatever they hold.
std::vector<std::string> GraphsNear(const fs::path& folder) {
  std::vector<std::string> found;
  for (const fs::path& place : {folder, folder.parent_path()}) {
    std::error_code error;  // an unreadable folder has none
    fs::directory_iterator entry(place, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      if (entry->path().extension() == ".graph" && found.size() < kMostGraphs) {
        found.push_back(entry->path().string());
      }
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

struct FoundGraph {
  std::string path;
  std::string text;
};

// The file of the graph whose id `model` names.
base::StatusOr<FoundGraph> FindGraph(const GenerateOptions& options, const std::string& model) {
  ASSIGN_OR_RETURN(const train::ModelId id, train::ParseModelId(model));
  if (id.name != train::kGraphModel) {
    return base::InvalidArgument("model " + model +
                                 " continues no text: a gpt, a llama or another "
                                 "graph of tokens does");
  }
  if (!options.graph.empty()) {
    ASSIGN_OR_RETURN(std::string text, train::ReadGraphOf(options.graph, id.graph));
    return FoundGraph{options.graph, std::move(text)};
  }
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(options.data_dir, error);
  if (error) return base::Unavailable(options.data_dir + ": " + error.message());
  for (const std::string& path : GraphsNear(folder)) {
    auto text = train::ReadGraphOf(path, id.graph);
    if (text.ok()) return FoundGraph{path, *std::move(text)};
  }
  return base::FailedPrecondition("no graph file of " + model.substr(0, 22) +
                                  " in this folder or the one above: name it with --graph");
}

struct Speaker {
  train::TextModel model;
  std::uint64_t step = 0;
};

base::StatusOr<Speaker> Open(const GenerateOptions& options) {
  ASSIGN_OR_RETURN(store::Checkpoint checkpoint,
                   store::ReadChosenCheckpoint(options.data_dir, options.step));
  ASSIGN_OR_RETURN(const FoundGraph found, FindGraph(options, checkpoint.metadata["model"]));
  ASSIGN_OR_RETURN(const exact::Graph graph, train::GraphOf(found.text));
  ASSIGN_OR_RETURN(const std::string bytes, train::ReadConstants(found.path, graph));
  ASSIGN_OR_RETURN(std::vector<std::vector<float>> constants, train::ConstantsOf(graph, bytes));
  if (checkpoint.layout != train::LayoutOf(graph.parameters)) {
    return base::InvalidArgument(options.data_dir + ": its state is not of the model of " +
                                 found.path);
  }
  ASSIGN_OR_RETURN(train::TextModel model, train::TextModel::Make(graph, std::move(constants),
                                                                  *checkpoint.state.parameters));
  return Speaker{std::move(model), checkpoint.step};
}

base::StatusOr<std::vector<std::int32_t>> TokensOf(const std::string& prompt,
                                                   std::uint32_t vocabulary) {
  std::vector<std::int32_t> tokens;
  // A text begins where a line ended.
  for (const char byte : prompt.empty() ? std::string("\n") : prompt) {
    tokens.push_back(static_cast<unsigned char>(byte));
    if (static_cast<std::uint32_t>(tokens.back()) < vocabulary) continue;
    return base::InvalidArgument("the prompt has the byte " + std::to_string(tokens.back()) +
                                 ", and the model's tokens are 0 to " +
                                 std::to_string(vocabulary - 1));
  }
  return tokens;
}

base::Status Generate(const GenerateOptions& options) {
  ASSIGN_OR_RETURN(Speaker speaker, Open(options));
  ASSIGN_OR_RETURN(std::vector<std::int32_t> tokens,
                   TokensOf(options.prompt, std::min(kTokens, speaker.model.vocabulary())));
  std::uint64_t seed = options.seed.value_or(0);
  if (!options.seed) {
    crypto::FillRandom({reinterpret_cast<std::uint8_t*>(&seed), sizeof(seed)});
    seed >>= 32;  // short enough to be typed again
  }
  base::Rng rng(seed);
  std::string all;
  std::string waits;  // the beginning of a character
  if (!options.json) {
    std::string_view prompt = options.prompt;
    std::fputs(PrintableText(prompt, /*whole=*/true).c_str(), stdout);
  }
  for (std::uint64_t i = 0; i < options.count; ++i) {
    ASSIGN_OR_RETURN(const std::vector<float> logits, speaker.model.LogitsAfter(tokens));
    const auto known = std::span(logits).first(std::min<std::size_t>(kTokens, logits.size()));
    tokens.push_back(train::DrawToken(known, options.sampling, rng));
    const char byte = static_cast<char>(static_cast<unsigned char>(tokens.back()));
    all += byte;
    waits += byte;
    if (options.json) continue;
    std::string_view rest = waits;
    std::fputs(PrintableText(rest, /*whole=*/false).c_str(), stdout);
    std::fflush(stdout);
    waits = std::string(rest);
  }
  if (options.json) {
    std::string_view text = all;
    PrintJson({{"prompt", options.prompt},
               {"text", PrintableText(text, /*whole=*/true)},
               {"tokens", options.count},
               {"step", speaker.step},
               {"seed", seed}});
    return base::OkStatus();
  }
  std::string_view rest = waits;
  std::printf("%s\n", PrintableText(rest, /*whole=*/true).c_str());
  if (!options.seed) {
    std::fprintf(stderr, "again: --seed %llu\n", static_cast<unsigned long long>(seed));
  }
  return base::OkStatus();
}

}  // namespace

void AddGenerateCommand(CLI::App& program, Invocation& invocation) {
  auto* command = program.add_subcommand("generate", "let the model of a run continue a text");
  auto options = std::make_shared<GenerateOptions>();
  command
      ->add_option("data_dir", options->data_dir,
                   "a node's data folder, of which the newest state speaks; the node may run")
      ->required();
  command->add_option("prompt", options->prompt, "the text to continue (default: a new line)");
  command->add_option("--graph", options->graph,
                      "the run's graph file (default: the one of its hash in the folder or above)");
  command->add_option("--step", options->step, "the state after this step");
  command->add_option("--tokens", options->count, "how many to add")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command
      ->add_option("--temperature", options->sampling.temperature,
                   "0: always the likeliest; 1: as the model has learned it")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  command->add_option("--top-k", options->sampling.top_k, "of so many of the likeliest (0: of all)")
      ->capture_default_str();
  command
      ->add_option("--top-p", options->sampling.top_p,
                   "of the likeliest that together have this probability")
      ->check(CLI::Range(0.001, 1.0))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "equal seeds draw equal texts (default: any)");
  command->add_flag("--json", options->json, "print one JSON object");
  command->footer("Example: ostraka generate node0 \"ROMEO:\"");
  command->callback([options, &invocation] {
    invocation.body = [options] {
      const base::Status status = Generate(*options);
      return status.ok() ? kDone : Fail(status);
    };
  });
}

}  // namespace ostraka::cli
