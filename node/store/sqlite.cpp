#include "node/store/sqlite.h"

#include <sqlite3.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace ostraka::store::sqlite {
namespace {

// How long a statement waits for another process that holds the file locked.
constexpr int kBusyTimeoutMs = 5'000;

base::Status ErrorStatus(int code, const std::string& path, const char* detail) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return base::Unavailable(path + ": the disk is full: free some space and start again");
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      return base::Unavailable(path + ": cannot be opened for this use (" + detail +
                               "): check that the folder exists and its permissions");
    case SQLITE_IOERR:
      return base::Unavailable(path + ": the disk refused (" + detail +
                               "): check its free space and health");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return base::Unavailable(path + ": another program has locked it: end that program");
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return base::InvalidArgument(path + ": is no ledger, or is damaged (" + detail + ")");
    default:
      return base::Internal(path + ": SQLite: " + detail);
  }
}

base::Status ErrorStatus(int code, sqlite3* database, const std::string& path) {
  const int system = database == nullptr ? 0 : sqlite3_system_errno(database);
  if ((code & 0xff) == SQLITE_CANTOPEN && (system == EMFILE || system == ENFILE)) {
    return base::Unavailable(path + ": " + std::generic_category().message(system) +
                             ": raise the limit (ulimit -n)");
  }
  return ErrorStatus(code, path,
                     database == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(database));
}

// `path` as a URI with these parameters.
std::string UriOf(const std::string& path, const char* parameters) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      static constexpr char kDigits[] = "0123456789ABCDEF";
      uri += '%';
      uri += kDigits[(static_cast<unsigned char>(c) >> 4) & 0xf];
      uri += kDigits[static_cast<unsigned char>(c) & 0xf];
    } else {
      uri += c;
    }
  }
  return uri + "?" + parameters;
}

// Forces SQLite to read the file, which opening alone does not.
int ReadHeader(sqlite3* database) {
  return sqlite3_exec(database, "SELECT count(*) FROM sqlite_schema", nullptr, nullptr, nullptr);
}

}  // namespace

// --- Statement ----------------------------------------------------------------------------------

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);  // repeats the last Step's error, which Step has reported
}

void Statement::Note(int code) {
  if (code != SQLITE_OK && bind_error_ == SQLITE_OK) bind_error_ = code;
}

Statement& Statement::Bind(int index, std::int64_t value) {
  Note(sqlite3_bind_int64(statement_.get(), index, value));
  return *this;
}

Statement& Statement::Bind(int index, double value) {
  Note(sqlite3_bind_double(statement_.get(), index, value));
  return *this;
}

Statement& Statement::Bind(int index, std::string_view text) {
  Note(sqlite3_bind_text64(statement_.get(), index, text.data(), text.size(), SQLITE_TRANSIENT,
                           SQLITE_UTF8));
  return *this;
}

Statement& Statement::Bind(int index, base::ByteView blob) {
  // A null pointer would bind NULL instead of an empty blob.
  static constexpr std::uint8_t kEmpty = 0;
  Note(sqlite3_bind_blob64(statement_.get(), index, blob.empty() ? &kEmpty : blob.data(),
                           blob.size(), SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::BindNull(int index) {
  Note(sqlite3_bind_null(statement_.get(), index));
  return *this;
}

base::StatusOr<bool> Statement::Step() {
  sqlite3* const database = sqlite3_db_handle(statement_.get());
  if (bind_error_ != SQLITE_OK) {
    const int code = std::exchange(bind_error_, SQLITE_OK);
    Reset();
    return ErrorStatus(code, path_, sqlite3_errstr(code));
  }
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    Reset();
    return false;
  }
  const base::Status status = ErrorStatus(code, database, path_);
  Reset();
  return status;
}

base::Status Statement::Run() {
  ASSIGN_OR_RETURN(const bool row, Step());
  if (!row) return base::OkStatus();
  Reset();
  return base::Internal(path_ + ": a statement returned a row where none was expected");
}

void Statement::Reset() {
  sqlite3_reset(statement_.get());  // repeats the last Step's error, which Step has reported
  sqlite3_clear_bindings(statement_.get());
}

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::Integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::Real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string Statement::Text(int column) const {
  const auto* const text =
      reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

base::Bytes Statement::Blob(int column) const {
  const auto* const data =
      static_cast<const std::uint8_t*>(sqlite3_column_blob(statement_.get(), column));
  if (data == nullptr) return {};
  return {data, data + sqlite3_column_bytes(statement_.get(), column)};
}

// --- Database -----------------------------------------------------------------------------------

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

base::StatusOr<Database> Database::Open(const std::string& path, Mode mode) {
  const bool read_only = mode == Mode::kReadOnly;
  const auto open = [](const std::string& name, int flags, Database& out,
                       const char* before = nullptr) {
    sqlite3* raw = nullptr;
    int code = sqlite3_open_v2(name.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX, nullptr);
    out.database_.reset(raw);  // SQLite returns a handle even for most failures
    if (code == SQLITE_OK) code = sqlite3_busy_timeout(raw, kBusyTimeoutMs);
    if (code == SQLITE_OK && before != nullptr) {
      code = sqlite3_exec(raw, before, nullptr, nullptr, nullptr);
    }
    if (code == SQLITE_OK) code = ReadHeader(raw);
    return code;
  };

  Database database;
  database.path_ = path;
  int code =
      open(path, read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
           database);
  if ((code & 0xff) == SQLITE_CANTOPEN && read_only) {
    const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
    std::error_code ignored;  // an error counts as "not there"
    const auto is_there = [&](const char* suffix) {
      return std::filesystem::exists(path + suffix, ignored);
    };
    // Without its shared memory nobody has the database open, so no lock is needed.
    const bool unused = !is_there("-shm");
    const bool empty_log = std::filesystem::file_size(path + "-wal", ignored) == 0;
    if (is_there("") && (!is_there("-wal") || (unused && empty_log))) {
      code = open(UriOf(path, "immutable=1"), flags, database);
    } else if (is_there("") && unused) {
      // In exclusive mode SQLite keeps what would be in shared memory in its own.
      code = open(UriOf(path, "vfs=unix-none"), flags, database, "PRAGMA locking_mode=EXCLUSIVE");
    }
  }
  if (code != SQLITE_OK) return ErrorStatus(code, database.database_.get(), path);
  return database;
}

base::Status Database::Execute(const std::string& sql) {
  const int code = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return ErrorStatus(code, database_.get(), path_);
  return base::OkStatus();
}

base::StatusOr<Statement> Database::Prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  if (code != SQLITE_OK) return ErrorStatus(code, database_.get(), path_);
  Statement statement;
  statement.statement_.reset(raw);
  statement.path_ = path_;
  return statement;
}

base::StatusOr<std::string> Database::QueryText(std::string_view sql) {
  ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  ASSIGN_OR_RETURN(const bool row, statement.Step());
  if (!row) return base::NotFound(path_ + ": no row for: " + std::string(sql));
  return statement.Text(0);
}

base::StatusOr<std::int64_t> Database::QueryInteger(std::string_view sql) {
  ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  ASSIGN_OR_RETURN(const bool row, statement.Step());
  if (!row) return base::NotFound(path_ + ": no row for: " + std::string(sql));
  return statement.Integer(0);
}

std::int64_t Database::changed_rows() const { return sqlite3_changes64(database_.get()); }

}  // namespace ostraka::store::sqlite
