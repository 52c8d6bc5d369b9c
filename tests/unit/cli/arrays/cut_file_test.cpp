#include "node/cli/arrays/cut_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "node/os/descriptor.h"

namespace ostraka::cli::cut_file_test {
namespace {

constexpr std::size_t kBytes = 1 << 20;

// A file of zeros, mapped.
class CutFileDeathTest : public ::testing::Test {
 protected:
  CutFileDeathTest() : path_(::testing::TempDir() + "ostraka-cut-XXXXXX"), file_(-1) {
    file_ = os::Descriptor(mkstemp(path_.data()));
    EXPECT_EQ(ftruncate(file_.get(), kBytes), 0);
    bytes_ = mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, file_.get(), 0);
    EXPECT_NE(bytes_, MAP_FAILED);
  }
  ~CutFileDeathTest() override {
    munmap(bytes_, kBytes);
    unlink(path_.c_str());
  }

  std::uint8_t Last() const {
    return static_cast<const volatile std::uint8_t*>(bytes_)[kBytes - 1];
  }
  void Cut() const { EXPECT_EQ(ftruncate(file_.get(), 100), 0); }

  std::string path_;
  os::Descriptor file_;
  void* bytes_ = nullptr;
};

TEST_F(CutFileDeathTest, EndsWithOneLine) {
  EXPECT_EXIT(
      {
        const CutFileGuard guard(path_, bytes_, kBytes);
        if (Last() != 0) _exit(9);
        Cut();
        _exit(Last());
      },
      ::testing::ExitedWithCode(3), "^ostraka: .*ostraka-cut-.*cut the file short[^\n]*\n$");
}

TEST_F(CutFileDeathTest, ThreadsThatMeetTheCutTogetherTellItOnce) {
  EXPECT_EXIT(
      {
        const CutFileGuard guard(path_, bytes_, kBytes);
        Cut();
        std::vector<std::thread> readers;
        for (int i = 0; i < 8; ++i) readers.emplace_back([this] { std::ignore = Last(); });
        for (std::thread& reader : readers) reader.join();
      },
      ::testing::ExitedWithCode(3), "^ostraka: .*ostraka-cut-.*cut the file short[^\n]*\n$");
}

TEST_F(CutFileDeathTest, AnotherFaultStaysAFault) {
  EXPECT_EXIT(
      {
        { const CutFileGuard gone(path_, bytes_, kBytes); }
        Cut();
        _exit(Last());
      },
      ::testing::KilledBySignal(SIGBUS), "^$");
}

}  // namespace
}  // namespace ostraka::cli::cut_file_test
