// What a node does with the states that training reaches, its own business and no other member's:
// the options that `node` and `swarm` share.
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

// As arguments of `ostraka node`.
void AppendStateArguments(const StateOptions& options, std::vector<std::string>& arguments);

// InvalidArgument: neither "test" nor "validation".
base::StatusOr<train::HeldOut> HeldOutOf(const StateOptions& options);

// For a node of the run, whose failures are told on stderr.
std::unique_ptr<store::CheckpointWriter> MakeCheckpointWriter(const StateOptions& options,
                                                              const protocol::Manifest& manifest,
                                                              const std::string& data_dir,
                                                              const base::TensorLayout& layout);

}  // namespace ostraka::cli
