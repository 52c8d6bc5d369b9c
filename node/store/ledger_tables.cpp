#include "node/store/ledger_tables.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "crypto/merkle.h"
#include "node/base/check.h"
#include "node/base/ids.h"
#include "node/protocol/mail/signer.h"
#include "node/wire/evidence_codec.h"

namespace ostraka::store {
namespace {

using base::Digest;
using protocol::Record;
using protocol::RecordKind;

// Steps between prunings: rare enough to be cheap, frequent enough to bound the file.
constexpr std::uint64_t kPruneEvery = 64;

// SQLite's integers are signed.
constexpr std::uint64_t kMaxInteger = std::numeric_limits<std::int64_t>::max();

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

// For local counts and steps, which never approach 2^63.
std::int64_t Signed(std::uint64_t value) {
  OSTRAKA_CHECK(value <= kMaxInteger);
  return static_cast<std::int64_t>(value);
}

std::uint64_t BigEndian(base::ByteView bytes) {
  std::uint64_t value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

// Offsets in protocol::SlotKey of the fields shown in readable columns.
constexpr std::size_t kSlotKeySize = 22;
constexpr std::size_t kSlotStepSize = 8;
constexpr std::size_t kSlotPhaseAt = 8;
constexpr std::size_t kSlotTypeAt = 9;
constexpr std::size_t kResultKeySize = sizeof(std::uint64_t) + sizeof(std::uint32_t);

bool HasBytes(const Record& record) { return record.blob != nullptr && record.blob->size() > 0; }

// REQUIRES: the blob has no source.
base::Digest RootOf(const crypto::Blob& blob) {
  return blob.root.is_zero() ? crypto::MerkleRootOfData(blob.data) : blob.root;
}

// Writes the blob into its extent and returns its root. A source is read in pieces, so that it is
// never whole in memory.
base::StatusOr<base::Digest> PutBlob(BulkFile& bulk, Extent extent, const crypto::Blob& blob) {
  if (blob.source == nullptr) {
    RETURN_IF_ERROR(bulk.Put(extent, 0, blob.data));
    return RootOf(blob);
  }
  constexpr std::uint64_t kPieceBytes = 16 * crypto::kChunkBytes;
  std::vector<base::Digest> leaves;
  base::Bytes piece;
  for (std::uint64_t at = 0; at < extent.size; at += piece.size()) {
    piece.resize(std::min(kPieceBytes, extent.size - at));
    RETURN_IF_ERROR(blob.source->Read(at, piece));
    RETURN_IF_ERROR(bulk.Put(extent, at, piece));
    for (const base::Digest& leaf : crypto::ChunkLeaves(piece)) leaves.push_back(leaf);
  }
  return crypto::MerkleRoot(leaves);
}

base::Status OwnBug(const std::string& what) {
  return base::Internal("ledger: " + what + ": please report this as a bug of ostraka");
}

}  // namespace

struct LedgerTables::Statements {
  struct Meta {  // write one row of the table meta each
    sqlite::Statement member;
    sqlite::Statement asks;
    sqlite::Statement fork;
    sqlite::Statement pruned;
  };
  Meta meta;
  sqlite::Statement add_slot;
  sqlite::Statement get_slot;
  sqlite::Statement add_said;
  sqlite::Statement forget_said;
  sqlite::Statement add_state;
  sqlite::Statement forget_states;
  sqlite::Statement add_result;
  sqlite::Statement forget_results;
  sqlite::Statement forget_other_result;
  sqlite::Statement add_part;
  sqlite::Statement forget_parts;
  sqlite::Statement forget_other_part;
  sqlite::Statement add_block;
  sqlite::Statement get_block;
  sqlite::Statement add_removal;
  sqlite::Statement add_evidence;
  sqlite::Statement add_handover;
  sqlite::Statement add_metric;
  sqlite::Statement prune_slots;
  sqlite::Statement prune_blocks;
  sqlite::Statement prune_metrics;
};

Extent ExtentOf(const sqlite::Statement& row) {
  return {static_cast<std::uint64_t>(row.Integer(0)), static_cast<std::uint64_t>(row.Integer(1))};
}

LedgerTables::LedgerTables(sqlite::Database& database, BulkFile& bulk, std::string data_dir,
                           std::uint64_t keep_steps)
    : database_(database),
      bulk_(bulk),
      data_dir_(std::move(data_dir)),
      keep_steps_(keep_steps),
      statements_(std::make_unique<Statements>()) {}

LedgerTables::~LedgerTables() = default;

base::StatusOr<std::unique_ptr<LedgerTables>> LedgerTables::Prepare(sqlite::Database& database,
                                                                    BulkFile& bulk,
                                                                    std::string data_dir,
                                                                    std::uint64_t keep_steps) {
  std::unique_ptr<LedgerTables> tables(
      new LedgerTables(database, bulk, std::move(data_dir), keep_steps));
  RETURN_IF_ERROR(tables->PrepareStatements());
  return tables;
}

base::Status LedgerTables::PrepareStatements() {
  const std::pair<sqlite::Statement*, const char*> all[] = {
      {&statements_->add_slot,
       "INSERT INTO slots VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING"},
      {&statements_->get_slot, "SELECT digest FROM slots WHERE slot = ?1"},
      {&statements_->add_said, "INSERT INTO said VALUES (?1, ?2) ON CONFLICT DO NOTHING"},
      // Both tables sort by step, so a deletion visits only the deleted rows.
      {&statements_->forget_said, "DELETE FROM said WHERE slot < ?1"},
      {&statements_->add_state, "INSERT INTO states VALUES (?1, ?2, ?3, ?4)"},
      {&statements_->forget_states, "DELETE FROM states WHERE height <= ?1 RETURNING start, size"},
      {&statements_->add_result,
       "INSERT INTO results VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING"},
      {&statements_->forget_results, "DELETE FROM results WHERE height < ?1 RETURNING start, size"},
      {&statements_->forget_other_result,
       "DELETE FROM results WHERE height = ?1 AND part = ?2 AND root <> ?3 RETURNING start, size"},
      {&statements_->add_part,
       "INSERT INTO state_parts VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING"},
      {&statements_->forget_parts,
       "DELETE FROM state_parts WHERE height < ?1 OR height > ?2 RETURNING start, size"},
      {&statements_->forget_other_part,
       "DELETE FROM state_parts WHERE height = ?1 AND part = ?2 AND root <> ?3 "
       "RETURNING start, size"},
      {&statements_->meta.member,
       "INSERT INTO meta VALUES ('member_since', ?1) ON CONFLICT DO NOTHING"},
      {&statements_->meta.asks,
       "INSERT INTO meta VALUES ('asks_since', ?1) ON CONFLICT DO NOTHING"},
      {&statements_->meta.fork,
       "INSERT INTO meta VALUES ('fork', ?1) ON CONFLICT (key) "
       "DO UPDATE SET value = excluded.value"},
      {&statements_->add_block,
       "INSERT INTO blocks VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, "
       "?15, ?16) ON CONFLICT DO NOTHING"},
      {&statements_->get_block, "SELECT block FROM blocks WHERE height = ?1"},
      {&statements_->add_removal, "INSERT INTO removals VALUES (?1, ?2, ?3, ?4, ?5)"},
      {&statements_->add_evidence,
       "INSERT INTO evidence (digest, step, kind, accused, file) VALUES (?1, ?2, ?3, ?4, ?5) "
       "ON CONFLICT DO NOTHING"},
      {&statements_->add_handover, "INSERT INTO handovers VALUES (?1, ?2) ON CONFLICT DO NOTHING"},
      {&statements_->add_metric, "INSERT OR REPLACE INTO metrics VALUES (?1, ?2, ?3)"},
      // Slots sort by step, so a deletion visits only the deleted rows.
      {&statements_->prune_slots, "DELETE FROM slots WHERE slot < ?1"},
      {&statements_->prune_blocks,
       "DELETE FROM blocks WHERE height > 0 AND height <= ?1 AND removals = 0 AND open_cases = 0"},
      {&statements_->prune_metrics, "DELETE FROM metrics WHERE step < ?1"},
      {&statements_->meta.pruned,
       "INSERT INTO meta VALUES ('pruned_below', ?1), ('pruned_slots', ?2) ON CONFLICT (key) "
       "DO UPDATE SET value = CASE key WHEN 'pruned_below' THEN excluded.value "
       "ELSE value + excluded.value END"},
  };
  for (const auto& [statement, sql] : all) {
    ASSIGN_OR_RETURN(*statement, database_.Prepare(sql));
  }
  ASSIGN_OR_RETURN(const std::int64_t below,
                   database_.QueryInteger("SELECT ifnull(max(CAST(value AS INTEGER)), 0) FROM meta "
                                          "WHERE key = 'pruned_below'"));
  pruned_below_ = static_cast<std::uint64_t>(below);
  return base::OkStatus();
}

base::Status LedgerTables::Apply(const Record& record) {
  switch (record.kind) {
    case RecordKind::kSlot:
      return ApplySlot(record);
    case RecordKind::kBlock:
      return ApplyBlock(record);
    case RecordKind::kEvidence:
      return ApplyEvidence(record);
    case RecordKind::kState:
      return ApplyState(record);
    case RecordKind::kResult:
      return ApplyResult(record);
    case RecordKind::kStatePart:
      return ApplyStatePart(record);
    case RecordKind::kHandover:
      return statements_->add_handover.Bind(1, Signed(BigEndian(record.key)))
          .Bind(2, record.value)
          .Run();
    case RecordKind::kFork:
      return statements_->meta.fork.Bind(1, std::string(record.value.begin(), record.value.end()))
          .Run();
    case RecordKind::kAsks:
      return statements_->meta.asks.Bind(1, std::to_string(BigEndian(record.key))).Run();
    case RecordKind::kMember:
      return statements_->meta.member.Bind(1, std::to_string(BigEndian(record.key))).Run();
  }
  return OwnBug("a record of kind " + std::to_string(static_cast<int>(record.kind)));
}

base::Status LedgerTables::ApplyMetric(std::uint64_t step, const std::string& name, double value) {
  return statements_->add_metric.Bind(1, Signed(step)).Bind(2, name).Bind(3, value).Run();
}

base::Status LedgerTables::ApplySlot(const Record& record) {
  if (record.key.size() != kSlotKeySize || record.value.empty()) {
    return OwnBug("a slot record of " + std::to_string(record.key.size()) + " + " +
                  std::to_string(record.value.size()) + " bytes");
  }
  const std::string digest = crypto::Hash(crypto::kDomainEnvelope, record.value).Hex();
  const std::uint64_t step = BigEndian(base::ByteView(record.key).first(kSlotStepSize));
  if (step < pruned_below_) {
    return base::FailedPrecondition(
        "data folder " + data_dir_ + ": a slot of step " + std::to_string(step) +
        " is to be signed, and what was signed before step " + std::to_string(pruned_below_) +
        " is forgotten: the node stops (is the key in use elsewhere?)");
  }
  RETURN_IF_ERROR(statements_->add_slot.Bind(1, record.key)
                      .Bind(2, Signed(step))
                      .Bind(3, std::int64_t{record.key[kSlotPhaseAt]})
                      .Bind(4, std::int64_t{record.key[kSlotTypeAt]})
                      .Bind(5, digest)
                      .Run());
  if (database_.changed_rows() == 1) {
    return statements_->add_said.Bind(1, record.key).Bind(2, record.value).Run();
  }
  sqlite::Statement& get = statements_->get_slot;
  ASSIGN_OR_RETURN(const bool row, get.Bind(1, record.key).Step());
  const bool same = row && get.Text(0) == digest;
  get.Reset();
  if (same) return base::OkStatus();
  return base::FailedPrecondition(
      "data folder " + data_dir_ + ": slot " + base::ToHex(record.key) +
      " was signed already for other bytes, and a second signature would be proof of cheating: the "
      "node stops (is the folder a copy, or the key in use elsewhere?)");
}

base::Status LedgerTables::ApplyBlock(const Record& record) {
  const auto decoded = wire::DecodeBlock(record.value);
  if (!decoded.ok()) {
    return OwnBug("a block that cannot be read: " + base::MessageOf(decoded.status()));
  }
  const wire::Block& block = *decoded;
  const std::uint64_t height = HeightOf(block);
  if (record.key.size() != sizeof height || BigEndian(record.key) != height) {
    return OwnBug("block " + std::to_string(height) + " under key " + base::ToHex(record.key));
  }
  RETURN_IF_ERROR(InsertBlock(block, height, record.value));
  if (database_.changed_rows() == 1) {
    RETURN_IF_ERROR(InsertRemovals(block, height));
    RETURN_IF_ERROR(statements_->forget_said.Bind(1, protocol::FirstSlotKept(record.key)).Run());
    return Prune(block.step);
  }
  sqlite::Statement& get = statements_->get_block;
  ASSIGN_OR_RETURN(const bool row, get.Bind(1, Signed(height)).Step());
  const bool same = row && get.Blob(0) == record.value;
  get.Reset();
  return same ? base::OkStatus() : OwnBug("a second block of height " + std::to_string(height));
}

base::Status LedgerTables::InsertBlock(const wire::Block& block, std::uint64_t height,
                                       base::ByteView bytes) {
  const auto applied =
      std::count(block.columns.begin(), block.columns.end(), wire::ColumnFate::kApplied);
  sqlite::Statement& add = statements_->add_block;
  add.Bind(1, Signed(height)).Bind(2, Signed(block.step)).Bind(3, std::int64_t{block.genesis});
  add.Bind(4, block.decision.Hex()).Bind(5, block.previous.Hex()).Bind(6, block.randomness.Hex());
  add.Bind(7, Signed(block.members.size()));
  add.Bind(8, Signed(block.thresholds.t_s)).Bind(9, Signed(block.thresholds.t_a));
  add.Bind(10, block.tau);
  add.Bind(11, Signed(block.columns.size())).Bind(12, std::int64_t{applied});
  add.Bind(13, Signed(block.removals.size())).Bind(14, Signed(block.cases.size()));
  if (block.state_root) {
    add.Bind(15, block.state_root->Hex());
  } else {
    add.BindNull(15);
  }
  return add.Bind(16, bytes).Run();
}

base::Status LedgerTables::InsertRemovals(const wire::Block& block, std::uint64_t height) {
  for (const wire::Removal& removal : block.removals) {
    RETURN_IF_ERROR(statements_->add_removal.Bind(1, Signed(height))
                        .Bind(2, Signed(block.step))
                        .Bind(3, removal.peer.Hex())
                        .Bind(4, wire::RemovalKindName(removal.kind))
                        .Bind(5, wire::TextOf(removal.reason))
                        .Run());
  }
  return base::OkStatus();
}

base::Status LedgerTables::ApplyEvidence(const Record& record) {
  if (record.key.size() != base::Digest::kSize) {
    return OwnBug("evidence under a key of " + std::to_string(record.key.size()) + " bytes");
  }
  sqlite::Statement& add = statements_->add_evidence;
  add.Bind(1, base::ToHex(record.key)).Bind(5, record.value);
  const auto file = wire::DecodeEvidence(record.value);
  // The step is a peer's claim. A step that no run can reach is stored as NULL.
  if (file.ok() && file->slot.step <= kMaxInteger) {
    add.Bind(2, Signed(file->slot.step));
    add.Bind(3, wire::EvidenceKindName(file->kind)).Bind(4, file->accused.Hex());
  } else {
    add.BindNull(2).BindNull(3).BindNull(4);
  }
  return add.Run();  // the key is the file's hash, so a repeated write is equal
}

base::Status LedgerTables::ApplyState(const Record& record) {
  if (record.key.size() != sizeof(std::uint64_t) || !HasBytes(record)) {
    return OwnBug("a state record without its state");
  }
  const std::int64_t height = Signed(BigEndian(record.key));
  // One of this height may be another: the member found that its state differed, and fetched it.
  RETURN_IF_ERROR(ForgetBulk(statements_->forget_states.Bind(1, height)));
  RETURN_IF_ERROR(AddBulk(statements_->add_state.Bind(1, height), 2, record));
  RETURN_IF_ERROR(ForgetBulk(statements_->forget_parts.Bind(1, height + 1).Bind(2, kNoLimit)));
  statements_->forget_results.Bind(1, height);
  return ForgetBulk(statements_->forget_results);
}

base::Status LedgerTables::ApplyResult(const Record& record) {
  if (record.key.size() != kResultKeySize || !HasBytes(record)) {
    return OwnBug("a result record without its result");
  }
  const base::ByteView key(record.key);
  const std::int64_t height = Signed(BigEndian(key.first(sizeof(std::uint64_t))));
  const std::int64_t part = Signed(BigEndian(key.subspan(sizeof(std::uint64_t))));
  sqlite::Statement& forget = statements_->forget_other_result;
  forget.Bind(1, height).Bind(2, part).Bind(3, RootOf(*record.blob).Hex());
  RETURN_IF_ERROR(ForgetBulk(forget));
  sqlite::Statement& add = statements_->add_result;
  add.Bind(1, height).Bind(2, part);
  return AddBulk(add, 3, record);
}

base::Status LedgerTables::ApplyStatePart(const Record& record) {
  const auto place = protocol::PlaceOfStatePart(record.key);
  if (!place || !HasBytes(record)) return OwnBug("a state's part without its bytes");
  const std::int64_t height = Signed(place->first);
  RETURN_IF_ERROR(ForgetBulk(statements_->forget_parts.Bind(1, height).Bind(2, height)));
  sqlite::Statement& forget = statements_->forget_other_part;
  forget.Bind(1, height).Bind(2, Signed(place->second)).Bind(3, RootOf(*record.blob).Hex());
  RETURN_IF_ERROR(ForgetBulk(forget));
  sqlite::Statement& add = statements_->add_part;
  add.Bind(1, height).Bind(2, Signed(place->second));
  return AddBulk(add, 3, record);
}

base::Status LedgerTables::AddBulk(sqlite::Statement& add, int first, const Record& record) {
  const Extent extent = bulk_.Take(record.blob->size());
  ASSIGN_OR_RETURN(const base::Digest root, PutBlob(bulk_, extent, *record.blob));
  add.Bind(first, Signed(extent.offset)).Bind(first + 1, Signed(extent.size));
  RETURN_IF_ERROR(add.Bind(first + 2, root.Hex()).Run());
  if (database_.changed_rows() == 0) {
    bulk_.Free(extent);  // the key already has a value
  } else if (record.copy != nullptr) {
    written_.emplace_back(record.copy, extent);
  }
  return base::OkStatus();
}

void LedgerTables::TellCopies() {
  for (const auto& [copy, extent] : std::exchange(written_, {})) copy->Set(bulk_.Lend(extent));
}

base::Status LedgerTables::ForgetBulk(sqlite::Statement& forget) {
  while (true) {
    ASSIGN_OR_RETURN(const bool row, forget.Step());
    if (!row) return base::OkStatus();
    bulk_.Free(ExtentOf(forget));
  }
}

base::Status LedgerTables::Prune(std::uint64_t step) {
  if (step % kPruneEvery != 0 || step <= keep_steps_) return base::OkStatus();
  const std::uint64_t below = step - keep_steps_;
  base::Bytes key(kSlotStepSize);
  for (std::size_t i = 0; i < kSlotStepSize; ++i) {
    key[i] = static_cast<std::uint8_t>(below >> (8 * (kSlotStepSize - 1 - i)));
  }
  RETURN_IF_ERROR(statements_->prune_slots.Bind(1, key).Run());
  const std::int64_t slots = database_.changed_rows();
  // The block of a step has height step + 1.
  RETURN_IF_ERROR(statements_->prune_blocks.Bind(1, Signed(below)).Run());
  RETURN_IF_ERROR(statements_->prune_metrics.Bind(1, Signed(below)).Run());
  RETURN_IF_ERROR(
      statements_->meta.pruned.Bind(1, std::to_string(below)).Bind(2, std::to_string(slots)).Run());
  pruned_below_ = below;
  return base::OkStatus();
}

}  // namespace ostraka::store
