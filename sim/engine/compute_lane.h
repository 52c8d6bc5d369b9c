// The compute thread of one simulated machine: gradients and recomputations one at a time, the most
// urgent first, as node/host/threads/job_pool.h J1 has it.
//
// Promises:
//   L1  What runs is at least as urgent as what waits, but for the micro-batch that it is in.
//   L2  A job that gives way begins anew later, and takes as long again.
//
// Memory: a record a job. Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "node/base/time.h"
#include "node/protocol/ground/jobs.h"

namespace ostraka::sim {

class ComputeLane {
 public:
  struct Job {
    protocol::JobId id = 0;
    std::shared_ptr<const protocol::JobSpec> spec;
    base::Duration takes;
    base::Duration micro_batch;  // positive; it can end early after each
  };

  // Takes in a job. True if what runs has changed: then End() is new.
  bool Start(Job job, base::Time now);
  // Nobody wants the job: it leaves the lane. When that is; nullopt if it is not in the lane. What
  // runs may have changed.
  std::optional<base::Time> Stop(protocol::JobId id, base::Time now);
  // What runs is done: the next one begins. REQUIRES: something runs.
  Job TakeDone(base::Time now);

  bool runs() const { return running_.has_value(); }
  // Tells what runs apart from what ran before it.
  std::uint64_t ticket() const { return ticket_; }
  base::Time End() const { return began_ + running_->takes; }

 private:
  void Begin(Job job, base::Time at);
  void BeginNext(base::Time at);
  // When what runs can end early; not after its end.
  base::Time GivesWay(base::Time now) const;

  std::deque<Job> waiting_;
  std::optional<Job> running_;
  base::Time began_;
  std::uint64_t ticket_ = 0;
};

}  // namespace ostraka::sim
