#include "node/host/threads/job_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "aggregation/kernels/rows.h"
#include "node/base/rng.h"
#include "tests/unit/host/fake_trainer.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ostraka::host::job_pool_test {
namespace {

using protocol::JobId;
using protocol::JobResult;
using protocol::JobSpec;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::shared_ptr<const JobSpec> GradientAt(float x) {
  protocol::GradientSpec spec;
  spec.parameters = std::make_shared<const std::vector<float>>(2, x);
  return std::make_shared<const JobSpec>(spec);
}

protocol::SharedVector StateAt(float x) { return std::make_shared<const std::vector<float>>(2, x); }

// Pure: cuts a vector in two.
std::shared_ptr<const JobSpec> PackOf(float x) {
  protocol::PackSpec spec;
  spec.gradient = StateAt(x);
  spec.parts = {{0, 1}, {1, 2}};
  return std::make_shared<const JobSpec>(spec);
}

// Pure and heavy enough that the rule cuts it for the executor.
std::shared_ptr<const JobSpec> AggregateOf(std::uint64_t seed) {
  constexpr std::size_t kRows = 6;
  constexpr std::size_t kDimension = 50'000;
  base::Rng rng(seed);
  protocol::AggregateSpec spec;
  spec.size = kDimension;
  for (std::size_t i = 0; i < kRows; ++i) {
    std::vector<float> row(kDimension);
    for (float& value : row) value = static_cast<float>(rng.Unit());
    const base::ByteView bytes = base::AsBytes(std::span<const float>(row));
    spec.parts.push_back(crypto::MakeBlob({bytes.begin(), bytes.end()}));
  }
  spec.tau = 1;
  spec.eps = 1e-6;
  return std::make_shared<const JobSpec>(spec);
}

// Collects completions and lets a test wait for them.
class Completions {
 public:
  JobPoolCallbacks Callbacks() {
    return {
        .job_done =
            [this](JobId id, std::shared_ptr<const JobResult> result) {
              const std::lock_guard lock(mutex_);
              jobs_[id] = std::move(result);
              order_.push_back(id);
              threads_[id] = std::this_thread::get_id();
              changed_.notify_all();
            },
        .batch_loss =
            [this](std::uint64_t step, double loss) {
              const std::lock_guard lock(mutex_);
              EXPECT_EQ(jobs_.size(), losses_.size()) << "the loss comes before the result";
              losses_.emplace_back(step, loss);
            },
        .evaluated =
            [this](std::uint64_t step, base::StatusOr<train::Evaluation> result) {
              const std::lock_guard lock(mutex_);
              evaluated_steps_.push_back(step);
              evaluations_.push_back(std::move(result));
              evaluation_thread_ = std::this_thread::get_id();
              changed_.notify_all();
            },
    };
  }
  void WaitForJobs(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return jobs_.size() >= count; });
  }
  void WaitForEvaluations(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return evaluations_.size() >= count; });
  }

  // To be read once everything awaited has come.
  std::map<JobId, std::shared_ptr<const JobResult>> jobs_;
  std::map<JobId, std::thread::id> threads_;
  std::vector<JobId> order_;
  std::vector<std::pair<std::uint64_t, double>> losses_;
  std::vector<std::uint64_t> evaluated_steps_;
  std::vector<base::StatusOr<train::Evaluation>> evaluations_;
  std::thread::id evaluation_thread_;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

// Holds the compute thread inside the gradient at `x` until Release.
class Gate {
 public:
  explicit Gate(FakeTrainer& trainer, float x) {
    trainer.gradient = [this, x](std::span<const float> at) {
      if (at[0] == x) {
        entered_.set_value();
        released_.get_future().wait();
      }
      return FakeTrainer::Vector(at.begin(), at.end());
    };
  }
  void WaitUntilEntered() { entered_.get_future().wait(); }
  void Release() { released_.set_value(); }

 private:
  std::promise<void> entered_;
  std::promise<void> released_;
};

