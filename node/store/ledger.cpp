#include "node/store/ledger.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "node/base/check.h"
#include "node/os/private_file.h"
#include "node/os/steady_clock.h"
#include "node/store/ledger_reader.h"
#include "node/store/ledger_schema.h"

namespace ostraka::store {
namespace {

using protocol::Record;
using protocol::Store;
using protocol::StoreId;

// How long a metric may wait to share the commit of a Store.
constexpr std::chrono::seconds kMetricDelay{1};

std::size_t SizeOf(const Store& store) {
  std::size_t bytes = 0;
  for (const Record& record : store.records) {
    bytes += sizeof record + record.key.size() + record.value.size();
    // A source takes no memory of the queue's: it reads what its owner has.
    if (record.blob != nullptr) bytes += record.blob->data.size();
  }
  return bytes;
}

// --- opening ------------------------------------------------------------------------------------

// Sets mode 0600 on the database and on SQLite's files beside it, since the signed slots are
// private to the owner. Applies to files of an older version too, in any folder.
base::Status MakePrivate(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm"}) {
    const std::string name = path + suffix;
    std::error_code ignored;  // on an error, opening it reports the reason
    if (*suffix != '\0' && !std::filesystem::exists(name, ignored)) continue;
    const base::StatusOr<int> fd = os::OpenPrivate(name);
    if (!fd.ok()) {
      return base::Unavailable(base::MessageOf(fd.status()) +
                               ": give the data folder back to the user of this node");
    }
    close(*fd);
  }
  return base::OkStatus();
}

base::Status Configure(sqlite::Database& database, const std::string& path) {
  ASSIGN_OR_RETURN(const std::string mode, database.QueryText("PRAGMA journal_mode = WAL"));
  if (mode != "wal") {
    return base::Unavailable(path + ": this file system cannot hold a write-ahead log (it gave '" +
                             mode + "'): put the data folder on a local disk");
  }
  // FULL syncs the log at every commit, which "Stored" requires.
  return database.Execute("PRAGMA synchronous = FULL");
}

base::Status CreateTables(sqlite::Database& database, const LedgerOptions& options) {
  RETURN_IF_ERROR(database.Execute("BEGIN IMMEDIATE"));
  RETURN_IF_ERROR(database.Execute(kLedgerSchema));
  ASSIGN_OR_RETURN(sqlite::Statement meta,
                   database.Prepare("INSERT INTO meta (key, value) VALUES (?1, ?2)"));
  RETURN_IF_ERROR(meta.Bind(1, "run_id").Bind(2, options.run_id.Hex()).Run());
  RETURN_IF_ERROR(meta.Bind(1, "peer").Bind(2, options.peer.Hex()).Run());
  for (const auto& [peer, name] : options.names) {
    RETURN_IF_ERROR(meta.Bind(1, kLedgerNameKey + peer.Hex()).Bind(2, name).Run());
  }
  RETURN_IF_ERROR(database.Execute(
      "INSERT INTO meta VALUES ('created_utc', strftime('%Y-%m-%dT%H:%M:%SZ', 'now'));"
      "PRAGMA application_id = " +
      std::to_string(kLedgerApplicationId) +
      ";"
      "PRAGMA user_version = " +
      std::to_string(kLedgerSchemaVersion) +
      ";"
      "COMMIT"));
  return base::OkStatus();
}

// Checks that an existing ledger may be written by this node; else one line with the reason.
base::Status CheckExisting(sqlite::Database& database, const LedgerOptions& options) {
  const std::string folder = "data folder " + options.data_dir + ": ";
  ASSIGN_OR_RETURN(const std::string run,
                   database.QueryText("SELECT value FROM meta WHERE key = 'run_id'"));
  if (run != options.run_id.Hex()) {
    return base::FailedPrecondition(folder + "belongs to run " + run.substr(0, 16) +
                                    ", this is run " + options.run_id.Short() +
                                    ": give this run its own folder");
  }
  ASSIGN_OR_RETURN(const std::string peer,
                   database.QueryText("SELECT value FROM meta WHERE key = 'peer'"));
  if (peer != options.peer.Hex()) {
    return base::FailedPrecondition(folder + "belongs to the key of " + peer.substr(0, 16) +
                                    ", this is " + options.peer.Short() +
                                    ": give this key its own folder");
  }
  return base::OkStatus();
}

base::StatusOr<std::vector<Extent>> UsedExtents(sqlite::Database& database) {
  ASSIGN_OR_RETURN(sqlite::Statement row, database.Prepare("SELECT start, size FROM states "
                                                           "UNION ALL "
                                                           "SELECT start, size FROM results "
                                                           "UNION ALL "
                                                           "SELECT start, size FROM state_parts"));
  std::vector<Extent> used;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, row.Step());
    if (!more) return used;
    used.push_back(ExtentOf(row));
  }
}

