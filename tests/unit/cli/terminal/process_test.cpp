#include "node/cli/terminal/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace ostraka::cli::process_test {
namespace {

// Far longer than any of these children runs: a hang fails the test, a busy machine does not.
constexpr int kDeadlineMs = 60'000;

class ProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "ostraka-process-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  ProcessOptions Shell(const std::string& script) const {
    return {.program = "/bin/sh", .arguments = {"-c", script}, .stderr_file = folder_ + "/stderr"};
  }

  // Reads until the child has closed its stdout.
  static std::vector<std::string> ReadAll(Process& process) {
    std::vector<std::string> all;
    while (process.stdout_fd() >= 0) {
      pollfd fd{process.stdout_fd(), POLLIN, 0};
      EXPECT_EQ(poll(&fd, 1, kDeadlineMs), 1) << "the child neither wrote nor ended";
      auto lines = process.ReadLines();
      EXPECT_TRUE(lines.ok());
      if (!lines.ok() || HasFailure()) break;
      all.insert(all.end(), lines->begin(), lines->end());
    }
    return all;
  }

  static void ReadUntilALine(Process& process) {
    for (bool read_one = false; !read_one && process.stdout_fd() >= 0;) {
      pollfd fd{process.stdout_fd(), POLLIN, 0};
      if (poll(&fd, 1, kDeadlineMs) != 1) return;
      const auto lines = process.ReadLines();
      read_one = lines.ok() && !lines->empty();
    }
  }

  // Waits for the end without reaping the process, which is Poll's task.
  static int StatusOf(Process& process) {
    siginfo_t info{};
    EXPECT_EQ(waitid(P_PID, static_cast<id_t>(process.pid()), &info, WEXITED | WNOWAIT), 0);
    const auto status = process.Poll();
    EXPECT_TRUE(status.has_value());
    return status.value_or(-1);
  }

  std::string folder_;
};

TEST_F(ProcessTest, GivesLinesTheLogAndTheExitCode) {
  auto process = Process::Start(Shell("echo one; echo two; echo oops >&2; exit 7"));
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(ReadAll(*process), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(StatusOf(*process), 7);
  EXPECT_EQ(process->Poll(), 7);  // repeatable
  std::ifstream log(folder_ + "/stderr");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(log), {}), "oops\n");
}

TEST_F(ProcessTest, OnlyWholeLinesAreReturned) {
  auto process = Process::Start(Shell("printf 'ha'; printf 'lf\\nrest'"));
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(ReadAll(*process), std::vector<std::string>{"half"});
}

TEST_F(ProcessTest, ReadingDoesNotBlock) {
  auto process = Process::Start(Shell("exec tail -f /dev/null"));
  ASSERT_TRUE(process.ok());
  const auto lines = process->ReadLines();  // would hang here
  ASSERT_TRUE(lines.ok());
  EXPECT_TRUE(lines->empty());
  EXPECT_FALSE(process->Poll().has_value());
}

TEST_F(ProcessTest, AnEndlessLineIsRefused) {
  auto process = Process::Start(Shell("exec cat /dev/zero"));
  ASSERT_TRUE(process.ok());
  for (;;) {
    pollfd fd{process->stdout_fd(), POLLIN, 0};
    ASSERT_EQ(poll(&fd, 1, kDeadlineMs), 1);
    const auto lines = process->ReadLines();
    if (lines.ok()) {
      ASSERT_TRUE(lines->empty());
      continue;
    }
    EXPECT_EQ(lines.status().code(), absl::StatusCode::kInternal);
    break;
  }
}

TEST_F(ProcessTest, SignalIsSentAndTheEndReported) {
  auto process = Process::Start(Shell("kill -STOP $$"));
  ASSERT_TRUE(process.ok());
  process->Signal(SIGKILL);
  EXPECT_EQ(StatusOf(*process), 128 + SIGKILL);
  process->Signal(SIGKILL);  // the child has ended: no effect
}