TEST(JobPoolTest, ReturnsEachResultUnderItsId) {
  Completions done;
  JobPool pool(std::make_shared<FakeTrainer>(), {.job_threads = 2}, done.Callbacks());
  ASSERT_TRUE(pool.Start(7, GradientAt(3)).ok());
  ASSERT_TRUE(pool.Start(8, PackOf(4)).ok());
  done.WaitForJobs(2);
  pool.Shutdown();
  const auto* gradient = std::get_if<protocol::GradientResult>(done.jobs_.at(7).get());
  ASSERT_NE(gradient, nullptr);
  EXPECT_THAT(*gradient->gradient, ElementsAre(3, 3));
  const auto* pack = std::get_if<protocol::PackResult>(done.jobs_.at(8).get());
  ASSERT_NE(pack, nullptr);
  EXPECT_EQ(pack->parts.size(), 2u);
  EXPECT_EQ(pool.stats().compute_jobs, 1u);
  EXPECT_EQ(pool.stats().pure_jobs, 1u);
}

#if defined(__x86_64__)
TEST(JobPoolTest, AThreadThatInheritsFastMathComputesSubnormals) {
  Completions done;
  const auto trainer = std::make_shared<FakeTrainer>();
  trainer->gradient = [](std::span<const float> x) {
    const volatile float tiny = 1e-40F;
    return FakeTrainer::Vector(x.size(), tiny * 0.5F);
  };
  JobPoolOptions options;
  options.make_thread = [](std::function<void()> run) {
    return std::thread([run = std::move(run)] {
      _mm_setcsr(_mm_getcsr() | 0x8040);  // flush to zero, denormals are zero
      run();
    });
  };
  JobPool pool(trainer, options, done.Callbacks());
  ASSERT_TRUE(pool.Start(1, GradientAt(1)).ok());
  done.WaitForJobs(1);
  pool.Shutdown();
  const auto& result = std::get<protocol::GradientResult>(*done.jobs_.at(1));
  EXPECT_THAT(*result.gradient, ElementsAre(0.5e-40F, 0.5e-40F));
}
#endif

TEST(JobPoolTest, TellsTheLossOfOwnBatchesThatWereComputedOnce) {
  Completions done;
  const auto trainer = std::make_shared<FakeTrainer>();
  trainer->batch_loss = 0.25;
  trainer->gradient = [](std::span<const float> x) -> base::StatusOr<FakeTrainer::Vector> {
    if (x[0] == 2) return base::Internal("out of memory");
    return FakeTrainer::Vector(x.begin(), x.end());
  };
  JobPool pool(trainer, {}, done.Callbacks());
  ASSERT_TRUE(pool.Start(1, GradientAt(1)).ok());
  done.WaitForJobs(1);
  auto again = std::get<protocol::GradientSpec>(*GradientAt(1));
  again.again = true;
  ASSERT_TRUE(pool.Start(2, std::make_shared<const JobSpec>(again)).ok());
  ASSERT_TRUE(pool.Start(3, GradientAt(2)).ok());
  done.WaitForJobs(3);
  pool.Shutdown();
  EXPECT_THAT(done.losses_, ElementsAre(std::pair(std::uint64_t{0}, 0.25)));
}

TEST(JobPoolTest, TheTrainerBelongsToOneThreadThatPureJobsDoNotWaitFor) {
  Completions done;
  const auto trainer = std::make_shared<FakeTrainer>();
  Gate gate(*trainer, 1);
  JobPool pool(trainer, {.job_threads = 1}, done.Callbacks());
  ASSERT_TRUE(pool.Start(1, GradientAt(1)).ok());
  ASSERT_TRUE(pool.Start(2, GradientAt(2)).ok());
  gate.WaitUntilEntered();
  ASSERT_TRUE(pool.Start(3, PackOf(1)).ok());
  done.WaitForJobs(1);  // would never end if the pack waited for the gradient
  gate.Release();
  done.WaitForJobs(3);
  pool.Evaluate(0, StateAt(0));
  done.WaitForEvaluations(1);
  pool.Shutdown();
  EXPECT_THAT(done.order_, ElementsAre(3, 1, 2));
  EXPECT_EQ(done.threads_[1], done.threads_[2]);
  EXPECT_EQ(done.threads_[1], done.evaluation_thread_);
  EXPECT_NE(done.threads_[1], done.threads_[3]);
}

