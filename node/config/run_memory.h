// What a member of a run needs of its machine's memory, before it starts: counted, not measured.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/base/status.h"
#include "node/protocol/ground/manifest.h"
#include "node/train/trainer.h"

namespace ostraka::config {

struct MemoryRow {
  std::string what;  // for people
  std::uint64_t bytes = 0;
};

// In a quiet step, row by row. Without what the trainer does not
// tell (Trainer::WorkingBytes). REQUIRES: the trainer is of the manifest.
std::vector<MemoryRow> MemoryRowsOf(const protocol::Manifest& manifest,
                                    const train::Trainer& trainer);
std::uint64_t SumOf(const std::vector<MemoryRow>& rows);

}  // namespace ostraka::config
