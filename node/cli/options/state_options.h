// What a node does with the states that training reaches, as options of `node` and `swarm`. Local
// settings: they do not affect other members.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/base/status.h"
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

}  // namespace ostraka::cli