TEST_F(ProcessTest, RunningProcessIsKilledAndReaped) {
  pid_t pid = -1;
  {
    auto process = Process::Start(Shell("exec tail -f /dev/null"));
    ASSERT_TRUE(process.ok());
    pid = process->pid();
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_EQ(waitpid(pid, nullptr, 0), -1);  // no zombie is left
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(ProcessTest, MovingTransfersOwnership) {
  auto first = Process::Start(Shell("echo moved"));
  auto second = Process::Start(Shell("exec tail -f /dev/null"));
  ASSERT_TRUE(first.ok() && second.ok());
  const pid_t replaced = second->pid();
  *second = std::move(*first);
  EXPECT_EQ(waitpid(replaced, nullptr, 0), -1);  // killed and reaped by the assignment
  Process third(std::move(*second));
  EXPECT_EQ(ReadAll(third), std::vector<std::string>{"moved"});
  EXPECT_EQ(StatusOf(third), 0);
}

TEST_F(ProcessTest, OnlyTheGivenDescriptorIsInherited) {
  // Both would be inherited without close-on-exec, which everything that we open has.
  const int given = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int kept = open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_TRUE(given >= 0 && kept >= 0);
  ProcessOptions options = Shell("ls /proc/$$/fd; readlink /proc/$$/fd/0");
  options.inherited_fd = given;
  auto other = Process::Start(Shell("exec tail -f /dev/null"));  // only we hold its pipe
  auto process = Process::Start(options);
  ASSERT_TRUE(other.ok() && process.ok());
  std::vector<std::string> lines = ReadAll(*process);
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.back(), "/dev/null");  // stdin
  lines.pop_back();
  const auto has = [&lines](int fd) {
    return std::find(lines.begin(), lines.end(), std::to_string(fd)) != lines.end();
  };
  EXPECT_TRUE(has(0) && has(1) && has(2) && has(given));
  EXPECT_FALSE(has(kept));
  EXPECT_FALSE(has(other->stdout_fd()));
  EXPECT_NE(fcntl(given, F_GETFD) & FD_CLOEXEC, 0);  // unchanged in the parent
  close(given);
  close(kept);
}

TEST_F(ProcessTest, HasAGroupOfItsOwn) {
  auto process = Process::Start(Shell("cut -d' ' -f5 /proc/$$/stat"));
  ASSERT_TRUE(process.ok());
  const pid_t pid = process->pid();
  const auto lines = ReadAll(*process);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(std::stoi(lines[0]), pid);
}

TEST_F(ProcessTest, DoesNotOutliveAParentThatWasKilled) {
  // In the end only the grandchild holds the writing end of the pipe, so its death closes the pipe.
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    ProcessOptions options = Shell("echo started; exec tail -f /dev/null > /dev/null");
    options.inherited_fd = ends[1];
    auto process = Process::Start(options);
    if (!process.ok()) _exit(1);
    ReadUntilALine(*process);
    kill(getpid(), SIGKILL);  // no destructor runs
  }
  close(ends[1]);
  int status = 0;
  ASSERT_EQ(waitpid(parent, &status, 0), parent);
  ASSERT_TRUE(WIFSIGNALED(status));
  pollfd fd{ends[0], POLLIN, 0};
  ASSERT_EQ(poll(&fd, 1, kDeadlineMs), 1) << "the child is still there";
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 0);
  close(ends[0]);
}

TEST_F(ProcessTest, FailureToStartIsReported) {
  ProcessOptions options = Shell("true");
  options.stderr_file = folder_ + "/none/stderr";
  const auto refused = Process::Start(options);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(base::MessageOf(refused.status()).find(options.stderr_file), std::string::npos);

  options = Shell("true");
  options.program = folder_ + "/none";
  auto process = Process::Start(options);
  ASSERT_TRUE(process.ok());
  EXPECT_TRUE(ReadAll(*process).empty());
  EXPECT_EQ(StatusOf(*process), 127);  // the status that a shell returns
}

}  // namespace
}  // namespace ostraka::cli::process_test
