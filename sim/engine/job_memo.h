// Runs jobs and remembers the results of jobs that many peers start: n peers apply an identical
// update to an identical state, compute one root and recompute one gradient.
//
// Promise: the result is exactly what running the job would give. A remembered result is used only
// if every field of the spec is equal. Bulk fields are equal if they are one object or have equal
// bits. (A hash would cost more than the jobs it saves.) Peers that share a result share its
// vectors, so nearly every comparison ends at the pointers.
// Memory: the last `Limits` specs and results of each kind, which keep their vectors alive.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "node/protocol/ground/jobs.h"

namespace ostraka::sim {

// protocol::RunJob with an executor bound, or a test's own.
using JobFunction =
    std::function<protocol::JobResult(const protocol::JobSpec&, const protocol::GradientFunction&)>;

class JobMemo {
 public:
  struct Limits {
    std::size_t gradients = 64;  // about four steps' worth: validators look two steps back
    std::size_t others = 8;      // of each other remembered kind
  };

  JobMemo(JobFunction run, protocol::GradientFunction gradients, Limits limits);
  JobMemo(const JobMemo&) = delete;
  JobMemo& operator=(const JobMemo&) = delete;

  // Never null.
  std::shared_ptr<const protocol::JobResult> Run(
      const std::shared_ptr<const protocol::JobSpec>& spec);

  std::uint64_t gradients_computed() const { return gradients_computed_; }
  std::uint64_t jobs_run() const { return jobs_run_; }

 private:
  struct Gradient {
    protocol::GradientSpec spec;
    std::vector<float> values;
  };
  struct Entry {
    std::shared_ptr<const protocol::JobSpec> spec;
    std::shared_ptr<const protocol::JobResult> result;
  };

  base::StatusOr<std::vector<float>> GradientOf(const protocol::GradientSpec& spec);

  JobFunction run_;
  protocol::GradientFunction compute_;
  protocol::GradientFunction remembering_;  // GradientOf, as RunJob wants it
  Limits limits_;
  std::deque<Gradient> gradients_;  // newest first
  std::deque<Entry> recomputations_;
  std::deque<Entry> updates_;
  std::deque<Entry> roots_;
  std::deque<Entry> parameters_roots_;
  std::uint64_t gradients_computed_ = 0;
  std::uint64_t jobs_run_ = 0;
};

// Equal in every field, floating-point fields by bits. For kinds that the memo does not remember
// (their specs differ from peer to peer anyway): false.
bool SameJob(const protocol::JobSpec& a, const protocol::JobSpec& b);

}  // namespace ostraka::sim
