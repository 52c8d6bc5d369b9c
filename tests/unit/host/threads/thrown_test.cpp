#include "node/host/threads/thrown.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace ostraka::host::thrown_test {
namespace {

template <typename T>
std::string LineOf(T thrown) {
  return DescribeThrown(std::make_exception_ptr(thrown));
}

TEST(ThrownTest, IsOneLineWhateverTheLibrarySays) {
  EXPECT_EQ(LineOf(std::runtime_error("no kernel\nat\t0x12\r\x7f é")),
            "a library failed: no kernel at 0x12   é");
  EXPECT_EQ(LineOf(3), "a library threw something that is no exception");
}

TEST(ThrownTest, SaysWhatToDoWithoutMemory) {
  EXPECT_EQ(LineOf(std::bad_alloc()),
            "out of memory: use a smaller model or batch, or a computer with more memory");
}

TEST(ThrownTest, AnAttemptIsOkOrSaysWhy) {
  EXPECT_TRUE(Attempt([] {}).ok());
  const base::Status failed = Attempt([] { throw std::runtime_error("no disk"); });
  EXPECT_TRUE(absl::IsInternal(failed));
  EXPECT_EQ(base::MessageOf(failed), "a library failed: no disk");
}

}  // namespace
}  // namespace ostraka::host::thrown_test
