// Memory runs out on the protocol thread while a run closes. A program of its own, because it
// replaces operator new.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <new>

#include "tests/unit/host/driver/node_driver_fixture.h"

namespace {

// Allocations of this thread until one fails; 0: none fails.
thread_local std::size_t allocations_left = 0;

void* Allocate(std::size_t size) {
  if (allocations_left > 0 && --allocations_left == 0) throw std::bad_alloc();
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return Allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

namespace ostraka::host::node_driver_memory_test {
namespace {

using ::testing::AnyOf;
using ::testing::Eq;

// Posting, closing and the thread. Soon after them the process's files are listed, which
// std::filesystem does in a function that may not throw.
constexpr std::size_t kMostAllocations = 10;

class NodeDriverMemoryTest : public NodeDriverTest,
                             public ::testing::WithParamInterface<std::size_t> {};

// The second Stop closes the run at once, and the allocation of this number from there on fails.
TEST_P(NodeDriverMemoryTest, ARunThatClosesEndsWhateverFails) {
  a_.step = [](base::Time, const protocol::Input&, protocol::Outbox&) {};
  MakeDriver(a_);
  const auto work = boost::asio::make_work_guard(io_);
  a_.driver->Start([this](NodeReport report) {
    allocations_left = 0;
    a_.report = std::move(report);
  });
  a_.driver->Stop("Ctrl-C");
  const std::string by = "Ctrl-C";
  allocations_left = GetParam();
  try {
    a_.driver->Stop(by);
  } catch (const std::bad_alloc&) {
    allocations_left = 0;
    a_.driver->Break("out of memory");
  }
  while (!a_.report) {
    try {
      ASSERT_NE(io_.run_one_for(std::chrono::seconds(20)), 0u) << "it never ends";
    } catch (const std::bad_alloc&) {  // as Host does
      allocations_left = 0;
      a_.driver->Break("out of memory");
    }
  }
  EXPECT_THAT(a_.report->outcome.end, AnyOf(Eq(NodeEnd::kInterrupted), Eq(NodeEnd::kFailed)));
  a_.driver.reset();
  EXPECT_TRUE(store::DataFolder::Claim(a_.data_dir).ok()) << "still locked by the driver";
}

INSTANTIATE_TEST_SUITE_P(EachAllocation, NodeDriverMemoryTest,
                         ::testing::Range<std::size_t>(1, kMostAllocations + 1));

}  // namespace
}  // namespace ostraka::host::node_driver_memory_test