TEST(JobPoolTest, GradientsGoBeforeEvaluationsAndOldEvaluationsAreSkipped) {
  Completions done;
  const auto trainer = std::make_shared<FakeTrainer>();
  Gate gate(*trainer, 1);
  std::vector<std::string> log;
  const auto gated = trainer->gradient;
  trainer->gradient = [&](std::span<const float> at) {
    log.push_back("gradient");
    return gated(at);
  };
  trainer->evaluation = [&](std::span<const float> at) {
    log.push_back("evaluation");
    return train::Evaluation{"loss", at[0], at[0]};
  };
  JobPool pool(trainer, {}, done.Callbacks());
  ASSERT_TRUE(pool.Start(1, GradientAt(1)).ok());
  gate.WaitUntilEntered();
  constexpr std::uint64_t kAsked = JobPool::kMaxEvaluations + 2;
  for (std::uint64_t step = 0; step < kAsked; ++step) pool.Evaluate(step, StateAt(0));
  ASSERT_TRUE(pool.Start(2, GradientAt(2)).ok());
  pool.CheckInvariants();
  gate.Release();
  done.WaitForEvaluations(JobPool::kMaxEvaluations);
  pool.Shutdown();
  EXPECT_THAT(log, ElementsAre("gradient", "gradient", "evaluation", "evaluation", "evaluation",
                               "evaluation"));
  EXPECT_THAT(done.evaluated_steps_, ElementsAre(2, 3, 4, 5));
  EXPECT_EQ(pool.stats().evaluations_skipped, 2u);
}

// Evaluates in three parts, and asks before each but the first.
class PartwiseTrainer final : public FakeTrainer {
 public:
  base::StatusOr<train::Evaluation> GoOnEvaluating(std::span<const float> parameters,
                                                   train::EvaluationProgress& progress) override {
    log.push_back("evaluate from " + std::to_string(progress.done));
    for (bool first = true; progress.done < 3; first = false) {
      if (!first) RETURN_IF_ERROR(CheckWanted());
      progress.loss += parameters[0];
      ++progress.done;
      if (std::exchange(is_first, false)) {
        in_part.set_value();
        go_on.get_future().wait();
      }
    }
    return train::Evaluation{"loss", progress.loss, progress.loss};
  }

  bool is_first = true;
  std::vector<std::string> log;
  std::promise<void> in_part;
  std::promise<void> go_on;
};

// [A node evaluated for as long as a hundred gradients take, and was dropped as slow.]
TEST(JobPoolTest, AnEvaluationGivesWayToAGradientAndGoesOnFromThere) {
  Completions done;
  const auto trainer = std::make_shared<PartwiseTrainer>();
  trainer->gradient = [&](std::span<const float> at) {
    trainer->log.push_back("gradient");
    return FakeTrainer::Vector(at.begin(), at.end());
  };
  JobPool pool(trainer, {}, done.Callbacks());
  pool.Evaluate(4, StateAt(2));
  trainer->in_part.get_future().wait();
  ASSERT_TRUE(pool.Start(1, GradientAt(1)).ok());
  pool.CheckInvariants();
  trainer->go_on.set_value();
  done.WaitForEvaluations(1);
  pool.Shutdown();
  EXPECT_THAT(trainer->log, ElementsAre("evaluate from 0", "gradient", "evaluate from 1"));
  EXPECT_THAT(done.evaluated_steps_, ElementsAre(4));
  EXPECT_EQ(done.evaluations_[0]->value, 6);
  EXPECT_EQ(pool.stats().evaluations, 1u);
}

