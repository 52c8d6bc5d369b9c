#include "node/os/thread_executor.h"

#include <algorithm>

#include "node/base/check.h"

namespace ostraka::os {

ThreadExecutor::ThreadExecutor(std::size_t threads) {
  OSTRAKA_CHECK(threads > 0);
  for (std::size_t i = 1; i < threads; ++i) threads_.emplace_back([this] { Help(); });
}

ThreadExecutor::~ThreadExecutor() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadExecutor::Work(Loop& loop) {
  for (std::size_t i = loop.next++; i < loop.count; i = loop.next++) (*loop.body)(i);
}

void ThreadExecutor::ParallelFor(std::size_t count,
                                 const std::function<void(std::size_t)>& body) const {
  Loop loop;
  loop.count = count;
  loop.body = &body;
  if (count < 2 || threads_.empty()) return Work(loop);
  {
    const std::lock_guard lock(mutex_);
    OSTRAKA_CHECK(loop_ == nullptr);
    loop_ = &loop;
  }
  wake_.notify_all();
  Work(loop);
  std::unique_lock lock(mutex_);
  loop_ = nullptr;  // no further helper may join
  ended_.wait(lock, [&loop] { return loop.helpers == 0; });
}

void ThreadExecutor::Help() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] {
      return stopping_ || (loop_ != nullptr && loop_->next.load() < loop_->count);
    });
    if (stopping_) return;
    Loop& loop = *loop_;
    ++loop.helpers;
    lock.unlock();
    Work(loop);
    lock.lock();
    if (--loop.helpers == 0) ended_.notify_all();
  }
}

std::size_t AvailableThreads() { return std::max(1U, std::thread::hardware_concurrency()); }

}  // namespace ostraka::os
