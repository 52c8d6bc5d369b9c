#include "node/host/threads/job_pool.h"

#include <algorithm>
#include <cfenv>
#include <exception>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "aggregation/kernels/rows.h"
#include "node/base/check.h"
#include "node/host/threads/thrown.h"
#include "node/os/steady_clock.h"
#include "node/train/local_steps.h"

namespace ostraka::host {
namespace {

using protocol::GradientSpec;
using protocol::JobFailed;
using protocol::JobResult;

}  // namespace

// The iterations of one ParallelFor, shared between the calling job and its helpers.
struct JobPool::Loop {
  Loop(std::size_t n, const std::function<void(std::size_t)>& f) : count(n), body(&f) {}

  // Takes iterations until none is left. `body` is used only while an iteration is held, and Finish
  // waits for those; so a late helper finds no iteration and does not touch `body`.
  void Work() {
    std::unique_lock lock(mutex);
    while (next < count) {
      const std::size_t i = next++;
      ++running;
      lock.unlock();
      std::exception_ptr caught;
      try {
        (*body)(i);
      } catch (...) {
        caught = std::current_exception();
      }
      lock.lock();
      --running;
      if (caught && !thrown) {
        thrown = caught;
        next = count;  // the rest would be wasted
      }
    }
    if (running == 0) idle.notify_all();
  }

  void Finish() {
    Work();
    std::unique_lock lock(mutex);
    idle.wait(lock, [this] { return running == 0; });
    if (thrown) std::rethrow_exception(thrown);
  }

  const std::size_t count;
  const std::function<void(std::size_t)>* const body;
  std::mutex mutex;
  std::condition_variable idle;
  std::size_t next = 0;
  std::size_t running = 0;
  std::exception_ptr thrown;  // the first exception; Finish rethrows it in the job's own thread
};

class JobPool::LoopExecutor final : public aggregation::Executor {
 public:
  explicit LoopExecutor(JobPool& pool) : pool_(pool) {}
  void ParallelFor(std::size_t count, const std::function<void(std::size_t)>& body) const override {
    pool_.ParallelFor(count, body);
  }

 private:
  JobPool& pool_;
};

JobPool::JobPool(std::shared_ptr<train::Trainer> trainer, JobPoolOptions options,
                 JobPoolCallbacks callbacks)
    : trainer_(std::move(trainer)),
      options_(options),
      callbacks_(std::move(callbacks)),
      executor_(std::make_unique<LoopExecutor>(*this)) {
  OSTRAKA_CHECK(trainer_ != nullptr && options_.job_threads > 0);
  trainer_->EndWhere([this] { return GivesWay(); });
  threads_.reserve(1 + options_.job_threads);
  try {
    threads_.push_back(options_.make_thread([this] { ComputeThread(); }));
    for (std::size_t i = 0; i < options_.job_threads; ++i) {
      threads_.push_back(options_.make_thread([this] { JobThread(); }));
    }
  } catch (const std::system_error& error) {
    Shutdown();
    throw std::system_error(error.code(),
                            "no thread for the run's work, raise the limit (ulimit -u)");
  } catch (...) {
    Shutdown();
    throw;
  }
}

JobPool::~JobPool() { Shutdown(); }

base::Status JobPool::Start(protocol::JobId id, std::shared_ptr<const protocol::JobSpec> spec) {
  const bool compute = protocol::NeedsGradient(*spec);
  const std::lock_guard lock(mutex_);
  if (stopping_) return base::OkStatus();
  if (compute_jobs_.size() + pure_jobs_.size() >= options_.max_queued) {
    return base::Unavailable(std::to_string(options_.max_queued) +
                             " jobs wait: this computer is too slow for the run");
  }
  (compute ? compute_jobs_ : pure_jobs_).push_back({id, std::move(spec)});
  (compute ? compute_wake_ : job_wake_).notify_one();
  CheckLocked();
  return base::OkStatus();
}

void JobPool::Stop(protocol::JobId id) {
  const std::lock_guard lock(mutex_);
  for (std::deque<Job>* jobs : {&compute_jobs_, &pure_jobs_}) {
    for (Job& job : *jobs) job.stopped |= job.id == id;
  }
  if (computing_) computing_->stopped |= computing_->id == id;
}

void JobPool::Evaluate(std::uint64_t step, protocol::SharedVector parameters) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  if (evaluations_.size() >= kMaxEvaluations) {
    evaluations_.pop_front();
    ++stats_.evaluations_skipped;
  }
  evaluations_.push_back({step, std::move(parameters)});
  compute_wake_.notify_one();
  CheckLocked();
}

