// Reads a node's ledger, also while the node runs: `ostraka ledger`, `ostraka status`, `export`.
//
// Opening takes no lock and writes nothing that affects the node. Each call sees one consistent
// snapshot; two calls may see different ones.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
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
  std::string outcome;       // one line; empty while the node runs and after it was killed
  std::uint64_t slots = 0;   // ever signed by the key, pruned ones included
  std::uint64_t blocks = 0;  // still in the ledger
  std::uint64_t evidence = 0;
  // Below this step, only blocks with a removal or an open case are kept, and no slots.
  std::uint64_t pruned_below = 0;
  std::map<PeerId, std::string> names;  // of members that have one
};

struct HandoverRow {
  std::uint64_t height = 0;  // of its block
  base::Bytes file;
};

struct EvidenceRow {
  Digest digest;
  // Absent if the evidence file could not be decoded when it was stored.
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
  // NotFound: no ledger there. InvalidArgument: not a ledger of ostraka, or damaged.
  // FailedPrecondition: another schema.
  static base::StatusOr<LedgerReader> Open(const std::string& data_dir);
  // InvalidArgument also: it is of another run than that of the manifest, `run_id`.
  static base::StatusOr<LedgerReader> OpenOf(const std::string& data_dir, const Digest& run_id);

  base::StatusOr<LedgerSummary> Summary();

  // Calls `visit` for the blocks from `first_height` on (0: genesis; step + 1 for the block of a
  // step), until `visit` returns false. InvalidArgument at a damaged block.
  base::Status ForEachBlock(std::uint64_t first_height,
                            const std::function<bool(const wire::Block&)>& visit);
  // The lowest height from which on no block is pruned and all blocks together have at most
  // `most_bytes`; above the newest block if that one is larger.
  base::StatusOr<std::uint64_t> FirstHeightWithin(std::uint64_t most_bytes);
  // NotFound while the genesis block is not sealed.
  base::StatusOr<wire::Block> LastBlock();

  // Removals of `peer`, or of all; ordered by block.
  base::StatusOr<std::vector<wire::Removal>> Removals(const std::optional<PeerId>& peer);
  // Evidence against `accused`, or all; ordered by step.
  base::StatusOr<std::vector<EvidenceRow>> Evidence(const std::optional<PeerId>& accused);
  base::StatusOr<base::Bytes> EvidenceFile(const Digest& digest);
  // The files, by height (proofs/evidence/handover.h); none in a ledger of an older version.
  base::StatusOr<std::vector<HandoverRow>> Handovers();
  // The series `name`, ordered by step. A value that is no finite number is stored as none, and
  // read as not a number.
  base::StatusOr<std::vector<MetricRow>> Metrics(const std::string& name);

 private:
  base::Status ReadNames(LedgerSummary& summary);
  // Of a row of (height, block).
  base::StatusOr<wire::Block> BlockIn(const sqlite::Statement& row) const;

  LedgerReader(std::string path, sqlite::Database database);

  std::string path_;
  sqlite::Database database_;
};

// Checks that `database` is a ledger of ostraka, for the writer and readers. InvalidArgument: it is
// not. FailedPrecondition: another schema.
base::Status CheckLedgerSchema(sqlite::Database& database, const std::string& path);

}  // namespace ostraka::store
