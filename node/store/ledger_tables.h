// Turns records into rows of the tables in ledger_schema.h: slots, blocks, evidence, states,
// results and metrics. Assigns places in `bulk` to large records, and prunes old rows.
//
// Promises
// - A key never gets a second value. For a slot that is FailedPrecondition (a copied folder, or a
//   key in use elsewhere); for a block Internal (a local bug).
// - A slot of a pruned step is refused, because it is unknown whether it was signed.
// - Records older than keep_steps are pruned, except those that are small and bounded by the number
//   of members: removals, evidence, the genesis block and every block with a removal or an open
//   case.
//
// Every call is part of the caller's transaction. The caller commits it after syncing `bulk`. After
// an error the caller rolls back and writes no more.
//
// Thread safety: none; used by the ledger's writer thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "node/base/bytes.h"
#include "node/base/status.h"
#include "node/protocol/ground/machine.h"
#include "node/store/bulk_file.h"
#include "node/store/sqlite.h"
#include "node/wire/block.h"

namespace ostraka::store {

// Of a row of states, results or parts that begins with its start and size.
Extent ExtentOf(const sqlite::Statement& row);

class LedgerTables {
 public:
  // REQUIRES: `database` has the tables; it and `bulk` outlive this. `data_dir` appears in
  // messages.
  static base::StatusOr<std::unique_ptr<LedgerTables>> Prepare(sqlite::Database& database,
                                                               BulkFile& bulk, std::string data_dir,
                                                               std::uint64_t keep_steps);
  ~LedgerTables();

  base::Status Apply(const protocol::Record& record);
  base::Status ApplyMetric(std::uint64_t step, const std::string& name, double value);
  // Tells the records that were applied since the last call where they are (Record::copy).
  // REQUIRES: they are durable, and `bulk` was not reclaimed since.
  void TellCopies();

 private:
  struct Statements;

  LedgerTables(sqlite::Database& database, BulkFile& bulk, std::string data_dir,
               std::uint64_t keep_steps);

  base::Status PrepareStatements();
  base::Status ApplySlot(const protocol::Record& record);
  base::Status ApplyBlock(const protocol::Record& record);
  base::Status InsertBlock(const wire::Block& block, std::uint64_t height, base::ByteView bytes);
  base::Status InsertRemovals(const wire::Block& block, std::uint64_t height);
  base::Status ApplyEvidence(const protocol::Record& record);
  base::Status ApplyState(const protocol::Record& record);
  base::Status ApplyResult(const protocol::Record& record);
  base::Status ApplyStatePart(const protocol::Record& record);
  // Writes the record's blob to `bulk`, binds its place as parameters `first` and following of
  // `add`, and runs `add`.
  base::Status AddBulk(sqlite::Statement& add, int first, const protocol::Record& record);
  // Runs `forget` and frees the extents that it returns.
  base::Status ForgetBulk(sqlite::Statement& forget);
  // Every kPruneEvery steps, prunes records older than keep_steps before `step`.
  base::Status Prune(std::uint64_t step);

  sqlite::Database& database_;
  BulkFile& bulk_;
  const std::string data_dir_;
  const std::uint64_t keep_steps_;
  const std::unique_ptr<Statements> statements_;
  std::uint64_t pruned_below_ = 0;  // slots of earlier steps are pruned
  std::vector<std::pair<std::shared_ptr<crypto::DiskCopy>, Extent>> written_;  // to be told
};

}  // namespace ostraka::store