void JobPool::DropWaiting() {
  const std::lock_guard lock(mutex_);
  compute_jobs_.clear();
  pure_jobs_.clear();
  CheckLocked();
}

void JobPool::Shutdown() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    compute_jobs_.clear();
    pure_jobs_.clear();
    evaluations_.clear();
    CheckLocked();
  }
  trainer_->Abandon();
  compute_wake_.notify_all();
  job_wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  trainer_->EndWhere(nullptr);
}

JobPoolStats JobPool::stats() const {
  const std::lock_guard lock(mutex_);
  JobPoolStats stats = stats_;
  stats.waiting = compute_jobs_.size() + pure_jobs_.size();
  stats.computes_on = trainer_->ComputesOn();
  return stats;
}

void JobPool::CheckInvariants() const {
  const std::lock_guard lock(mutex_);
  CheckLocked();
}

void JobPool::CheckLocked() const {
  const std::size_t waiting = compute_jobs_.size() + pure_jobs_.size();
  OSTRAKA_CHECK(waiting <= options_.max_queued + 1);  // the one that gave way waits again
  OSTRAKA_CHECK(evaluations_.size() <= kMaxEvaluations);
  OSTRAKA_CHECK(!stopping_ || (waiting == 0 && evaluations_.empty()));
  OSTRAKA_CHECK(idle_job_threads_ <= options_.job_threads);
}

namespace {

// A library that was built with -ffast-math has the thread that loads it flush subnormal numbers
// to zero, and threads inherit that. Members would then compute other bits than others.
void ComputeAsIeee754Says() { OSTRAKA_CHECK(std::fesetenv(FE_DFL_ENV) == 0); }

}  // namespace

void JobPool::ComputeThread() {
  ComputeAsIeee754Says();
  std::unique_lock lock(mutex_);
  for (;;) {
    compute_wake_.wait(
        lock, [this] { return stopping_ || !compute_jobs_.empty() || !evaluations_.empty(); });
    if (stopping_) return;
    if (!compute_jobs_.empty()) {
      const auto next = MostUrgentLocked();
      computing_ = std::move(*next);
      compute_jobs_.erase(next);
      const Job job = *computing_;
      lock.unlock();
      RunOne(job, true);
    } else {
      Evaluation evaluation = std::move(evaluations_.front());
      evaluations_.pop_front();
      evaluating_ = true;
      lock.unlock();
      EvaluateOne(std::move(evaluation));
    }
    lock.lock();
  }
}

void JobPool::JobThread() {
  ComputeAsIeee754Says();
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_job_threads_;
    job_wake_.wait(lock, [this] { return stopping_ || !loops_.empty() || !pure_jobs_.empty(); });
    --idle_job_threads_;
    // Help running jobs before starting new ones, also while stopping: a thread waits for them to
    // end.
    if (!loops_.empty()) {
      const std::shared_ptr<Loop> loop = std::move(loops_.front());
      loops_.pop_front();
      lock.unlock();
      loop->Work();
    } else if (stopping_) {
      return;
    } else {
      const Job job = std::move(pure_jobs_.front());
      pure_jobs_.pop_front();
      lock.unlock();
      RunOne(job, false);
    }
    lock.lock();
  }
}

std::deque<JobPool::Job>::iterator JobPool::MostUrgentLocked() {
  return std::min_element(compute_jobs_.begin(), compute_jobs_.end(),
                          [](const Job& a, const Job& b) {
                            return protocol::UrgencyOf(*a.spec) < protocol::UrgencyOf(*b.spec);
                          });
}

