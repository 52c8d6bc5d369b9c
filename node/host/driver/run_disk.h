// What a run keeps on disk: the records of its machine in the ledger, its states as files, and, for
// audits, every frame that came. Keeps the part of the contract of a driver that is about Stores
// (node/machine/machine.h, 3).
//
// Promises:
//   D1  Each Store that Append took is reported by `stored` once, in the order of Append (CHECKed),
//       after its records survive a crash (Ledger, 1 and 2).
//   D2  After `failed` (CHECKed), or an exception of `stored`, no Store is reported.
//   D3  Metrics, states and frames never end a run: their failures are notices.
//   D4  Nothing here waits for the disk but CloseLedger, Free, and, once RecordFrames was called,
//       Record.
//
// May not know: what is stored; the machine; sockets.
// Memory: the ledger's queue (LedgerOptions::max_queued_bytes), the ids of Stores in flight, two
// references to states.
// What an attacker can do here: its frames fill the file of frames, if a user asked for one.
//
// Thread safety: none; the protocol thread. The closing thread may call CloseLedger, stats and Free
// once the protocol thread makes no more calls. Completions may still reach the protocol thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/base/status.h"
#include "node/host/threads/inlet.h"
#include "node/protocol/ground/machine.h"
#include "node/store/checkpoint_writer.h"
#include "node/store/ledger.h"

namespace ostraka::host {

struct RunDiskEvents {
  std::function<void(protocol::StoreId)> stored;
  // Nothing more will be stored, for this reason. Called at most once.
  std::function<void(const base::Status&)> failed;
  std::function<void(const base::Status&)> checkpoint_failed;
};

class RunDisk {
 public:
  // `states.failed` is replaced. Nullopt: no states are kept. REQUIRES: `ledger` is open and not
  // started; `inlet` outlives the disk.
  RunDisk(const Inlet& inlet, std::unique_ptr<store::Ledger> ledger,
          std::optional<store::CheckpointWriterOptions> states, RunDiskEvents events);

  // REQUIRES: called once, before Append.
  void Start();

  // Ledger::Append's errors.
  base::Status Append(protocol::Store store);
  bool StoresInFlight() const { return !in_flight_.empty(); }

  void Metric(std::uint64_t step, const std::string& name, double value);
  // Offers a state to be kept.
  void Offer(const protocol::StepDone& done);
  // The parameters with which a stranger can judge the gradient.
  void Keep(const protocol::FalseGradient& seen);

  store::LedgerStats stats() const { return ledger_->stats(); }

  // Commits what is queued and records the outcome. The ledger's first failure, if it failed.
  base::Status CloseLedger(const std::string& outcome);
  // Writes the last state, gives up the folder, and returns the state's file. NotFound if there is
  // none; WriteCheckpoint's errors. The folder is given up whatever fails. REQUIRES: the ledger is
  // closed; nothing is called from then on.
  base::StatusOr<std::string> Free();

 private:
  void Stored(const std::vector<protocol::StoreId>& ids);

  const Inlet& inlet_;
  const RunDiskEvents events_;
  std::unique_ptr<store::Ledger> ledger_;            // until Free
  std::unique_ptr<store::CheckpointWriter> states_;  // null: none are kept
  std::deque<protocol::StoreId> in_flight_;          // in the order of Append
  bool reporting_ = false;                           // stays true if `stored` throws
  bool failed_ = false;                              // `failed` was called
};

}  // namespace ostraka::host
