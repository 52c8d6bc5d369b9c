// Writes checkpoints during training on its own thread, so that a slow disk delays neither the
// protocol nor the ledger.
//
// - Every `every` steps it takes a reference to the state; nothing is copied.
// - While one state is being written, at most one more waits, and a newer one replaces it. So a
//   disk slower than training loses checkpoints, never steps.
// - It keeps the newest `keep` files. It deletes older ones after a newer one is safe on disk.
// - It begins by removing what a killed process did not finish: a file of a model's size for each.
// - It always writes the last state, which is the result of the run. A state of a step that had one
//   before replaces it. [A member whose update failed fetches the state that was sealed.]
//
// Thread safety: one owner; `failed` is called on the writing thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
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
  // Called if a checkpoint could not be written, with a one-line status. Training continues.
  std::function<void(const base::Status&)> failed;
};

class CheckpointWriter {
 public:
  // REQUIRES: keep > 0, failed is not null.
  explicit CheckpointWriter(CheckpointWriterOptions options);
  // Writes the waiting state.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // Offers the state of a finished step. Never waits for the disk.
  void Offer(const protocol::StepDone& done);

  // Writes the parameters at which a false gradient was due to ParametersPath, beside the states,
  // and never deletes them. At most kKeptParameters wait; others are reported to `failed`.
  static constexpr std::size_t kKeptParameters = 4;
  void Keep(const protocol::FalseGradient& seen);

  // Writes the last offered state, unless it is on disk already, and ends the thread. Returns the
  // file's path; NotFound if no step was done; WriteCheckpoint's errors. REQUIRES: called once.
  base::StatusOr<std::string> Finish();

 private:
  struct State {
    std::uint64_t step;
    protocol::ModelState state;
    std::uint64_t number;  // of the offers that brought another state
  };

  void WriterLoop();
  // Writes the first of `kept_`. REQUIRES: `lock` holds mutex_; it does so again after.
  void WriteKept(std::unique_lock<std::mutex>& lock);
  base::Status Write(const State& state) const;
  base::Status Prune() const;

  const CheckpointWriterOptions options_;
  std::optional<State> last_;  // last offered state; owner's thread only

  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<State> waiting_;          // guarded by mutex_
  std::deque<Checkpoint> kept_;           // guarded by mutex_: parameters alone
  bool closing_ = false;                  // guarded by mutex_
  std::optional<std::uint64_t> written_;  // guarded by mutex_: number of the last state on disk
  std::thread thread_;
};

}  // namespace ostraka::store