bool JobPool::GivesWay() {
  const std::lock_guard lock(mutex_);
  if (!computing_) {
    gave_way_ = evaluating_ && (stopping_ || !compute_jobs_.empty());
    return gave_way_;
  }
  const bool waited_for = !compute_jobs_.empty() && protocol::UrgencyOf(*MostUrgentLocked()->spec) <
                                                        protocol::UrgencyOf(*computing_->spec);
  gave_way_ = computing_->stopped || stopping_ || waited_for;
  return gave_way_;
}

void JobPool::RunOne(const Job& job, bool compute) {
  const auto gradients = [this](const GradientSpec& spec) -> base::StatusOr<std::vector<float>> {
    ASSIGN_OR_RETURN(train::Worked worked,
                     train::WorkOf(*trainer_, {*spec.parameters, spec.batch_seed, spec.batches,
                                               spec.local, spec.again}));
    batch_loss_ = worked.batch_loss;
    return std::move(worked.values);
  };
  const base::Time begin = os::SteadyNow();
  std::shared_ptr<const JobResult> result;
  try {
    result = std::make_shared<const JobResult>(
        job.stopped ? JobFailed{"it was stopped"}
                    : protocol::RunJob(*job.spec, gradients, *executor_));
  } catch (...) {
    result = std::make_shared<const JobResult>(JobFailed{DescribeThrown(std::current_exception())});
  }
  const base::Duration busy = os::SteadyNow() - begin;
  {
    const std::lock_guard lock(mutex_);
    if (compute) {
      const bool ended_early = gave_way_ && std::holds_alternative<JobFailed>(*result);
      const Job held = *std::exchange(computing_, std::nullopt);
      gave_way_ = false;
      if (ended_early && !held.stopped) {
        if (!stopping_) compute_jobs_.push_front(held);
        return;
      }
    }
    ++(compute ? stats_.compute_jobs : stats_.pure_jobs);
    base::Duration& total = compute ? stats_.compute_busy : stats_.pure_busy;
    total = total + busy;
  }
  TellBatchLoss(job, *result);
  callbacks_.job_done(job.id, std::move(result));
}

void JobPool::TellBatchLoss(const Job& job, const protocol::JobResult& result) {
  const auto* const spec = std::get_if<GradientSpec>(job.spec.get());
  if (spec == nullptr || spec->again || std::holds_alternative<JobFailed>(result)) return;
  if (batch_loss_) callbacks_.batch_loss(spec->step, *batch_loss_);
}

void JobPool::EvaluateOne(Evaluation evaluation) {
  const base::Time begin = os::SteadyNow();
  base::StatusOr<train::Evaluation> result = base::Internal("not evaluated");
  try {
    result = trainer_->GoOnEvaluating(*evaluation.parameters, evaluation.progress);
  } catch (...) {
    result = base::Internal(DescribeThrown(std::current_exception()));
  }
  const base::Duration busy = os::SteadyNow() - begin;
  {
    const std::lock_guard lock(mutex_);
    evaluating_ = false;
    stats_.evaluation_busy = stats_.evaluation_busy + busy;
    if (std::exchange(gave_way_, false) && !result.ok()) {
      if (stopping_) return;
      if (evaluations_.size() < kMaxEvaluations) {
        evaluations_.push_front(std::move(evaluation));
      } else {
        ++stats_.evaluations_skipped;
      }
      return;
    }
    ++stats_.evaluations;
  }
  callbacks_.evaluated(evaluation.step, std::move(result));
}

void JobPool::ParallelFor(std::size_t count, const std::function<void(std::size_t)>& body) {
  const auto loop = std::make_shared<Loop>(count, body);
  {
    const std::lock_guard lock(mutex_);
    const std::size_t helpers = std::min(count == 0 ? 0 : count - 1, idle_job_threads_);
    for (std::size_t i = 0; i < helpers; ++i) loops_.push_back(loop);
  }
  job_wake_.notify_all();
  loop->Finish();
}

}  // namespace ostraka::host
