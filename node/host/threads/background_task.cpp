#include "node/host/threads/background_task.h"

#include <exception>
#include <string>
#include <system_error>
#include <utility>

#include "node/base/check.h"

namespace ostraka::host {
namespace {

base::Status Attempt(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& error) {
    return base::Internal("a library failed: " + std::string(error.what()));
  }
  return base::OkStatus();
}

}  // namespace

BackgroundTask::~BackgroundTask() {
  if (thread_.joinable()) thread_.join();
}

void BackgroundTask::Start(std::function<void()> work,
                           std::function<void(const base::Status&)> done) {
  OSTRAKA_CHECK(!std::exchange(started_, true));
  const auto both = [this, run = std::move(work), tell = std::move(done)] {
    inlet_.Post([status = Attempt(run), tell] { tell(status); });
  };
  try {
    thread_ = std::thread(both);
  } catch (const std::system_error&) {
    both();
  }
}

}  // namespace ostraka::host