// The files that a later process needs to know what was signed. SQLite keeps the log beside the
// database for as long as it is open.
base::StatusOr<std::vector<FileIdentity>> FilesOf(const std::string& data_dir) {
  const std::string database = data_dir + "/" + kLedgerFileName;
  std::vector<FileIdentity> files;
  for (const std::string& path : {database, database + "-wal", data_dir + "/" + kBulkFileName}) {
    ASSIGN_OR_RETURN(FileIdentity file, FileIdentity::Of(path));
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

Ledger::Ledger(LedgerOptions options, DataFolder folder, sqlite::Database database, BulkFile bulk)
    : options_(std::move(options)),
      folder_(std::move(folder)),
      database_(std::move(database)),
      bulk_(std::move(bulk)) {}

Ledger::~Ledger() {
  // An unclosed ledger still writes what was queued; errors are not reported.
  const base::Status unheard = Close("not closed");
  (void)unheard;
}

base::StatusOr<std::unique_ptr<Ledger>> Ledger::Open(LedgerOptions options) {
  OSTRAKA_CHECK(options.keep_steps >= kLeastKeptSteps);
  ASSIGN_OR_RETURN(DataFolder folder, DataFolder::Claim(options.data_dir));
  const std::string path = options.data_dir + "/" + kLedgerFileName;
  RETURN_IF_ERROR(MakePrivate(path));
  ASSIGN_OR_RETURN(sqlite::Database database,
                   sqlite::Database::Open(path, sqlite::Database::Mode::kReadWriteCreate));
  ASSIGN_OR_RETURN(const std::int64_t tables,
                   database.QueryInteger("SELECT count(*) FROM sqlite_schema"));
  if (tables == 0) {
    RETURN_IF_ERROR(Configure(database, path));
    RETURN_IF_ERROR(CreateTables(database, options));
  } else {
    RETURN_IF_ERROR(CheckLedgerSchema(database, path));
    RETURN_IF_ERROR(Configure(database, path));
    RETURN_IF_ERROR(CheckExisting(database, options));
  }
  RETURN_IF_ERROR(database.Execute(kHandoversTable));
  RETURN_IF_ERROR(database.Execute(kStatePartsTable));
  ASSIGN_OR_RETURN(std::vector<Extent> used, UsedExtents(database));
  ASSIGN_OR_RETURN(BulkFile bulk,
                   BulkFile::Open(options.data_dir + "/" + kBulkFileName, std::move(used)));
  RETURN_IF_ERROR(folder.Sync());
  std::unique_ptr<Ledger> ledger(
      new Ledger(std::move(options), std::move(folder), std::move(database), std::move(bulk)));
  ASSIGN_OR_RETURN(ledger->files_, FilesOf(ledger->options_.data_dir));
  ASSIGN_OR_RETURN(ledger->tables_,
                   LedgerTables::Prepare(ledger->database_, ledger->bulk_,
                                         ledger->options_.data_dir, ledger->options_.keep_steps));
  return ledger;
}

// --- owner's thread -----------------------------------------------------------------------------

void Ledger::Start(LedgerCallbacks callbacks) {
  OSTRAKA_CHECK(!writer_.joinable() && !closed_);
  callbacks_ = std::move(callbacks);
  writer_ = std::thread([this] { WriterLoop(); });
}

base::Status Ledger::Append(Store store) {
  const std::size_t bytes = SizeOf(store);
  const std::lock_guard lock(mutex_);
  OSTRAKA_CHECK(!closing_);
  if (!failure_.ok()) return failure_;
  if (pending_.bytes + bytes > options_.max_queued_bytes) {
    return base::Unavailable("data folder " + options_.data_dir + ": the disk is too slow (" +
                             std::to_string(pending_.bytes) +
                             " bytes wait for it): use a faster disk");
  }
  pending_.bytes += bytes;
  pending_.stores.push_back(std::move(store));
  wake_.notify_one();
  return base::OkStatus();
}

base::Status Ledger::AppendMetric(std::uint64_t step, std::string name, double value) {
  const std::lock_guard lock(mutex_);
  OSTRAKA_CHECK(!closing_);
  if (!failure_.ok()) return failure_;
  pending_.metrics.push_back({step, std::move(name), value});
  wake_.notify_one();
  return base::OkStatus();
}

base::Status Ledger::Close(const std::string& outcome) {
  if (!std::exchange(closed_, true) && writer_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    wake_.notify_one();
    writer_.join();
    // The writer has ended, so this thread owns the database and the failure.
    if (failure_.ok()) failure_ = CheckFiles();
    if (failure_.ok()) {
      auto note = database_.Prepare("INSERT OR REPLACE INTO meta VALUES ('outcome', ?1)");
      failure_ = note.ok() ? note->Bind(1, outcome).Run() : note.status();
    }
  }
  const std::lock_guard lock(mutex_);
  return failure_;
}

LedgerStats Ledger::stats() const {
  const std::lock_guard lock(mutex_);
  LedgerStats stats = stats_;
  stats.waiting_bytes = pending_.bytes;
  return stats;
}

// --- the writer thread --------------------------------------------------------------------------

void Ledger::WriterLoop() {
  while (std::optional<Batch> batch = NextBatch()) {
    const base::Time begin = os::SteadyNow();
    const base::Status status = Commit(*batch);
    const base::Duration took = os::SteadyNow() - begin;
    if (!status.ok()) return Fail(status);
    {
      const std::lock_guard lock(mutex_);
      stats_.stores += batch->stores.size();
      stats_.commits += 1;
      stats_.commit_time = stats_.commit_time + took;
      stats_.longest_commit = std::max(stats_.longest_commit, took);
    }
    std::vector<StoreId> ids;
    ids.reserve(batch->stores.size());
    for (const Store& store : batch->stores) ids.push_back(store.id);
    if (!ids.empty()) callbacks_.committed(std::move(ids));
  }
}

std::optional<Ledger::Batch> Ledger::NextBatch() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return closing_ || !pending_.empty(); });
  // Metrics alone do not justify a sync yet.
  wake_.wait_for(lock, kMetricDelay, [this] { return closing_ || !pending_.stores.empty(); });
  if (pending_.empty()) return std::nullopt;
  return std::exchange(pending_, {});
}

