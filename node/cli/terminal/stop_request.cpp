#include "node/cli/terminal/stop_request.h"

#include <atomic>

namespace ostraka::cli {
namespace {

std::atomic<bool> g_made{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler must not wait for a lock");

void OnSignal(int /*signal*/) {
  g_made = true;
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
}

void Take(int number, struct sigaction& old) {
  sigaction(number, nullptr, &old);
  if (old.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, nullptr);
}

}  // namespace

StopRequest::StopRequest() {
  g_made = false;
  Take(SIGINT, old_int_);
  Take(SIGTERM, old_term_);
}

StopRequest::~StopRequest() {
  sigaction(SIGINT, &old_int_, nullptr);
  sigaction(SIGTERM, &old_term_, nullptr);
}

bool StopRequest::made() const { return g_made; }

}  // namespace ostraka::cli