TEST(JobPoolTest, AnEvaluationThatGaveWayIsSkippedBeforeLaterOnes) {
  Completions done;
  const auto trainer = std::make_shared<PartwiseTrainer>();
  JobPool pool(trainer, {}, done.Callbacks());
  pool.Evaluate(0, StateAt(2));
  trainer->in_part.get_future().wait();
  for (std::uint64_t step = 1; step <= JobPool::kMaxEvaluations; ++step) {
    pool.Evaluate(step, StateAt(1));
  }
  ASSERT_TRUE(pool.Start(1, GradientAt(1)).ok());
  pool.CheckInvariants();
  trainer->go_on.set_value();
  done.WaitForEvaluations(JobPool::kMaxEvaluations);
  pool.Shutdown();
  EXPECT_THAT(done.evaluated_steps_, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(pool.stats().evaluations_skipped, 1u);
}

TEST(JobPoolTest, WhatALibraryThrowsBecomesAResult) {
  Completions done;
  const auto trainer = std::make_shared<FakeTrainer>();
  trainer->gradient = [](std::span<const float> at) -> base::StatusOr<FakeTrainer::Vector> {
    if (at[0] == 1) throw std::runtime_error("no kernel for this device");
    if (at[0] == 2) throw std::bad_alloc();
    throw 3;
  };
  trainer->evaluation = [](std::span<const float>) -> base::StatusOr<train::Evaluation> {
    throw std::runtime_error("no data");
  };
  JobPool pool(trainer, {}, done.Callbacks());
  for (const int i : {1, 2, 3}) {
    ASSERT_TRUE(pool.Start(static_cast<JobId>(i), GradientAt(static_cast<float>(i))).ok());
  }
  pool.Evaluate(0, StateAt(0));
  done.WaitForJobs(3);
  done.WaitForEvaluations(1);
  pool.Shutdown();
  const auto reason = [&](JobId id) {
    const auto* failed = std::get_if<protocol::JobFailed>(done.jobs_.at(id).get());
    return failed == nullptr ? std::string("no failure") : failed->reason;
  };
  EXPECT_THAT(reason(1), HasSubstr("no kernel for this device"));
  EXPECT_THAT(reason(2), HasSubstr("out of memory"));
  EXPECT_THAT(reason(3), HasSubstr("no exception"));
  EXPECT_TRUE(absl::IsInternal(done.evaluations_[0].status()));
  EXPECT_THAT(base::MessageOf(done.evaluations_[0].status()), HasSubstr("no data"));
}

// Makes so many threads, and then none.
JobPoolOptions WithThreads(int most) {
  JobPoolOptions options{.job_threads = 3};
  const auto make = options.make_thread;
  options.make_thread = [most, make](std::function<void()> run) mutable {
    if (most-- == 0) {
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    }
    return make(std::move(run));
  };
  return options;
}

TEST(JobPoolTest, AThreadThatCannotBeMadeLeavesNone) {
  for (int most = 0; most < 4; ++most) {
    Completions done;
    const auto trainer = std::make_shared<FakeTrainer>();
    EXPECT_THROW(JobPool(trainer, WithThreads(most), done.Callbacks()), std::system_error);
    EXPECT_EQ(trainer.use_count(), 1);
  }
}

TEST(JobPoolTest, DropsTheJobsThatWaitAndNothingElse) {
  Completions done;
  const auto trainer = std::make_shared<FakeTrainer>();
  Gate gate(*trainer, 1);
  JobPool pool(trainer, {.job_threads = 1}, done.Callbacks());
  ASSERT_TRUE(pool.Start(1, GradientAt(1)).ok());
  gate.WaitUntilEntered();
  ASSERT_TRUE(pool.Start(2, GradientAt(2)).ok());
  pool.Evaluate(1, StateAt(0));
  pool.DropWaiting();
  EXPECT_EQ(pool.stats().waiting, 0u);
  ASSERT_TRUE(pool.Start(3, GradientAt(3)).ok());
  gate.Release();
  done.WaitForJobs(2);
  done.WaitForEvaluations(1);
  pool.Shutdown();
  EXPECT_THAT(done.order_, ElementsAre(1, 3));
}

std::shared_ptr<const JobSpec> RecomputationAt(float x, protocol::RecomputeSpec::Purpose purpose) {
  protocol::RecomputeSpec spec;
  spec.purpose = purpose;
  spec.gradient = std::get<protocol::GradientSpec>(*GradientAt(x));
  return std::make_shared<const JobSpec>(spec);
}

using Purpose = protocol::RecomputeSpec::Purpose;

// Takes micro-batches one by one, as often as it is let, and ends early where it is told to.
class MicroBatches {
 public:
  explicit MicroBatches(FakeTrainer& trainer, float x) {
    trainer.gradient = [this, &trainer,
                        x](std::span<const float> at) -> base::StatusOr<FakeTrainer::Vector> {
      if (at[0] == x) {
        std::unique_lock lock(mutex_);
        ++begun_;
        changed_.notify_all();
        while (!let_) {
          lock.unlock();
          const base::Status wanted = trainer.CheckWanted();
          if (!wanted.ok()) return wanted;
          std::this_thread::yield();
          lock.lock();
        }
      }
      return FakeTrainer::Vector(at.begin(), at.end());
    };
  }
  void WaitUntilBegun(int times) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_ >= times; });
  }
  void Let() {
    const std::lock_guard lock(mutex_);
    let_ = true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int begun_ = 0;
  bool let_ = false;
};

