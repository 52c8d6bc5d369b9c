// What a program needs of a device, and where each buffer lies there: planned before anything is
// allocated.
//
// Memory is cut into slabs, because some devices cap a buffer at a quarter of their memory; no
// tensor lies in two. Scores of attention get what is left, up to a limit: any cut of the queries
// gives equal bits (exact/run/steps_attention.cpp).
//
// What an attacker can do here: a graph may name tensors of any size. They are counted before
// anybody allocates.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "exact/program/plan.h"
#include "node/base/status.h"

namespace ostraka::exact {

struct DeviceLimits {
  std::uint64_t memory_bytes = 0;  // of all buffers together
  std::uint64_t buffer_bytes = 0;  // of one buffer
  // Of scores of attention: more of them at once make fewer and larger launches.
  std::uint64_t scratch_bytes = std::uint64_t{256} << 20;
  // Whether gradients of several micro-batches are added: takes one vector of parameters more.
  bool adds = true;
};

// Consecutive elements of a flat vector.
struct Slab {
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
};

struct DevicePlan {
  PlannedProgram planned;                 // offsets in the arena as of one vector of equal slabs
  std::vector<Slab> arena = {};           // all but the last are equal
  std::vector<Slab> parameters = {};      // cuts between tensors; also of the gradient and of sums
  std::uint64_t scratch_elements = 0;     // of each of the buffers for scores; 0: no attention
  std::uint64_t scratch_buffers = 0;      // 1, or 2 if attention has a gradient
  std::uint64_t pair_elements = 0;        // of cross_entropy
  std::vector<std::uint32_t> table = {};  // extents and strides of gather and reduce steps
  std::vector<std::uint32_t> table_at = {};  // of each step: where its part of `table` begins
  std::uint64_t sorted_elements = 0;  // of positions by table row, of gradients of embeddings
  std::vector<std::uint32_t> sorted_at = {};  // of each step: where its own begin
  bool adds = false;
  std::uint64_t bytes = 0;  // of all buffers
  std::uint64_t left = 0;   // bytes of the device's memory that the plan has no use for
};

// InvalidArgument, with the sizes, if the program does not fit.
base::StatusOr<DevicePlan> PlanDevice(Program program, const DeviceLimits& limits);

// How many queries attention takes at once with a plan's scratch, and how many scores each of them
// has on the device at that time: of all heads forward, of one head of each group backward.
std::uint64_t ScoresOfQuery(const AttentionShape& shape, bool backward);
std::uint32_t CutOf(const DevicePlan& plan, const AttentionShape& shape, bool backward);

}  // namespace ostraka::exact