base::Status Ledger::Commit(const Batch& batch) {
  // A disk that spoils what is to be sent may spoil what was signed.
  RETURN_IF_ERROR(bulk_.fault());
  RETURN_IF_ERROR(database_.Execute("BEGIN IMMEDIATE"));
  base::Status status = Apply(batch);
  // Rows must not become durable before the bytes that they name.
  if (status.ok()) status = bulk_.Sync();
  if (status.ok()) status = database_.Execute("COMMIT");
  if (status.ok()) RETURN_IF_ERROR(CheckFiles());
  if (!status.ok()) {
    // Nothing of the batch was reported. Report the first error, not the rollback's.
    const base::Status second = database_.Execute("ROLLBACK");
    (void)second;
    return status;
  }
  tables_->TellCopies();
  bulk_.Reclaim();
  return status;
}

base::Status Ledger::Apply(const Batch& batch) {
  for (const Store& store : batch.stores) {
    for (const Record& record : store.records) RETURN_IF_ERROR(tables_->Apply(record));
  }
  for (const Metric& metric : batch.metrics) {
    RETURN_IF_ERROR(tables_->ApplyMetric(metric.step, metric.name, metric.value));
  }
  return base::OkStatus();
}

base::Status Ledger::CheckFiles() const {
  for (const FileIdentity& file : files_) {
    if (file.IsInPlace()) continue;
    const std::string name = file.path().substr(options_.data_dir.size() + 1);
    return base::Unavailable(
        "data folder " + options_.data_dir +
        " was moved, deleted or replaced while the node ran (" + name +
        " there is not the file that it writes), so that what it signs would not be remembered: "
        "put the folder back, or name its new place with --data-dir; only if it is lost, start "
        "with "
        "none, and the node asks to be let in again");
  }
  return base::OkStatus();
}

void Ledger::Fail(const base::Status& status) {
  {
    const std::lock_guard lock(mutex_);
    failure_ = status;
    pending_ = {};
  }
  callbacks_.failed(status);
}

}  // namespace ostraka::store
