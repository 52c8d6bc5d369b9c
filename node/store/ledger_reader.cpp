#include "node/store/ledger_reader.h"

#include <cmath>
#include <filesystem>
#include <utility>

#include "node/protocol/ground/member_name.h"
#include "node/store/ledger_schema.h"

namespace ostraka::store {
namespace {

base::Status Damaged(const std::string& path, const std::string& what) {
  return base::InvalidArgument(path + ": is damaged: " + what);
}

template <typename Id>
base::StatusOr<Id> ParseId(const std::string& path, const std::string& hex) {
  const std::optional<Id> id = Id::FromHexDigits(hex);
  if (!id) return Damaged(path, "'" + hex + "' is no id of 64 hexadecimal digits");
  return *id;
}

}  // namespace

base::Status CheckLedgerSchema(sqlite::Database& database, const std::string& path) {
  ASSIGN_OR_RETURN(const std::int64_t application, database.QueryInteger("PRAGMA application_id"));
  if (application != kLedgerApplicationId) {
    return base::InvalidArgument(path +
                                 ": is a database, but no ledger of ostraka: name another "
                                 "data folder");
  }
  ASSIGN_OR_RETURN(const std::int64_t version, database.QueryInteger("PRAGMA user_version"));
  if (version != kLedgerSchemaVersion) {
    return base::FailedPrecondition(path + ": has schema " + std::to_string(version) +
                                    ", this ostraka reads " + std::to_string(kLedgerSchemaVersion) +
                                    ": use the version of ostraka that wrote it");
  }
  return base::OkStatus();
}

LedgerReader::LedgerReader(std::string path, sqlite::Database database)
    : path_(std::move(path)), database_(std::move(database)) {}

base::StatusOr<LedgerReader> LedgerReader::Open(const std::string& data_dir) {
  const std::string path = data_dir + "/" + kLedgerFileName;
  std::error_code ignored;  // on an error, opening it reports the reason
  if (std::filesystem::status(path, ignored).type() == std::filesystem::file_type::not_found) {
    return base::NotFound(path + ": is not there: name the data folder of a node");
  }
  ASSIGN_OR_RETURN(sqlite::Database database,
                   sqlite::Database::Open(path, sqlite::Database::Mode::kReadOnly));
  RETURN_IF_ERROR(CheckLedgerSchema(database, path));
  return LedgerReader(path, std::move(database));
}

base::StatusOr<LedgerReader> LedgerReader::OpenOf(const std::string& data_dir,
                                                  const Digest& run_id) {
  ASSIGN_OR_RETURN(LedgerReader ledger, Open(data_dir));
  ASSIGN_OR_RETURN(const LedgerSummary summary, ledger.Summary());
  if (summary.run_id == run_id) return ledger;
  return base::InvalidArgument(data_dir + " belongs to run " + summary.run_id.Short() +
                               ", and the manifest to run " + run_id.Short() +
                               ": give folders of one run and its manifest");
}

base::StatusOr<LedgerSummary> LedgerReader::Summary() {
  ASSIGN_OR_RETURN(sqlite::Statement row, database_.Prepare(R"sql(
      SELECT (SELECT value FROM meta WHERE key = 'run_id'),
             (SELECT value FROM meta WHERE key = 'peer'),
             (SELECT value FROM meta WHERE key = 'created_utc'),
             (SELECT value FROM meta WHERE key = 'outcome'),
             (SELECT count(*) FROM slots), (SELECT count(*) FROM blocks),
             (SELECT count(*) FROM evidence),
             (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'pruned_slots'),
             (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'pruned_below'))sql"));
  ASSIGN_OR_RETURN(const bool found, row.Step());
  if (!found) return Damaged(path_, "nothing is in it");
  LedgerSummary summary;
  ASSIGN_OR_RETURN(summary.run_id, ParseId<base::Digest>(path_, row.Text(0)));
  ASSIGN_OR_RETURN(summary.peer, ParseId<base::PeerId>(path_, row.Text(1)));
  summary.created_utc = row.Text(2);
  summary.outcome = row.Text(3);
  summary.slots = static_cast<std::uint64_t>(row.Integer(4) + row.Integer(7));  // NULL counts as 0
  summary.blocks = static_cast<std::uint64_t>(row.Integer(5));
  summary.evidence = static_cast<std::uint64_t>(row.Integer(6));
  summary.pruned_below = static_cast<std::uint64_t>(row.Integer(8));
  RETURN_IF_ERROR(ReadNames(summary));
  return summary;
}

base::Status LedgerReader::ReadNames(LedgerSummary& summary) {
  const std::string key = kLedgerNameKey;
  ASSIGN_OR_RETURN(sqlite::Statement rows,
                   database_.Prepare("SELECT substr(key, ?1), value FROM meta "
                                     "WHERE substr(key, 1, ?1 - 1) = ?2"));
  rows.Bind(1, static_cast<std::int64_t>(key.size() + 1)).Bind(2, key);
  for (;;) {
    ASSIGN_OR_RETURN(const bool found, rows.Step());
    if (!found) return base::OkStatus();
    ASSIGN_OR_RETURN(const PeerId peer, ParseId<PeerId>(path_, rows.Text(0)));
    const std::string name = rows.Text(1);
    const base::Status good = protocol::CheckMemberName(name);
    if (!good.ok()) return Damaged(path_, base::MessageOf(good));
    summary.names.emplace(peer, name);
  }
}

base::Status LedgerReader::ForEachBlock(std::uint64_t first_height,
                                        const std::function<bool(const wire::Block&)>& visit) {
  ASSIGN_OR_RETURN(
      sqlite::Statement rows,
      database_.Prepare("SELECT height, block FROM blocks WHERE height >= ?1 ORDER BY height"));
  rows.Bind(1, static_cast<std::int64_t>(first_height));
  for (;;) {
    ASSIGN_OR_RETURN(const bool found, rows.Step());
    if (!found) return base::OkStatus();
    ASSIGN_OR_RETURN(const wire::Block block, BlockIn(rows));
    if (!visit(block)) return base::OkStatus();
  }
}

base::StatusOr<wire::Block> LedgerReader::BlockIn(const sqlite::Statement& row) const {
  auto block = wire::DecodeBlock(row.Blob(1));
  if (block.ok()) return block;
  return Damaged(
      path_, "block " + std::to_string(row.Integer(0)) + ": " + base::MessageOf(block.status()));
}

base::StatusOr<std::uint64_t> LedgerReader::FirstHeightWithin(std::uint64_t most_bytes) {
  // The block of step s has height s + 1, and blocks below the bound are kept only in part.
  ASSIGN_OR_RETURN(sqlite::Statement row, database_.Prepare(R"sql(
      SELECT ifnull(min(height), (SELECT ifnull(max(height), -1) + 1 FROM blocks)) FROM (
        SELECT height, sum(length(block)) OVER (ORDER BY height DESC) AS bytes FROM blocks)
      WHERE bytes <= ?1 AND height > ifnull(
        (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'pruned_below'), -1))sql"));
  ASSIGN_OR_RETURN(const bool found, row.Bind(1, static_cast<std::int64_t>(most_bytes)).Step());
  if (!found) return Damaged(path_, "its blocks cannot be counted");
  return static_cast<std::uint64_t>(row.Integer(0));
}

base::StatusOr<wire::Block> LedgerReader::LastBlock() {
  const auto last =
      database_.QueryInteger("SELECT height FROM blocks ORDER BY height DESC LIMIT 1");
  if (absl::IsNotFound(last.status())) {
    return base::NotFound(path_ + ": holds no block yet: the members have not met");
  }
  RETURN_IF_ERROR(last.status());
  std::optional<wire::Block> block;
  RETURN_IF_ERROR(ForEachBlock(static_cast<std::uint64_t>(*last), [&](const wire::Block& found) {
    block = found;
    return true;
  }));
  if (!block) return Damaged(path_, "its last block is gone");
  return *std::move(block);
}

// From the blocks, which have more than the rows: pruning leaves each block with a removal.
base::StatusOr<std::vector<wire::Removal>> LedgerReader::Removals(
    const std::optional<base::PeerId>& peer) {
  ASSIGN_OR_RETURN(sqlite::Statement rows,
                   database_.Prepare("SELECT height, block FROM blocks WHERE height IN (SELECT "
                                     "height FROM removals WHERE ?1 = '' OR peer = ?1) "
                                     "ORDER BY height"));
  rows.Bind(1, peer ? peer->Hex() : std::string());
  std::vector<wire::Removal> removals;
  for (;;) {
    ASSIGN_OR_RETURN(const bool found, rows.Step());
    if (!found) return removals;
    ASSIGN_OR_RETURN(const wire::Block block, BlockIn(rows));
    for (const wire::Removal& removal : block.removals) {
      if (!peer || removal.peer == *peer) removals.push_back(removal);
    }
  }
}

base::StatusOr<std::vector<EvidenceRow>> LedgerReader::Evidence(
    const std::optional<base::PeerId>& accused) {
  ASSIGN_OR_RETURN(sqlite::Statement rows,
                   database_.Prepare("SELECT digest, step, kind, accused FROM evidence "
                                     "WHERE ?1 = '' OR accused = ?1 ORDER BY step, digest"));
  rows.Bind(1, accused ? accused->Hex() : std::string());
  std::vector<EvidenceRow> evidence;
  for (;;) {
    ASSIGN_OR_RETURN(const bool found, rows.Step());
    if (!found) return evidence;
    EvidenceRow row;
    ASSIGN_OR_RETURN(row.digest, ParseId<base::Digest>(path_, rows.Text(0)));
    if (!rows.IsNull(1)) row.step = static_cast<std::uint64_t>(rows.Integer(1));
    row.kind = rows.Text(2);
    if (!rows.IsNull(3)) {
      ASSIGN_OR_RETURN(row.accused, ParseId<base::PeerId>(path_, rows.Text(3)));
    }
    evidence.push_back(std::move(row));
  }
}

base::StatusOr<base::Bytes> LedgerReader::EvidenceFile(const base::Digest& digest) {
  ASSIGN_OR_RETURN(sqlite::Statement row,
                   database_.Prepare("SELECT file FROM evidence WHERE digest = ?1"));
  ASSIGN_OR_RETURN(const bool found, row.Bind(1, digest.Hex()).Step());
  if (!found) return base::NotFound(path_ + ": holds no evidence " + digest.Hex());
  return row.Blob(0);
}

base::StatusOr<std::vector<HandoverRow>> LedgerReader::Handovers() {
  std::vector<HandoverRow> handovers;
  ASSIGN_OR_RETURN(
      const std::int64_t tables,
      database_.QueryInteger("SELECT count(*) FROM sqlite_schema WHERE name = 'handovers'"));
  if (tables == 0) return handovers;
  ASSIGN_OR_RETURN(sqlite::Statement rows,
                   database_.Prepare("SELECT height, file FROM handovers ORDER BY height"));
  for (;;) {
    ASSIGN_OR_RETURN(const bool found, rows.Step());
    if (!found) return handovers;
    handovers.push_back({static_cast<std::uint64_t>(rows.Integer(0)), rows.Blob(1)});
  }
}

base::StatusOr<std::vector<MetricRow>> LedgerReader::Metrics(const std::string& name) {
  ASSIGN_OR_RETURN(
      sqlite::Statement rows,
      database_.Prepare("SELECT step, value FROM metrics WHERE name = ?1 ORDER BY step"));
  rows.Bind(1, name);
  std::vector<MetricRow> metrics;
  for (;;) {
    ASSIGN_OR_RETURN(const bool found, rows.Step());
    if (!found) return metrics;
    const double value = rows.IsNull(1) ? std::nan("") : rows.Real(1);
    metrics.push_back({static_cast<std::uint64_t>(rows.Integer(0)), name, value});
  }
}

}  // namespace ostraka::store
