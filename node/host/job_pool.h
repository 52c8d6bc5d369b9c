// The threads that work: one compute thread, which owns the trainer, and a few job threads for pure
// functions (protocol::RunJob). Jobs go in, completions come out; nothing else is shared.
//
// - A job that needs a gradient runs on the compute thread, in order of Start; the others on any
//   job thread, started in order of Start.
// - Evaluations run on the compute thread when no gradient waits. At most kMaxEvaluations wait: one
//   more pushes out the oldest, so that a slow evaluation can never hold up training.
// - Heavy pure jobs share idle job threads through aggregation::Executor; results do not depend on
//   it (aggregation/shared/rule.h).
// - Whatever a library throws becomes JobFailed or a Status.
//
// Thread safety: Start, Evaluate and stats from any thread; Shutdown from the owner's. Callbacks
// run on the working threads and must not block.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "node/base/status.h"
#include "node/base/time.h"
#include "node/protocol/ground/jobs.h"
#include "node/train/trainer.h"

namespace ostraka::host {

struct JobPoolOptions {
  std::size_t job_threads = 1;    // at least 1
  std::size_t max_queued = 4096;  // jobs waiting, of both kinds together
};

struct JobPoolCallbacks {
  std::function<void(protocol::JobId, std::shared_ptr<const protocol::JobResult>)> job_done;
  std::function<void(std::uint64_t step, base::StatusOr<train::Evaluation>)> evaluated;
};

struct JobPoolStats {
  std::uint64_t compute_jobs = 0;  // gradients and recomputations
  std::uint64_t pure_jobs = 0;
  std::uint64_t evaluations = 0;
  std::uint64_t evaluations_skipped = 0;
  base::Duration compute_busy;  // of the compute thread, evaluations not counted
  base::Duration pure_busy;     // summed over the job threads that own a job
  base::Duration evaluation_busy;
  std::size_t waiting = 0;  // now, evaluations not counted
};

class JobPool {
 public:
  static constexpr std::size_t kMaxEvaluations = 4;

  // REQUIRES: `trainer` is not null and used by nobody else until Shutdown has returned.
  JobPool(std::shared_ptr<train::Trainer> trainer, JobPoolOptions options,
          JobPoolCallbacks callbacks);
  ~JobPool();
  JobPool(const JobPool&) = delete;
  JobPool& operator=(const JobPool&) = delete;

  // Unavailable if max_queued jobs wait already.
  base::Status Start(protocol::JobId id, std::shared_ptr<const protocol::JobSpec> spec);
  // Evaluates `parameters`, the state after `step`.
  void Evaluate(std::uint64_t step, protocol::SharedVector parameters);

  // Drops what waits, lets what runs end, and joins the threads: afterwards no callback comes.
  // Start and Evaluate do nothing from here on.
  void Shutdown();

  JobPoolStats stats() const;

 private:
  struct Job {
    protocol::JobId id;
    std::shared_ptr<const protocol::JobSpec> spec;
  };
  struct Evaluation {
    std::uint64_t step;
    protocol::SharedVector parameters;
  };
  struct Loop;
  class LoopExecutor;

  void ComputeThread();
  void JobThread();
  void RunOne(const Job& job, bool compute);
  void EvaluateOne(const Evaluation& evaluation);
  void ParallelFor(std::size_t count, const std::function<void(std::size_t)>& body);

  const std::shared_ptr<train::Trainer> trainer_;
  const JobPoolOptions options_;
  const JobPoolCallbacks callbacks_;
  const std::unique_ptr<LoopExecutor> executor_;

  mutable std::mutex mutex_;
  // All below are guarded by mutex_.
  std::condition_variable compute_wake_;
  std::condition_variable job_wake_;
  std::deque<Job> compute_jobs_;
  std::deque<Evaluation> evaluations_;
  std::deque<Job> pure_jobs_;
  std::deque<std::shared_ptr<Loop>> loops_;  // of running jobs that want help
  std::size_t idle_job_threads_ = 0;
  bool stopping_ = false;
  JobPoolStats stats_;

  std::vector<std::thread> threads_;  // the owner's
};

}  // namespace ostraka::host
