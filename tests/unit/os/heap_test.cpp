// Needs a process of its own: it changes how all of it allocates.
#include "node/os/heap.h"

#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "node/os/process_stats.h"

namespace ostraka::os::heap_test {
namespace {

constexpr std::size_t kThreads = 8;
constexpr std::size_t kBlock = std::size_t{4} << 20;

// Frees a larger block. glibc then takes blocks up to that size from a heap, in place of mapping
// each by itself.
void RaiseGlibcsThreshold() { const std::vector<std::uint8_t> freed_at_once(2 * kBlock, 1); }

// All threads hold blocks at one time, free them, and live on.
std::uint64_t KeptBytesAfterAllHaveFreed() {
  const std::uint64_t before = ReadProcessStats().rss_bytes;
  std::uint64_t after = 0;
  std::barrier together(kThreads);
  std::array<std::thread, kThreads> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads[i] = std::thread([&, i] {
      {
        const std::array<std::vector<std::uint8_t>, 2> blocks{std::vector<std::uint8_t>(kBlock, 1),
                                                              std::vector<std::uint8_t>(kBlock, 2)};
        together.arrive_and_wait();
      }
      together.arrive_and_wait();
      if (i == 0) after = ReadProcessStats().rss_bytes;
      together.arrive_and_wait();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return after > before ? after - before : 0;
}

TEST(Heap, KeepsLittleOfWhatAllThreadsHaveFreed) {
#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the heap is not glibc's";
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the heap is not glibc's";
#endif
#endif
  UseOneHeap();
  RaiseGlibcsThreshold();
  EXPECT_LT(KeptBytesAfterAllHaveFreed(), std::uint64_t{24} << 20);
}

}  // namespace
}  // namespace ostraka::os::heap_test
