#include "node/os/descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <utility>

namespace ostraka::os::descriptor_test {
namespace {

int Opened() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }
bool IsOpen(int fd) { return ::fcntl(fd, F_GETFD) != -1; }

TEST(DescriptorTest, ClosesWhatItHolds) {
  const int fd = Opened();
  {
    const Descriptor held(fd);
    EXPECT_TRUE(held.ok());
    EXPECT_EQ(held.get(), fd);
  }
  EXPECT_FALSE(IsOpen(fd));
  EXPECT_FALSE(Descriptor(-1).ok());
}

TEST(DescriptorTest, AMoveLeavesOneOwner) {
  const int fd = Opened();
  const int other = Opened();
  {
    Descriptor last(other);
    {
      Descriptor first(fd);
      Descriptor second(std::move(first));
      EXPECT_EQ(second.get(), fd);
      last = std::move(second);
    }
    EXPECT_TRUE(IsOpen(fd));
    EXPECT_EQ(last.get(), fd);
    EXPECT_FALSE(IsOpen(other)) << "given up by the assignment";
  }
  EXPECT_FALSE(IsOpen(fd));
}

TEST(DescriptorTest, ReleasePassesItOn) {
  const int fd = Opened();
  {
    Descriptor held(fd);
    EXPECT_EQ(held.Release(), fd);
    EXPECT_FALSE(held.ok());
  }
  EXPECT_TRUE(IsOpen(fd));
  ::close(fd);
}

}  // namespace
}  // namespace ostraka::os::descriptor_test
