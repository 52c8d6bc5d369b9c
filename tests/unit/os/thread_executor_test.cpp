#include "node/os/thread_executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <set>
#include <thread>

namespace ostraka::os::thread_executor_test {
namespace {

TEST(ThreadExecutor, RunsEveryIndexOnceAndReturnsWhenAllHaveEnded) {
  for (const std::size_t threads : {1, 2, 5}) {
    const ThreadExecutor executor(threads);
    for (const std::size_t count : {0, 1, 2, 3, 1000}) {
      std::vector<std::atomic<int>> runs(count);
      executor.ParallelFor(count, [&](std::size_t i) { ++runs[i]; });
      for (const auto& run : runs) EXPECT_EQ(run, 1);
    }
  }
}

TEST(ThreadExecutor, ManyShortLoopsInARow) {
  const ThreadExecutor executor(3);
  std::atomic<std::size_t> sum{0};
  for (int loop = 0; loop < 5000; ++loop) {
    executor.ParallelFor(3, [&](std::size_t i) { sum += i; });
    ASSERT_EQ(sum, 3u * static_cast<std::size_t>(loop + 1)) << "returned too early";
  }
}

TEST(ThreadExecutor, AllThreadsWorkAtOnce) {
  const ThreadExecutor executor(4);
  std::latch together(4);  // each body waits for the three others: one thread could not
  executor.ParallelFor(4, [&](std::size_t) { together.arrive_and_wait(); });
}

TEST(ThreadExecutor, OneThreadIsTheCallers) {
  const ThreadExecutor executor(1);
  std::set<std::thread::id> ids;
  executor.ParallelFor(100, [&](std::size_t) { ids.insert(std::this_thread::get_id()); });
  EXPECT_EQ(ids, std::set{std::this_thread::get_id()});
}

TEST(ThreadExecutor, HasAtLeastOneThread) { EXPECT_GE(AvailableThreads(), 1u); }

}  // namespace
}  // namespace ostraka::os::thread_executor_test
