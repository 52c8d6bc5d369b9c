// The node's durable memory: slots it signed, blocks, evidence and metrics, in
// <data_dir>/ledger.sqlite (SQLite, WAL, synchronous=FULL; tables in node/store/ledger_schema.h),
// and the bytes of states and results in <data_dir>/bulk (bulk_file.h).
//
// Promises
// - A Store is reported committed only after its records survive a power cut; its records are
//   written all or none. Everything queued while one commit syncs shares the next one.
// - Stores commit, and are reported, in the order of Append.
// - A key never gets a second value, a forgotten slot never a signature: a Store that tries, which
//   is our own bug or a copied folder, ends the ledger.
// - The file stops growing: what is older than keep_steps is pruned (ledger_tables.h).
// - After any failure nothing more is written or reported: a node that cannot remember must not
//   sign.
//
// Opening rules; each refusal is one line that says what is wrong and what to do.
//   FailedPrecondition  folder in use by a live process; of another run; of another key; another
//                       schema
//   InvalidArgument     ledger.sqlite is no ledger, or is damaged; so is bulk (Restore)
//   Unavailable         folder or disk not writable, disk full
//
// A node that starts again finds here what it signed, and goes on from it: Restore(). An empty
// folder for a key that has been in the run is safe too: the machine then signs nothing but REJOIN
// until a block admits it.
//
// Thread safety: Append, AppendMetric and stats from any thread; Start and Close from the owner's.
// The callbacks run on the writer thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
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
#include "node/store/ledger_tables.h"
#include "node/store/sqlite.h"

namespace ostraka::store {

using base::Digest;
using base::PeerId;

struct LedgerOptions {
  std::string data_dir;
  Digest run_id;
  PeerId peer;  // whose slots these are
  // What may wait for the disk: far above what a run makes, so reaching it means a dead disk.
  std::size_t max_queued_bytes = std::size_t{256} << 20;
  // Steps of which slots, quiet blocks and metrics are kept. REQUIRES: at least kLeastKeptSteps.
  std::uint64_t keep_steps = 10'000;
};
// Peers stay accountable for 16 steps (docs/protocol.md, 5), and ask each other for as many.
inline constexpr std::uint64_t kLeastKeptSteps = 64;

struct LedgerCallbacks {
  // Ids of Stores that are now durable, in the order of Append.
  std::function<void(std::vector<protocol::StoreId>)> committed;
  // At most once, and the last call: why nothing more will be committed.
  std::function<void(base::Status)> failed;
};

struct LedgerStats {
  std::uint64_t stores = 0;
  std::uint64_t commits = 0;   // stores / commits: how well group commit works
  base::Duration commit_time;  // sum over commits, syncs included
  base::Duration longest_commit;
  std::size_t waiting_bytes = 0;  // now, for the disk
};

class Ledger {
 public:
  static base::StatusOr<std::unique_ptr<Ledger>> Open(LedgerOptions options);
  ~Ledger();

  // What it keeps for the machine; null if nothing was ever stored. REQUIRES: not started.
  base::StatusOr<std::shared_ptr<const protocol::Restored>> Restore();

  // Starts the writer thread. REQUIRES: called once, before Append.
  void Start(LedgerCallbacks callbacks);

  // Queues `store`; never waits for the disk. Unavailable if too much is queued; the failure, if
  // the ledger has failed.
  base::Status Append(protocol::Store store);
  // Queues a number for people; durable with the next Store, or within a second.
  base::Status AppendMetric(std::uint64_t step, std::string name, double value);

  // Commits what is queued, notes how the run ended (one line) and ends the writer. The folder is
  // free again when the Ledger is destroyed. A second call returns what the first one did.
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
  // What is queued, as soon as there is something to commit; nullopt: closing, nothing left.
  std::optional<Batch> NextBatch();
  base::Status Commit(const Batch& batch);
  base::Status Apply(const Batch& batch);
  void Fail(const base::Status& status);

  const LedgerOptions options_;
  // Destroyed last: the folder stays locked until the database is closed.
  DataFolder folder_;
  sqlite::Database database_;             // the writer thread's, once started
  BulkFile bulk_;                         // likewise
  std::unique_ptr<LedgerTables> tables_;  // likewise
  LedgerCallbacks callbacks_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  Batch pending_;         // guarded by mutex_
  bool closing_ = false;  // guarded by mutex_
  base::Status failure_;  // guarded by mutex_: the failure
  LedgerStats stats_;     // guarded by mutex_
  bool closed_ = false;   // the owner's
  std::thread writer_;
};

}  // namespace ostraka::store
