// One blocking function on a thread of its own, and then one on the protocol thread: closing a run
// waits for a gradient, a commit and a file, and the other runs of the process must not wait too.
//
// Promises:
//   B1  `work` runs once, and `done` after it, through the inlet.
//   B2  A std::exception of `work` becomes the status of `done`.
//   B3  The destructor returns only after `work` has ended. Without a thread to be had, Start
//       itself runs `work`.
//
// May not know: what the functions do.
// Memory: one thread.
// What an attacker can do here: nothing.
//
// Thread safety: none; the thread of the inlet. `work` must touch nothing that this thread writes.
#pragma once

#include <functional>
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
  std::thread thread_;
};

}  // namespace ostraka::host
