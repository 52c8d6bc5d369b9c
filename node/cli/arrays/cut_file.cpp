#include "node/cli/arrays/cut_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "node/cli/terminal/exit_code.h"

namespace ostraka::cli {
namespace {

// What the handler reads. A place whose `end` is 0 is free.
struct Guarded {
  std::atomic<std::uintptr_t> begin = 0;
  std::atomic<std::uintptr_t> end = 0;
  std::array<char, 1200> line{};
  std::size_t line_bytes = 0;
};
std::array<Guarded, CutFileGuard::kMostFiles> guarded;
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free);

// Set by the first thread that meets the cut: several read one file, and one line is told.
std::atomic_flag told = ATOMIC_FLAG_INIT;

// Calls only what is safe in a signal handler.
void OnBusError(int signal, siginfo_t* info, void* /*context*/) {
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (const Guarded& file : guarded) {
    if (at < file.begin || at >= file.end) continue;
    while (told.test_and_set()) pause();  // until the thread that tells it ends the process
    // A line that cannot be written changes nothing about the end.
    [[maybe_unused]] const ssize_t ignored =
        write(STDERR_FILENO, file.line.data(), file.line_bytes);
    _exit(kEnvironment);
  }
  std::signal(signal, SIG_DFL);  // the access is repeated, and ends the process
}

void CatchBusErrors() {
  struct sigaction action {};
  action.sa_sigaction = OnBusError;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, nullptr);  // cannot fail for this signal
}

}  // namespace

std::string CutFileMessage(const std::string& path) {
  return path +
         ": another program cut the file short while it was read: let it finish, and read "
         "the file again";
}

CutFileGuard::CutFileGuard(const std::string& path, const void* begin, std::size_t size)
    : place_(0) {
  CatchBusErrors();
  while (place_ < guarded.size() && guarded[place_].end != 0) ++place_;
  if (place_ == guarded.size()) return;
  Guarded& file = guarded[place_];
  const std::string line = "ostraka: " + PrintableLine(CutFileMessage(path)) + "\n";
  file.line_bytes = std::min(line.size(), file.line.size());
  std::memcpy(file.line.data(), line.data(), file.line_bytes);
  file.begin = reinterpret_cast<std::uintptr_t>(begin);
  file.end = file.begin + size;
}

CutFileGuard::~CutFileGuard() {
  if (place_ < guarded.size()) guarded[place_].end = 0;
}

}  // namespace ostraka::cli
