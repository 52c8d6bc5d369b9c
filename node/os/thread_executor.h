// Threads for a sequence of aggregations: the Executor of commands and bindings, which have no job
// pool. (A node uses job_pool.h.)
//
// Thread safety: ParallelFor from one thread at a time; bodies must not throw.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "aggregation/kernels/rows.h"

namespace ostraka::os {

class ThreadExecutor final : public aggregation::Executor {
 public:
  // `threads` counts the caller of ParallelFor. REQUIRES: threads > 0.
  explicit ThreadExecutor(std::size_t threads);
  ~ThreadExecutor() override;
  ThreadExecutor(const ThreadExecutor&) = delete;
  ThreadExecutor& operator=(const ThreadExecutor&) = delete;

  void ParallelFor(std::size_t count, const std::function<void(std::size_t)>& body) const override;

 private:
  // One call of ParallelFor. It outlives its helpers, because the caller waits for them.
  struct Loop {
    std::size_t count = 0;
    const std::function<void(std::size_t)>* body = nullptr;
    std::atomic<std::size_t> next{0};
    std::size_t helpers = 0;  // currently working; guarded by mutex_
  };
  void Help();
  static void Work(Loop& loop);

  mutable std::mutex mutex_;
  mutable std::condition_variable wake_;
  mutable std::condition_variable ended_;
  // All below are guarded by mutex_.
  mutable Loop* loop_ = nullptr;  // the loop that accepts helpers; null if none
  bool stopping_ = false;

  std::vector<std::thread> threads_;  // the owner's
};

// Number of threads that the machine runs at once, at least 1.
std::size_t AvailableThreads();

}  // namespace ostraka::os
