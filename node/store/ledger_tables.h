// What a record becomes in the tables of ledger_schema.h: the rows of slots, blocks, evidence,
// states, results and metrics, where in `bulk` the large ones are, and which rows are forgotten.
//
// Promises
// - A key never gets a second value: for a slot FailedPrecondition (a copied folder, or the key in
//   use elsewhere), for a block Internal (a bug of ours).
// - A slot of a step that was pruned is refused: whether it was signed is forgotten.
// - What is older than keep_steps goes, except what is small and bounded by the members: removals,
//   evidence, the genesis block and every block that removed somebody or had a case open.
//
// Every call is a part of the transaction that its caller opened, and that it commits once `bulk`
// is synced. Thread safety: none, the ledger's writer thread is its only user. After an error the
// caller rolls back, and writes no more.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "node/base/bytes.h"
#include "node/base/status.h"
#include "node/protocol/ground/machine.h"
#include "node/store/bulk_file.h"
#include "node/store/sqlite.h"
#include "node/wire/block.h"

namespace ostraka::store {

class LedgerTables {
 public:
  // REQUIRES: `database` has the tables; it and `bulk` outlive this. `data_dir` is for messages.
  static base::StatusOr<std::unique_ptr<LedgerTables>> Prepare(sqlite::Database& database,
                                                               BulkFile& bulk, std::string data_dir,
                                                               std::uint64_t keep_steps);
  ~LedgerTables();

  base::Status Apply(const protocol::Record& record);
  base::Status ApplyMetric(std::uint64_t step, const std::string& name, double value);

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
  // Writes `blob` and binds where it is, as parameters `first` and on, of `add`; runs it.
  base::Status AddBulk(sqlite::Statement& add, int first, const crypto::Blob& blob);
  // Runs `forget` for what is below `height`, and frees what it returns.
  base::Status ForgetBulk(sqlite::Statement& forget, std::int64_t height);
  // Forgets what is older than keep_steps before `step`, every now and then.
  base::Status Prune(std::uint64_t step);

  sqlite::Database& database_;
  BulkFile& bulk_;
  const std::string data_dir_;
  const std::uint64_t keep_steps_;
  const std::unique_ptr<Statements> statements_;
  std::uint64_t pruned_below_ = 0;  // slots of earlier steps are forgotten
};

}  // namespace ostraka::store
