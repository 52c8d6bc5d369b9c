// One blocking function on a thread of its own, and then one on the protocol thread: closing a run
// waits for a gradient, a commit and a file, and the other runs of the process must not wait too.
//
// Promises:
//   B1  `work` runs once. `done` comes after it, through the inlet, once the thread has ended.
//   B2  Whatever `work` throws becomes the status of `done`.
//   B3  The destructor returns only after `work` has ended. If the system gives no thread, Start
//       runs `work` itself and blocks.
//
// May not know: what the functions do.
// Memory: one thread.
// What an attacker can do here: nothing.
//
// Thread safety: none; the thread of the inlet. `work` must touch nothing that this thread writes.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "node/base/status.h"
#include "node/host/threads/inlet.h"

namespace ostraka::host {

class BackgroundTask {
 public:
  // REQUIRES: `inlet` outlives the task.
  explicit BackgroundTask(const Inlet& inlet) : inlet_(inlet) {}
  ~BackgroundTask();
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;

  // REQUIRES: called once (CHECKed).
  void Start(std::function<void()> work, std::function<void(const base::Status&)> done);

 private:
  const Inlet& inlet_;
  bool started_ = false;
  // Shared with the posted `done`, which may run after the task is destroyed.
  const std::shared_ptr<std::thread> thread_ = std::make_shared<std::thread>();
};

}  // namespace ostraka::host