TEST(JobPoolTest, OwnGradientsGoBeforeAccusationsVotesAndLooks) {
  Completions done;
  const auto trainer = std::make_shared<FakeTrainer>();
  Gate gate(*trainer, 1);
  JobPool pool(trainer, {.job_threads = 1}, done.Callbacks());
  ASSERT_TRUE(pool.Start(1, GradientAt(1)).ok());
  gate.WaitUntilEntered();
  ASSERT_TRUE(pool.Start(2, RecomputationAt(2, Purpose::kLook)).ok());
  ASSERT_TRUE(pool.Start(3, RecomputationAt(2, Purpose::kVote)).ok());
  ASSERT_TRUE(pool.Start(4, RecomputationAt(2, Purpose::kVote)).ok());
  ASSERT_TRUE(pool.Start(5, RecomputationAt(2, Purpose::kAccusation)).ok());
  ASSERT_TRUE(pool.Start(6, GradientAt(2)).ok());
  gate.Release();
  done.WaitForJobs(6);
  pool.Shutdown();
  EXPECT_THAT(done.order_, ElementsAre(1, 6, 5, 3, 4, 2));
}

TEST(JobPoolTest, ARecomputationGivesWayToAnOwnGradientAndBeginsAnew) {
  Completions done;
  const auto trainer = std::make_shared<FakeTrainer>();
  MicroBatches batches(*trainer, 1);
  JobPool pool(trainer, {.job_threads = 1}, done.Callbacks());
  ASSERT_TRUE(pool.Start(1, RecomputationAt(1, Purpose::kVote)).ok());
  batches.WaitUntilBegun(1);
  ASSERT_TRUE(pool.Start(2, GradientAt(2)).ok());
  done.WaitForJobs(1);
  EXPECT_EQ(done.order_.front(), 2u);
  batches.WaitUntilBegun(2);
  batches.Let();
  done.WaitForJobs(2);
  pool.Shutdown();
  EXPECT_TRUE(std::holds_alternative<protocol::RecomputeResult>(*done.jobs_[1]));
  EXPECT_EQ(pool.stats().compute_jobs, 2u) << "what gave way does not count";
}

TEST(JobPoolTest, AStoppedJobComesBackWithoutItsResult) {
  Completions done;
  const auto trainer = std::make_shared<FakeTrainer>();
  MicroBatches batches(*trainer, 1);
  JobPool pool(trainer, {.job_threads = 1}, done.Callbacks());
  ASSERT_TRUE(pool.Start(1, GradientAt(1)).ok());
  ASSERT_TRUE(pool.Start(2, GradientAt(2)).ok());
  ASSERT_TRUE(pool.Start(3, GradientAt(3)).ok());
  batches.WaitUntilBegun(1);
  pool.Stop(2);
  pool.Stop(1);
  pool.Stop(7);  // it has come back
  done.WaitForJobs(3);
  pool.Shutdown();
  EXPECT_THAT(done.order_, ElementsAre(1, 2, 3));
  EXPECT_TRUE(std::holds_alternative<protocol::JobFailed>(*done.jobs_[1]));
  EXPECT_TRUE(std::holds_alternative<protocol::JobFailed>(*done.jobs_[2]));
  EXPECT_TRUE(std::holds_alternative<protocol::GradientResult>(*done.jobs_[3]));
}

