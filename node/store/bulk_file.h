// The large records of a ledger, model states and results, in <data_dir>/bulk: each byte is written
// once and in place. SQLite's write-ahead log would write it, read it and write it again, in pages
// of 4 KiB (docs/decisions/0010-bulk-beside-the-database.md has what that costs).
//
// The file holds bytes and nothing else. Which of them mean something stands in the database, as
// extents; what no row names is free space. So a crash between writing here and committing there
// leaves nothing behind, and a file that has its size stays that size.
//
// Promises
// - Extents that are in use never overlap. A freed one is written over only after Reclaim, which
//   its caller calls once the row that named it is gone for good.
// - After Sync everything written before survives a power cut.
//
// Errors: Unavailable, one line (folder not writable, disk full). InvalidArgument from Read: the
// file is shorter than its extents say.
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

// Bytes of the file.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  bool operator==(const Extent&) const = default;
};

class BulkFile {
 public:
  // `used`: the extents that rows name, in any order. Makes an empty file if there is none.
  // InvalidArgument: they overlap, or one is empty.
  static base::StatusOr<BulkFile> Open(std::string path, std::vector<Extent> used);

  BulkFile(BulkFile&& other) noexcept;
  BulkFile& operator=(BulkFile&& other) noexcept;
  ~BulkFile();

  // Writes into the first gap that is long enough, or at the end. REQUIRES: not empty.
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
  std::vector<Extent> freed_;  // of those: to be reclaimed
};

}  // namespace ostraka::store
