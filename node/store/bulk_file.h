// The file <data_dir>/bulk with the large records of a ledger: model states and results. Each byte
// is written once, in place. Rationale: SQLite's write-ahead log would write, read and rewrite it
// in pages of 4 KiB (docs/decisions/0010-bulk-beside-the-database.md has the costs).
//
// The file has no structure of its own. The database records which extents are in use; everything
// else is free space. So a crash between a write here and the commit there leaves no trace, and
// freed space is reused.
//
// Promises
// - Extents in use never overlap. A freed extent is overwritten only after Reclaim, which the
//   caller calls once the row that named it is durably gone.
// - After Sync everything written before survives a power cut.
//
// Errors: Unavailable, one line (folder not writable, disk full). InvalidArgument from Read: the
// file is shorter than its extents.
//
// Thread safety: one owner.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/base/bytes.h"
#include "node/base/status.h"

namespace ostraka::store {

inline constexpr char kBulkFileName[] = "bulk";

// A range of bytes in the file.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  bool operator==(const Extent&) const = default;
};

class BulkFile {
 public:
  // `used`: the extents that rows name, in any order. Creates an empty file if there is none.
  // InvalidArgument: extents overlap, or one is empty.
  static base::StatusOr<BulkFile> Open(std::string path, std::vector<Extent> used);

  BulkFile(BulkFile&& other) noexcept;
  BulkFile& operator=(BulkFile&& other) noexcept;
  ~BulkFile();

  // Writes into the first sufficient gap, or at the end. REQUIRES: `data` is not empty.
  base::StatusOr<Extent> Write(base::ByteView data);
  base::Status Sync();
  base::StatusOr<base::Bytes> Read(Extent extent) const;

  // REQUIRES: `extent` is in use.
  void Free(Extent extent);
  void Reclaim();

 private:
  BulkFile(std::string path, int fd, std::vector<Extent> used);

  std::string path_;
  int fd_ = -1;
  bool unsynced_ = false;
  std::vector<Extent> taken_;  // in use or not reclaimed; by offset
  std::vector<Extent> freed_;  // subset of taken_ that Reclaim will free
};

}  // namespace ostraka::store
