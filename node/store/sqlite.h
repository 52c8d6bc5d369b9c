// The part of SQLite that the ledger needs, with Status for errors and without the C API.
//
// Error codes: Unavailable if a folder or disk refuses (missing, not writable, full, an I/O error);
// InvalidArgument if a file is not a database; else Internal.
//
// Thread safety: one thread at a time for a Database and its Statements; handing them over is fine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "node/base/bytes.h"
#include "node/base/status.h"

struct sqlite3;
struct sqlite3_stmt;

namespace ostraka::store::sqlite {

// A prepared statement. Parameters count from 1, columns from 0, as in SQLite.
// REQUIRES: its Database outlives it.
class Statement {
 public:
  // Binding copies the value. A binding error is kept and returned by the next Step.
  Statement& Bind(int index, std::int64_t value);
  Statement& Bind(int index, double value);
  Statement& Bind(int index, std::string_view text);
  Statement& Bind(int index, base::ByteView blob);
  Statement& BindNull(int index);

  // True: a row is available. False: done, and ready to be bound and run again.
  base::StatusOr<bool> Step();
  // Step, for a statement that returns no rows.
  base::Status Run();
  // Ends a row loop early and clears the bindings.
  void Reset();

  bool IsNull(int column) const;
  std::int64_t Integer(int column) const;
  double Real(int column) const;
  std::string Text(int column) const;
  base::Bytes Blob(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  void Note(int code);

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  std::string path_;
  int bind_error_ = 0;
};

class Database {
 public:
  enum class Mode { kReadWriteCreate, kReadOnly };

  // `path` is the database file. Reading needs no right to write: where the folder cannot take
  // SQLite's shared memory file (a read-only medium, a folder of another user), a database that
  // nobody has open is read without it, with its log if there is one.
  static base::StatusOr<Database> Open(const std::string& path, Mode mode);

  // Runs one or more statements without parameters; ignores rows.
  base::Status Execute(const std::string& sql);
  base::StatusOr<Statement> Prepare(std::string_view sql);
  // The first column of the first row of `sql` as text; NotFound if there is no row.
  base::StatusOr<std::string> QueryText(std::string_view sql);
  base::StatusOr<std::int64_t> QueryInteger(std::string_view sql);

  // Number of rows changed by the last INSERT, UPDATE or DELETE.
  std::int64_t changed_rows() const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<sqlite3, Close> database_;
  std::string path_;
};

}  // namespace ostraka::store::sqlite
