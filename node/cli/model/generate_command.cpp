// ostraka generate: a text, continued by the model of a run.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
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
#include "node/train/tokens/speech.h"
#include "node/train/tokens/tokenizer_file.h"

namespace ostraka::cli {
namespace {

namespace fs = std::filesystem;

struct GenerateOptions {
  std::string data_dir;
  std::string prompt;
  std::string graph;
  std::string tokenizer;  // a file, or kBytes; empty: bytes, if the model has no more tokens
  std::optional<std::uint64_t> step;
  std::uint64_t count = 200;
  std::optional<std::uint64_t> seed;
  train::Sampling sampling;
  bool json = false;
};

constexpr const char* kBytes = "bytes";
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

base::StatusOr<train::Speech> SpeechOf(const std::string& tokenizer, std::uint32_t vocabulary) {
  if (tokenizer == kBytes) return train::Speech(vocabulary);
  if (tokenizer.empty()) {
    if (vocabulary <= train::kByteTokens) return train::Speech(vocabulary);
    return base::InvalidArgument(
        "the model has " + std::to_string(vocabulary) +
        " tokens, more than bytes: give the tokenizer of its data with --tokenizer FILE, or say "
        "--tokenizer bytes if it was trained on bytes");
  }
  ASSIGN_OR_RETURN(train::TokenizerFile file, train::ReadTokenizerFile(tokenizer));
  auto speech = train::Speech::By(std::move(file.tokenizer), vocabulary);
  if (speech.ok()) return speech;
  return base::InvalidArgument(tokenizer + " " + base::MessageOf(speech.status()));
}

base::Status Generate(const GenerateOptions& options) {
  ASSIGN_OR_RETURN(Speaker speaker, Open(options));
  ASSIGN_OR_RETURN(const train::Speech speech,
                   SpeechOf(options.tokenizer, speaker.model.vocabulary()));
  auto prompt = speech.TokensOf(options.prompt);
  if (!prompt.ok()) {
    return base::InvalidArgument("the prompt " + base::MessageOf(prompt.status()));
  }
  std::vector<std::int32_t> tokens = *std::move(prompt);
  std::uint64_t seed = options.seed.value_or(0);
  if (!options.seed) {
    crypto::FillRandom({reinterpret_cast<std::uint8_t*>(&seed), sizeof(seed)});
    seed >>= 32;  // short enough to be typed again
  }
  base::Rng rng(seed);
  std::string all;
  std::string waits;  // the beginning of a character
  if (!options.json) {
    std::string_view begin = options.prompt;
    std::fputs(PrintableText(begin, /*whole=*/true).c_str(), stdout);
  }
  for (std::uint64_t i = 0; i < options.count; ++i) {
    ASSIGN_OR_RETURN(std::vector<float> logits, speaker.model.LogitsAfter(tokens));
    const auto token = train::DrawKnown(std::move(logits), speech, options.sampling, rng);
    if (!token) {
      return base::InvalidArgument("the model says nothing that is a token: its training failed");
    }
    tokens.push_back(*token);
    const std::string bytes = speech.BytesOf(*token);
    all += bytes;
    waits += bytes;
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
  command->add_option("--tokenizer", options->tokenizer,
                      "the tokenizer.json of the run's data, or bytes if its text's bytes are the "
                      "tokens (default, if the model has no more tokens)");
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
