// How long a job takes in virtual time: a function of its kind and size, and a draw.
//
// Thread safety: pure function.
#pragma once

#include <cstdint>

#include "node/base/rng.h"
#include "node/base/time.h"
#include "node/protocol/ground/jobs.h"

namespace ostraka::sim {

// Of one machine.
struct JobTimes {
  base::Duration overhead = base::Microseconds(200);  // of any job
  base::Duration gradient = base::Milliseconds(20);   // of one gradient, beyond its floats
  std::int64_t gradient_ns_per_float = 20;
  std::int64_t other_ns_per_float = 2;  // per float read
  std::int64_t jitter_percent = 25;     // each job takes up to this much longer
  // Where a recomputation finds a difference and computes again (profile exact/1): what the second
  // pass takes of the first.
  std::int64_t again_percent = 100;
  // A gradient can end early between so many micro-batches.
  std::int64_t micro_batches = 4;
};

// Floats that the job reads: d for a gradient, rows x length for an aggregation, and so on.
std::uint64_t FloatsRead(const protocol::JobSpec& spec);

// Of the gradient that the job computes, between which it can end; 1 if it computes none.
std::int64_t BatchesOf(const protocol::JobSpec& spec);
// Of one pass, where a job may take two.
base::Duration DrawJobTime(const JobTimes& times, const protocol::JobSpec& spec, base::Rng& rng);

}  // namespace ostraka::sim
