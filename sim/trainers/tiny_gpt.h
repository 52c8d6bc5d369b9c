// A GPT that is small enough for a swarm in one process: one layer of width 16 over 16 letters, in
// the trainer that a node has for graph files. So what gradient attacks meet here is what they meet
// in a node: attention, layer norms, micro-batches and the exact kernels.
//
// Thread safety: free functions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "node/base/status.h"
#include "node/train/trainer.h"

namespace ostraka::sim {

enum class Targets : std::uint8_t {
  kTrue,
  kReversed,  // symbol K - 1 - y for y, of K: for attackers that flip labels
};

// The model as the text of a graph file, with micro-batches of so many records, all of a batch.
base::StatusOr<std::string> TinyGptGraph(std::uint64_t batch_size);

// Over the text of `seed`. MakeExactTrainer's errors.
base::StatusOr<std::unique_ptr<train::Trainer>> MakeTinyGpt(std::uint64_t seed,
                                                            std::uint64_t batch_size,
                                                            Targets targets);

}  // namespace ostraka::sim
