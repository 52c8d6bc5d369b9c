#include "node/host/threads/background_task.h"

#include <utility>

#include "node/base/check.h"
#include "node/host/threads/thrown.h"

namespace ostraka::host {

BackgroundTask::~BackgroundTask() {
  if (thread_->joinable()) thread_->join();
}

void BackgroundTask::Start(std::function<void()> work,
                           std::function<void(const base::Status&)> done) {
  OSTRAKA_CHECK(!std::exchange(started_, true));
  const auto both = [&inlet = inlet_, thread = thread_, run = std::move(work),
                     tell = std::move(done)] {
    inlet.Post([status = Attempt(run), thread, tell] {
      if (thread->joinable()) thread->join();  // it has posted this, and ends
      tell(status);
    });
  };
  try {
    *thread_ = std::thread(both);
  } catch (const std::exception&) {
    both();
  }
}

}  // namespace ostraka::host