TEST(JobPoolTest, ShutdownEndsAGradientEarly) {
  Completions done;
  const auto trainer = std::make_shared<FakeTrainer>();
  MicroBatches batches(*trainer, 1);
  JobPool pool(trainer, {.job_threads = 1}, done.Callbacks());
  ASSERT_TRUE(pool.Start(1, GradientAt(1)).ok());
  batches.WaitUntilBegun(1);
  pool.Shutdown();
  EXPECT_TRUE(done.order_.empty());
}

TEST(JobPoolTest, RefusesMoreThanItsQueueHolds) {
  Completions done;
  const auto trainer = std::make_shared<FakeTrainer>();
  Gate gate(*trainer, 1);
  JobPool pool(trainer, {.job_threads = 1, .max_queued = 2}, done.Callbacks());
  ASSERT_TRUE(pool.Start(1, GradientAt(1)).ok());
  gate.WaitUntilEntered();  // it runs: nothing waits
  ASSERT_TRUE(pool.Start(2, GradientAt(2)).ok());
  ASSERT_TRUE(pool.Start(3, GradientAt(3)).ok());
  EXPECT_TRUE(absl::IsUnavailable(pool.Start(4, GradientAt(4))));
  gate.Release();
  done.WaitForJobs(3);
  EXPECT_TRUE(pool.Start(4, GradientAt(4)).ok());
}

TEST(JobPoolTest, ShutdownDropsWhatWaitsAndAwaitsWhatRuns) {
  Completions done;
  const auto trainer = std::make_shared<FakeTrainer>();
  Gate gate(*trainer, 1);
  JobPool pool(trainer, {.job_threads = 1, .max_queued = 1}, done.Callbacks());
  ASSERT_TRUE(pool.Start(1, GradientAt(1)).ok());
  gate.WaitUntilEntered();
  ASSERT_TRUE(pool.Start(2, GradientAt(2)).ok());
  pool.Evaluate(1, StateAt(0));
  auto ended = std::async(std::launch::async, [&] { pool.Shutdown(); });
  // The queue is full until Shutdown has emptied it; from then on jobs are taken and dropped.
  while (!pool.Start(3, GradientAt(3)).ok()) std::this_thread::yield();
  gate.Release();
  ended.wait();
  EXPECT_THAT(done.order_, ElementsAre(1));
  EXPECT_TRUE(done.evaluated_steps_.empty());
}

TEST(JobPoolTest, ShutdownAbandonsTheGradientThatRuns) {
  Completions done;
  const auto trainer = std::make_shared<FakeTrainer>();
  std::promise<void> begun, abandoned;
  std::once_flag once;
  trainer->abandon = [&] { std::call_once(once, [&] { abandoned.set_value(); }); };
  trainer->gradient = [&](std::span<const float>) -> base::StatusOr<FakeTrainer::Vector> {
    begun.set_value();
    abandoned.get_future().wait();
    return base::Unavailable("abandoned");
  };
  JobPool pool(trainer, {.job_threads = 1, .max_queued = 1}, done.Callbacks());
  ASSERT_TRUE(pool.Start(1, GradientAt(1)).ok());
  begun.get_future().wait();
  pool.Shutdown();  // it would wait for ever
  EXPECT_THAT(done.order_, ElementsAre(1));
}

TEST(JobPoolTest, IdleThreadsHelpWithoutChangingABit) {
  constexpr JobId kJobs = 6;
  Completions done;
  JobPool pool(std::make_shared<FakeTrainer>(), {.job_threads = 4}, done.Callbacks());
  for (JobId id = 0; id < kJobs; ++id) ASSERT_TRUE(pool.Start(id, AggregateOf(id % 3)).ok());
  done.WaitForJobs(kJobs);
  pool.Shutdown();
  for (JobId id = 0; id < kJobs; ++id) {
    const JobResult expected =
        protocol::RunJob(*AggregateOf(id % 3), nullptr, aggregation::SerialExecutor());
    const auto* serial = std::get_if<protocol::AggregateResult>(&expected);
    const auto* parallel = std::get_if<protocol::AggregateResult>(done.jobs_.at(id).get());
    ASSERT_NE(serial, nullptr);
    ASSERT_NE(parallel, nullptr);
    EXPECT_EQ(parallel->result->root, serial->result->root) << "job " << id;
  }
}

}  // namespace
}  // namespace ostraka::host::job_pool_test
