// What a member keeps in memory and on its disk that grows with the model, counted and not
// measured.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "node/protocol/ground/manifest.h"

namespace ostraka::protocol {

// Bytes, in a step in which no case is open.
struct MemoryNeed {
  std::uint64_t states = 0;   // parameters and slots: now, after the update, on their way to disk
  std::uint64_t served = 0;   // states for those that come or were away that are not on disk
  std::uint64_t past = 0;     // parameters of past steps, from which gradients are computed again
  std::uint64_t parts = 0;    // own and received, of two steps
  std::uint64_t results = 0;  // aggregates of this step and of those past steps
  std::uint64_t work = 0;     // the gradient, and what local steps remember

  std::uint64_t total() const { return states + served + past + parts + results + work; }
};

// Of a member that works and owns a part, in a run of the first members with a model of `dimension`
// parameters. REQUIRES: the manifest is valid.
MemoryNeed MemoryOf(const Manifest& manifest, std::uint64_t dimension);

// Bytes on the disk of a member.
struct DiskNeed {
  std::uint64_t kept = 0;        // at most, for members that come or were away: aggregates, states
  std::uint64_t checkpoint = 0;  // one of them
  std::uint64_t each_step = 0;   // written: its aggregates, and its share of the next state
};
DiskNeed DiskOf(const Manifest& manifest, std::uint64_t dimension);

// The most bytes that may wait for the member's disk: 256 MiB and the aggregates of four steps,
// which can arrive at once while the member catches up. A longer queue means a dead disk.
std::uint64_t MostWaitingForDisk(const Manifest& manifest, std::uint64_t dimension);

}  // namespace ostraka::protocol
