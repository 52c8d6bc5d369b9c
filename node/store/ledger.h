// The node's durable memory. <data_dir>/ledger.sqlite holds its signed slots, blocks, evidence and
// metrics (SQLite, WAL, synchronous=FULL; tables in node/store/ledger_schema.h). <data_dir>/bulk
// holds the bytes of states and results (bulk_file.h).
//
// Promises
// 1. A Store is reported committed only after its records survive a power cut. Its records are
//    written all or none. Everything queued while one commit syncs shares the next commit.
// 2. Stores commit, and are reported, in the order of Append.
// 3. A key never gets a second value, and a pruned slot never a signature. A Store that tries this
//    ends the ledger: its cause is a local bug or a copied folder.
// 4. The file stops growing: records older than keep_steps are pruned (ledger_tables.h).
// 5. After any failure nothing more is written or reported, because a node that cannot remember
//    must not sign.
// 6. A Store is reported committed only while the folder's files are the ones that were opened. One
//    that was moved, deleted or replaced meanwhile ends the ledger: the node that starts in its
//    place would not know what was signed.
//
// Errors of Open, each one line with the problem and its remedy:
//   FailedPrecondition  folder in use by a live process; folder of another run, key or schema
//   InvalidArgument     ledger.sqlite is no ledger, or is damaged; bulk is damaged (Restore)
//   Unavailable         folder or disk not writable, disk full
//
// A restarted node resumes from the records here: Restore(). A known key with an empty folder is
// safe too: the machine then signs only REJOIN until a block admits it.
//
// Thread safety: Append, AppendMetric and stats from any thread; Start and Close from the owner's.
// The callbacks run on the writer thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/base/time.h"
#include "node/protocol/ground/machine.h"
#include "node/store/bulk_file.h"
#include "node/store/data_folder.h"
#include "node/store/file_identity.h"
#include "node/store/ledger_tables.h"
#include "node/store/sqlite.h"

namespace ostraka::store {

using base::Digest;
using base::PeerId;

struct LedgerOptions {
  std::string data_dir;
  Digest run_id;
  PeerId peer;  // the owner of the recorded slots
  // Of members that have one, for those who read the ledger; a new ledger keeps them.
  std::map<PeerId, std::string> names = {};
  // Limit on queued bytes: reaching it means a dead disk (protocol::MostWaitingForDisk).
  std::size_t max_queued_bytes = std::size_t{256} << 20;
  // Number of steps for which slots, quiet blocks and metrics are kept. REQUIRES: >=
  // kLeastKeptSteps.
  std::uint64_t keep_steps = 10'000;
};
// Peers are accountable for 16 steps (docs/protocol/step.md) and ask each other for that many.
inline constexpr std::uint64_t kLeastKeptSteps = 64;

struct LedgerCallbacks {
  // Ids of Stores that became durable, in the order of Append.
  std::function<void(std::vector<protocol::StoreId>)> committed;
  // Called at most once, as the last callback, with the reason why nothing more will be committed.
  std::function<void(base::Status)> failed;
};

struct LedgerStats {
  std::uint64_t stores = 0;
  std::uint64_t commits = 0;   // stores / commits: the effect of group commit
  base::Duration commit_time;  // sum over commits, syncs included
  base::Duration longest_commit;
  std::size_t waiting_bytes = 0;  // currently queued for the disk
};

class Ledger {
 public:
  static base::StatusOr<std::unique_ptr<Ledger>> Open(LedgerOptions options);
  ~Ledger();

  // The records that the machine resumes from; null if nothing was ever stored. REQUIRES: not
  // started.
  base::StatusOr<std::shared_ptr<const protocol::Restored>> Restore();

  // Starts the writer thread. REQUIRES: called once, before Append.
  void Start(LedgerCallbacks callbacks);

  // Queues `store`; never waits for the disk. Unavailable if too much is queued; after a failure,
  // the failure.
  base::Status Append(protocol::Store store);
  // Queues a metric for people; durable with the next Store, or within a second.
  base::Status AppendMetric(std::uint64_t step, std::string name, double value);

  // Commits what is queued, records the run's outcome (one line) and ends the writer. The folder is
  // unlocked when the Ledger is destroyed. A second call returns the result of the first.
  base::Status Close(const std::string& outcome);

  LedgerStats stats() const;

 private:
  struct Metric {
    std::uint64_t step;
    std::string name;
    double value;
  };
  struct Batch {
    std::vector<protocol::Store> stores;
    std::vector<Metric> metrics;
    std::size_t bytes = 0;
    bool empty() const { return stores.empty() && metrics.empty(); }
  };

  Ledger(LedgerOptions options, DataFolder folder, sqlite::Database database, BulkFile bulk);

  void WriterLoop();
  // Waits for something to commit; nullopt once closing and empty.
  std::optional<Batch> NextBatch();
  base::Status Commit(const Batch& batch);
  base::Status Apply(const Batch& batch);
  base::Status CheckFiles() const;
  void Fail(const base::Status& status);

  const LedgerOptions options_;
  // Destroyed last: the folder stays locked until the database is closed.
  DataFolder folder_;
  sqlite::Database database_;             // the writer thread's after Start
  BulkFile bulk_;                         // the writer thread's after Start
  std::unique_ptr<LedgerTables> tables_;  // the writer thread's after Start
  std::vector<FileIdentity> files_;       // the writer thread's after Start
  LedgerCallbacks callbacks_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  Batch pending_;         // guarded by mutex_
  bool closing_ = false;  // guarded by mutex_
  base::Status failure_;  // guarded by mutex_: the first failure
  LedgerStats stats_;     // guarded by mutex_
  bool closed_ = false;   // owner's thread only
  std::thread writer_;
};

}  // namespace ostraka::store
