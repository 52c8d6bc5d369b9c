// Ledger::Restore: the records that a restarted node passes to its machine.
#include <memory>

#include "node/protocol/mail/signer.h"
#include "node/store/ledger.h"

namespace ostraka::store {
namespace {

using protocol::Record;
using protocol::RecordKind;

// BlockKey of the block at `height`, which is its step + 1 (0: genesis).
base::Bytes KeyOfHeight(std::int64_t height) {
  return height == 0 ? protocol::BlockKey(true, 0)
                     : protocol::BlockKey(false, static_cast<std::uint64_t>(height - 1));
}

// The bytes of a row (start, size, root) of states or results, if they match the root.
base::StatusOr<crypto::SharedBlob> ReadBulk(const BulkFile& bulk, const sqlite::Statement& row,
                                            const std::string& data_dir) {
  auto data = bulk.Read(ExtentOf(row));
  if (data.ok()) {
    crypto::SharedBlob blob = crypto::MakeBlob(*std::move(data));
    if (blob->root.Hex() == row.Text(2)) return blob;
  } else if (!absl::IsInvalidArgument(data.status())) {
    return data.status();
  }
  return base::InvalidArgument(
      data_dir + "/" + kBulkFileName +
      ": is damaged, or not the one of this ledger.sqlite: move the data folder away; a node that "
      "starts with an empty one fetches what it needs from the others and asks to come back");
}

std::shared_ptr<crypto::DiskCopy> CopyAt(BulkFile& bulk, Extent extent) {
  auto copy = std::make_shared<crypto::DiskCopy>();
  copy->Set(bulk.Lend(extent));
  return copy;
}

base::StatusOr<std::optional<Record>> NewestHandover(sqlite::Database& database) {
  ASSIGN_OR_RETURN(
      sqlite::Statement row,
      database.Prepare("SELECT height, file FROM handovers ORDER BY height DESC LIMIT 1"));
  ASSIGN_OR_RETURN(const bool found, row.Step());
  if (!found) return std::optional<Record>();
  return Record{RecordKind::kHandover, KeyOfHeight(row.Integer(0)), row.Blob(1)};
}

base::StatusOr<std::vector<Record>> StatePartsIn(sqlite::Database& database, const BulkFile& bulk,
                                                 const std::string& data_dir) {
  std::vector<Record> parts;
  ASSIGN_OR_RETURN(sqlite::Statement rows,
                   database.Prepare("SELECT start, size, root, height, part FROM state_parts "
                                    "ORDER BY height, part"));
  while (true) {
    ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) return parts;
    auto blob = ReadBulk(bulk, rows, data_dir);
    // It is fetched again: others have it, and this member has not used it.
    if (absl::IsInvalidArgument(blob.status())) continue;
    RETURN_IF_ERROR(blob.status());
    parts.push_back({RecordKind::kStatePart,
                     protocol::StatePartKey(static_cast<std::uint64_t>(rows.Integer(3)),
                                            static_cast<std::uint32_t>(rows.Integer(4))),
                     {},
                     *std::move(blob)});
  }
}

}  // namespace

base::StatusOr<std::shared_ptr<const protocol::Restored>> Ledger::Restore() {
  auto restored = std::make_shared<protocol::Restored>();
  ASSIGN_OR_RETURN(const std::int64_t rows,
                   database_.QueryInteger("SELECT (SELECT count(*) FROM slots) + "
                                          "(SELECT count(*) FROM blocks) + "
                                          "(SELECT count(*) FROM state_parts)"));
  if (rows == 0) return std::shared_ptr<const protocol::Restored>();

  ASSIGN_OR_RETURN(sqlite::Statement state,
                   database_.Prepare("SELECT start, size, root, height FROM states "
                                     "ORDER BY height DESC"));
  ASSIGN_OR_RETURN(const bool has_state, state.Step());
  std::int64_t from = 0;
  if (has_state) {
    from = state.Integer(3);
    ASSIGN_OR_RETURN(crypto::SharedBlob blob, ReadBulk(bulk_, state, options_.data_dir));
    restored->state = Record{
        RecordKind::kState, KeyOfHeight(from), {}, std::move(blob), CopyAt(bulk_, ExtentOf(state))};
  }
  ASSIGN_OR_RETURN(
      sqlite::Statement blocks,
      database_.Prepare("SELECT height, block FROM blocks WHERE height >= ?1 ORDER BY height"));
  blocks.Bind(1, from);
  while (true) {
    ASSIGN_OR_RETURN(const bool row, blocks.Step());
    if (!row) break;
    restored->blocks.push_back(
        {RecordKind::kBlock, KeyOfHeight(blocks.Integer(0)), blocks.Blob(1)});
  }
  ASSIGN_OR_RETURN(sqlite::Statement said,
                   database_.Prepare("SELECT slot, core FROM said ORDER BY slot"));
  while (true) {
    ASSIGN_OR_RETURN(const bool row, said.Step());
    if (!row) break;
    restored->slots.push_back({RecordKind::kSlot, said.Blob(0), said.Blob(1)});
  }
  ASSIGN_OR_RETURN(sqlite::Statement results,
                   database_.Prepare("SELECT start, size, root, height, part FROM results "
                                     "WHERE height >= ?1 ORDER BY height, part"));
  results.Bind(1, from);
  while (true) {
    ASSIGN_OR_RETURN(const bool row, results.Step());
    if (!row) break;
    ASSIGN_OR_RETURN(crypto::SharedBlob blob, ReadBulk(bulk_, results, options_.data_dir));
    const auto step = static_cast<std::uint64_t>(results.Integer(3) - 1);
    restored->results.push_back(
        {RecordKind::kResult,
         protocol::ResultKey(step, static_cast<std::uint32_t>(results.Integer(4))),
         {},
         std::move(blob),
         CopyAt(bulk_, ExtentOf(results))});
  }
  ASSIGN_OR_RETURN(const std::int64_t member,
                   database_.QueryInteger("SELECT count(*) FROM meta WHERE key = 'member_since'"));
  restored->member = member > 0;
  ASSIGN_OR_RETURN(
      sqlite::Statement asks,
      database_.Prepare("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'asks_since'"));
  ASSIGN_OR_RETURN(const bool asked, asks.Step());
  if (asked) restored->asks_since = static_cast<std::uint64_t>(asks.Integer(0));
  ASSIGN_OR_RETURN(sqlite::Statement fork,
                   database_.Prepare("SELECT value FROM meta WHERE key = 'fork'"));
  ASSIGN_OR_RETURN(const bool forked, fork.Step());
  if (forked) restored->fork = fork.Text(0);
  ASSIGN_OR_RETURN(restored->handover, NewestHandover(database_));
  ASSIGN_OR_RETURN(restored->state_parts, StatePartsIn(database_, bulk_, options_.data_dir));
  return std::shared_ptr<const protocol::Restored>(std::move(restored));
}

}  // namespace ostraka::store
