// ostraka export: the model of a run, from a node's data folder, for other programs.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "node/cli/node/commands.h"
#include "node/cli/node/hf_folder.h"
#include "node/cli/options/command_line.h"
#include "node/cli/terminal/member_names.h"
#include "node/cli/terminal/new_file.h"
#include "node/cli/views/node_json.h"
#include "node/store/checkpoint.h"
#include "node/store/ledger_reader.h"

namespace ostraka::cli {
namespace {

using store::Checkpoint;
using store::CheckpointFile;

struct ExportOptions {
  std::string data_dir;
  std::string out_file;
  std::string like;  // a folder of transformers; empty: a file is written
  std::optional<std::uint64_t> step;
  bool json = false;
};

// `error` of reading the state of `step`, with the other states and the command that exports one.
base::Status WithOtherStates(const ExportOptions& options, std::uint64_t step,
                             const base::Status& error) {
  std::optional<std::uint64_t> best;  // the newest before, else the oldest after
  std::string steps;
  for (const CheckpointFile& file : store::ListCheckpoints(options.data_dir)) {
    if (file.step == step) continue;
    if (!best || file.step < step) best = file.step;
    steps += " " + std::to_string(file.step);
  }
  const std::string others = !best ? "; the folder holds no other state"
                                   : "; it holds the states of steps" + steps +
                                         ", too: ostraka export " + ShellWord(options.data_dir) +
                                         " " + ShellWord(options.out_file) + " --step " +
                                         std::to_string(*best);
  return base::MakeStatus(error.code(), base::MessageOf(error) + others);
}

base::StatusOr<Checkpoint> Read(const ExportOptions& options) {
  auto checkpoint = store::ReadChosenCheckpoint(options.data_dir, options.step);
  if (checkpoint.ok()) return checkpoint;
  const auto chosen = store::ChooseCheckpoint(options.data_dir, options.step);
  return chosen.ok() ? WithOtherStates(options, chosen->step, checkpoint.status())
                     : chosen.status();
}

// Whether the run sealed exactly this state: the block of the next step has its root, or one of the
// blocks that close the run. False if no block has it (--checkpoint-every is not a multiple of the
// manifest's state_root_every, or the run was stopped).
base::StatusOr<bool> IsSealed(store::LedgerReader& ledger, const Checkpoint& checkpoint) {
  const std::string root = checkpoint.metadata.at("state_root");
  std::optional<base::Digest> sealed;
  // The block of step s has height s + 1.
  RETURN_IF_ERROR(ledger.ForEachBlock(checkpoint.step + 2, [&](const wire::Block& block) {
    if (wire::TrainedSteps(block) > checkpoint.step + 1 && block.step > checkpoint.step + 1)
      return false;
    sealed = block.state_root;
    return !sealed;
  }));
  if (sealed && sealed->Hex() != root) {
    return base::FailedPrecondition("the state after step " + std::to_string(checkpoint.step) +
                                    " is not the one that the run sealed: export from another "
                                    "node's folder");
  }
  return sealed.has_value();
}

std::string Metadata(const Checkpoint& checkpoint, const std::string& key) {
  const auto entry = checkpoint.metadata.find(key);
  return entry == checkpoint.metadata.end() ? "" : entry->second;
}

void Print(const ExportOptions& options, const Checkpoint& checkpoint, bool sealed,
           const store::LedgerSummary& summary, const std::optional<HfFolder>& folder) {
  const std::uint64_t parameters = base::ElementCount(checkpoint.layout);
  if (!options.json) {
    const MemberNames names(summary.names);
    std::printf("%s: %s after step %llu, %zu tensors, %llu parameters%s, kept by %s\n",
                PrintableLine(options.out_file).c_str(),
                PrintableLine(Metadata(checkpoint, "model")).c_str(),
                static_cast<unsigned long long>(checkpoint.step), checkpoint.layout.size(),
                static_cast<unsigned long long>(parameters), sealed ? ", as the run sealed it" : "",
                names.Shown(summary.peer).c_str());
    if (folder && folder->frozen > 0) {
      std::printf("%zu tensors that the run does not train are those of %s\n", folder->frozen,
                  PrintableLine(options.like).c_str());
    }
    if (folder) {
      std::string copied;
      for (const std::string& file : folder->copied) copied += " " + file;
      std::printf("beside the model:%s\n", PrintableLine(copied).c_str());
    }
    return;
  }
  nlohmann::json tensors = nlohmann::json::array();
  for (const base::TensorSpec& tensor : folder ? folder->layout : checkpoint.layout) {
    tensors.push_back({{"name", tensor.name}, {"shape", tensor.shape}});
  }
  nlohmann::json result = {{"file", options.out_file},
                           {"step", checkpoint.step},
                           {"tensors", tensors},
                           {"parameters", parameters},
                           {"sealed", sealed}};
  for (const char* key : {"run_id", "model", "data", "inputs", "state_root"}) {
    result[key] = Metadata(checkpoint, key);
  }
  if (folder) result["copied"] = folder->copied;
  PrintJson(result);
}

base::Status Export(const ExportOptions& options) {
  ASSIGN_OR_RETURN(store::LedgerReader ledger, store::LedgerReader::Open(options.data_dir));
  ASSIGN_OR_RETURN(const store::LedgerSummary summary, ledger.Summary());
  ASSIGN_OR_RETURN(const Checkpoint checkpoint, Read(options));
  if (Metadata(checkpoint, "run_id") != summary.run_id.Hex()) {
    return base::InvalidArgument(store::CheckpointPath(options.data_dir, checkpoint.step) +
                                 " belongs to another run than the ledger beside it: move it away");
  }
  ASSIGN_OR_RETURN(const bool sealed, IsSealed(ledger, checkpoint));
  std::optional<HfFolder> folder;
  if (!options.like.empty()) {
    ASSIGN_OR_RETURN(folder, WriteHfFolder(checkpoint, options.like, options.out_file));
  } else if (const base::Status written = store::WriteModel(options.out_file, checkpoint);
             !written.ok()) {
    return base::MakeStatus(written.code(),
                            base::MessageOf(written) + ": give another path for the model");
  }
  Print(options, checkpoint, sealed, summary, folder);
  return base::OkStatus();
}

}  // namespace

void AddExportCommand(CLI::App& program, Invocation& invocation) {
  auto* command =
      program.add_subcommand("export", "write the model that a node trained to a safetensors file");
  auto options = std::make_shared<ExportOptions>();
  command->add_option("dir", options->data_dir, "the node's data folder (the node may be running)")
      ->required();
  WritesTo(command->add_option("file", options->out_file,
                               "the safetensors file to write, with --hf the folder"))
      ->required();
  command->add_option("--hf", options->like,
                      "the folder of the library transformers that the model came from "
                      "(config.json, tokenizer): write a folder like it, for from_pretrained");
  command->add_option("--step", options->step,
                      "export the state after this step (default: the newest)");
  command->add_flag("--json", options->json, "print one JSON object");
  command->footer(
      "Example: ostraka export out/node0 model.safetensors\n"
      "Tensors are named as in a PyTorch state_dict; the metadata says how inputs are scaled");
  command->callback([options, &invocation] {
    invocation.body = [options] {
      const base::Status status = Export(*options);
      return status.ok() ? kDone : Fail(status);
    };
  });
}

}  // namespace ostraka::cli
