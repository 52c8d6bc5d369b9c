// What a node does with the states that training reaches, as options of `node` and `swarm`. Local
// settings: they do not affect other members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "node/base/status.h"
#include "node/base/tensor_layout.h"
#include "node/protocol/ground/manifest.h"
#include "node/store/checkpoint_writer.h"
#include "node/train/trainer.h"

namespace CLI {
class App;
}

namespace ostraka::cli {

struct StateOptions {
  std::string evaluate_on = "test";
  std::uint64_t checkpoint_every = 100;
  std::uint64_t keep_checkpoints = 3;
};

void AddStateOptions(CLI::App& command, StateOptions& options);

// The options as arguments of `ostraka node`.
void AppendStateArguments(const StateOptions& options, std::vector<std::string>& arguments);

// InvalidArgument: neither "test" nor "validation".
base::StatusOr<train::HeldOut> HeldOutOf(const StateOptions& options);

// The writer for a node of the run; it reports failures on stderr.
std::unique_ptr<store::CheckpointWriter> MakeCheckpointWriter(const StateOptions& options,
                                                              const protocol::Manifest& manifest,
                                                              const std::string& data_dir,
                                                              const base::TensorLayout& layout);

}  // namespace ostraka::cli
