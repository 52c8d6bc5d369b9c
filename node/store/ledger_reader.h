// Reads a node's ledger, also while the node runs: `ostraka ledger`, `ostraka status`, `export`.
//
// Opening takes no lock and writes nothing that the node could notice. Every call sees one
// consistent moment; two calls may see different ones.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/store/sqlite.h"
#include "node/wire/block.h"

namespace ostraka::store {

using base::Digest;
using base::PeerId;

struct LedgerSummary {
  Digest run_id;
  PeerId peer;
  std::string created_utc;   // ISO 8601
  std::string outcome;       // one line; empty while the node runs, or after it was killed
  std::uint64_t slots = 0;   // that the key signed, pruned ones too
  std::uint64_t blocks = 0;  // that are kept
  std::uint64_t evidence = 0;
  // Of earlier steps only blocks that removed somebody or had a case open are kept, and no slots.
  std::uint64_t pruned_below = 0;
};

struct EvidenceRow {
  Digest digest;
  // Absent if the file could not be read when it was stored.
  std::optional<std::uint64_t> step;
  std::optional<PeerId> accused;
  std::string kind;
};

struct MetricRow {
  std::uint64_t step = 0;
  std::string name;
  double value = 0;
};

class LedgerReader {
 public:
  // NotFound: no ledger there. InvalidArgument: no ledger of ostraka, or damaged.
  // FailedPrecondition: another schema.
  static base::StatusOr<LedgerReader> Open(const std::string& data_dir);

  base::StatusOr<LedgerSummary> Summary();

  // Calls `visit` for the genesis block and then each step's, from `first_height` (0: genesis,
  // step + 1 after) on, until `visit` returns false. InvalidArgument at a block that is damaged.
  base::Status ForEachBlock(std::uint64_t first_height,
                            const std::function<bool(const wire::Block&)>& visit);
  // NotFound before the genesis block is sealed.
  base::StatusOr<wire::Block> LastBlock();

  // Of `peer`, or of all; by block.
  base::StatusOr<std::vector<wire::Removal>> Removals(const std::optional<PeerId>& peer);
  // Against `accused`, or all; by step.
  base::StatusOr<std::vector<EvidenceRow>> Evidence(const std::optional<PeerId>& accused);
  base::StatusOr<base::Bytes> EvidenceFile(const Digest& digest);
  // The series `name`, by step.
  base::StatusOr<std::vector<MetricRow>> Metrics(const std::string& name);

 private:
  LedgerReader(std::string path, sqlite::Database database);

  std::string path_;
  sqlite::Database database_;
};

// Tells a ledger of ours from any other file, for the writer and readers alike.
// InvalidArgument: none of ours. FailedPrecondition: another schema.
base::Status CheckLedgerSchema(sqlite::Database& database, const std::string& path);

}  // namespace ostraka::store
