// Writes checkpoints while a node trains, on a thread of its own, so that a slow disk holds up
// neither the protocol nor the ledger.
//
// - Every `every` steps the state is taken over by reference; nothing is copied.
// - While one is being written one more waits; a newer one takes its place, so that a disk slower
//   than training loses checkpoints, never steps.
// - The newest `keep` files stay; older ones go after a newer one is safe on disk.
// - The last state is always written: it is what the run was for.
//
// Thread safety: one owner; `failed` is called on the writing thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "node/base/status.h"
#include "node/protocol/ground/observation.h"
#include "node/store/checkpoint.h"

namespace ostraka::store {

struct CheckpointWriterOptions {
  std::string data_dir;     // locked by this process (node/store/data_folder.h)
  std::uint64_t every = 0;  // steps; 0: only the last state
  std::size_t keep = 3;     // files; at least 1
  base::TensorLayout layout;
  base::SafetensorsMetadata metadata;
  // A checkpoint could not be written: one line. Training goes on.
  std::function<void(const base::Status&)> failed;
};

class CheckpointWriter {
 public:
  // REQUIRES: keep > 0, failed is not null.
  explicit CheckpointWriter(CheckpointWriterOptions options);
  // Writes what waits.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // A step is done. Never waits for the disk.
  void Offer(const protocol::StepDone& done);

  // Writes the last state that was offered, unless it is there already, and ends the thread. The
  // path of the file; NotFound if no step was done; WriteCheckpoint's errors. REQUIRES: called
  // once.
  base::StatusOr<std::string> Finish();

 private:
  struct State {
    std::uint64_t step;
    protocol::ModelState state;
  };

  void WriterLoop();
  base::Status Write(const State& state) const;
  base::Status Prune() const;

  const CheckpointWriterOptions options_;
  std::optional<State> last_;  // the owner's: offered last

  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<State> waiting_;          // guarded by mutex_
  bool closing_ = false;                  // guarded by mutex_
  std::optional<std::uint64_t> written_;  // guarded by mutex_: the last step that is on disk
  std::thread thread_;
};

}  // namespace ostraka::store
