// The worker threads of one run: one compute thread, which owns the trainer, and a few job threads
// for pure functions (protocol::RunJob). Jobs go in and completions come out; nothing else is
// shared. Every run has its own pool (docs/decisions/0014-host-as-a-library.md).
//
// Promises:
//   J1  A job that needs a gradient runs on the compute thread, the most urgent first
//       (protocol::UrgencyOf), equally urgent ones in the order of Start. One that runs gives way
//       to a more urgent one where its trainer asks (Trainer::EndWhere), and before each pass; it
//       begins anew later. Other jobs run on any job thread and begin in the order of Start.
//   J2  Evaluations begin on the compute thread while no gradient waits. At most kMaxEvaluations
//       wait; a further one replaces the oldest, so evaluations never pile up. A running
//       evaluation gives way to any job of the compute thread where its trainer asks, and goes on
//       later from there.
//   J3  Heavy pure jobs share idle job threads through aggregation::Executor. Results do not depend
//       on this (aggregation/shared/rule.h).
//   J4  What a library throws becomes JobFailed or a Status (thrown.h).
//   J5  At most max_queued jobs wait.
//   J6  No callback comes once Shutdown has returned, and nothing waits from then on.
//   J7  A job that is stopped comes back as JobFailed, or with its result if that was ready.
//
// May not know: the machine; what a job is for.
// Memory: max_queued specs, kMaxEvaluations references to states, and what running jobs need.
// What an attacker can do here: nothing beyond what the machine asks for. A machine that asks for
// more than this computer can do ends its own run at max_queued (J5).
//
// Thread safety: Start, Stop, Evaluate, DropWaiting, stats and TakeNotices from any thread;
// Shutdown from one thread at a time, while no other thread destroys the pool. Callbacks run on the
// worker threads; they must not block, and one that throws ends the process.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "node/base/status.h"
#include "node/base/time.h"
#include "node/protocol/ground/jobs.h"
#include "node/train/trainer.h"

namespace ostraka::host {

struct JobPoolOptions {
  std::size_t job_threads = 1;    // at least 1
  std::size_t max_queued = 4096;  // waiting jobs of both kinds together
  // May throw std::system_error, as a system that gives no thread does.
  std::function<std::thread(std::function<void()>)> make_thread = [](std::function<void()> run) {
    return std::thread(std::move(run));
  };
};

struct JobPoolCallbacks {
  std::function<void(protocol::JobId, std::shared_ptr<const protocol::JobResult>)> job_done;
  // The trainer's loss on this node's own batch of `step`, before that job's job_done; not called
  // by trainers that do not know it. May be no finite number.
  std::function<void(std::uint64_t step, double loss)> batch_loss;
  std::function<void(std::uint64_t step, base::StatusOr<train::Evaluation>)> evaluated;
};

struct JobPoolStats {
  std::uint64_t compute_jobs = 0;  // gradients and recomputations
  std::uint64_t pure_jobs = 0;
  std::uint64_t evaluations = 0;
  std::uint64_t evaluations_skipped = 0;
  base::Duration compute_busy;  // of the compute thread, without evaluations
  base::Duration pure_busy;     // summed over pure jobs; time of helping threads is not counted
  base::Duration evaluation_busy;
  std::size_t waiting = 0;  // now, without evaluations
  std::string computes_on;  // Trainer::ComputesOn
};

class JobPool {
 public:
  static constexpr std::size_t kMaxEvaluations = 4;

  // Throws std::system_error if the system gives too few threads; those that it gave have ended
  // then. REQUIRES: `trainer` is not null and has no other user until Shutdown has returned.
  JobPool(std::shared_ptr<train::Trainer> trainer, JobPoolOptions options,
          JobPoolCallbacks callbacks);
  ~JobPool();
  JobPool(const JobPool&) = delete;
  JobPool& operator=(const JobPool&) = delete;

  // Unavailable if max_queued jobs are waiting.
  base::Status Start(protocol::JobId id, std::shared_ptr<const protocol::JobSpec> spec);
  // Nobody wants the result of the job (J7). Nothing if it has come back.
  void Stop(protocol::JobId id);
  // Evaluates `parameters`, the state after `step`.
  void Evaluate(std::uint64_t step, protocol::SharedVector parameters);

  // Drops the jobs that wait: their results will not come. Evaluations stay.
  void DropWaiting();
  // Drops everything that waits, abandons the gradient or evaluation that runs (Trainer::Abandon),
  // lets other jobs that run end, and joins the threads; no callback follows.
  // Start and Evaluate do nothing from then on.
  void Shutdown();

  JobPoolStats stats() const;
  // Trainer::TakeNotices.
  std::vector<train::TrainerNotice> TakeNotices() { return trainer_->TakeNotices(); }

  // J2, J5, J6; also at the end of each mutation.
  void CheckInvariants() const;

 private:
  struct Job {
    protocol::JobId id;
    std::shared_ptr<const protocol::JobSpec> spec;
    bool stopped = false;
  };
  struct Evaluation {
    std::uint64_t step;
    protocol::SharedVector parameters;
    train::EvaluationProgress progress = {};
  };
  struct Loop;
  class LoopExecutor;

  void ComputeThread();
  void JobThread();
  std::deque<Job>::iterator MostUrgentLocked();  // REQUIRES: a job waits for the compute thread
  // Whether the compute thread's job is to end early, which it then does.
  bool GivesWay();
  void RunOne(const Job& job, bool compute);
  void TellBatchLoss(const Job& job, const protocol::JobResult& result);
  void EvaluateOne(Evaluation evaluation);
  void ParallelFor(std::size_t count, const std::function<void(std::size_t)>& body);
  void CheckLocked() const;  // REQUIRES: mutex_ is held

  const std::shared_ptr<train::Trainer> trainer_;
  const JobPoolOptions options_;
  const JobPoolCallbacks callbacks_;
  const std::unique_ptr<LoopExecutor> executor_;

  mutable std::mutex mutex_;
  // All below are guarded by mutex_.
  std::condition_variable compute_wake_;
  std::condition_variable job_wake_;
  std::deque<Job> compute_jobs_;
  std::optional<double> batch_loss_;  // of the last gradient; the compute thread's alone
  std::optional<Job> computing_;      // what the compute thread runs, but for evaluations
  bool evaluating_ = false;           // the compute thread evaluates
  bool gave_way_ = false;             // what the compute thread runs was told to end early
  std::deque<Evaluation> evaluations_;
  std::deque<Job> pure_jobs_;
  std::deque<std::shared_ptr<Loop>> loops_;  // of running jobs that accept helpers
  std::size_t idle_job_threads_ = 0;
  bool stopping_ = false;
  JobPoolStats stats_;

  std::vector<std::thread> threads_;  // used only by the constructor and Shutdown
};

}  // namespace ostraka::host
