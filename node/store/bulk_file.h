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
// - What was lent, or a slice of it, can be read as long as somebody holds it: until then these
//   bytes stay, whatever was freed and reclaimed, and no others. [A peer that reads one piece of a
//   state slowly would else keep a model's size, once for each state.]
//
// Errors: Unavailable, one line (folder not writable, disk full). InvalidArgument from Read: the
// file is shorter than its extents.
//
// Thread safety: one owner. What was lent is read by any thread, also when the BulkFile is gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "crypto/bulk_source.h"
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

  BulkFile(BulkFile&&) noexcept = default;
  BulkFile& operator=(BulkFile&&) noexcept = default;

  // Takes the first sufficient gap, or one at the end. REQUIRES: `size` is not 0.
  Extent Take(std::uint64_t size);
  // REQUIRES: `data` ends within the extent.
  base::Status Put(Extent extent, std::uint64_t offset, base::ByteView data);
  base::Status Sync();
  base::StatusOr<base::Bytes> Read(Extent extent) const;
  // REQUIRES: `extent` is in use, and its bytes are synced.
  std::shared_ptr<const crypto::BulkSource> Lend(Extent extent);
  // How many somebody holds, slices among them.
  std::size_t lent_count() const;
  // The first error that somebody met who read what was lent.
  base::Status fault() const;

  // REQUIRES: `extent` is in use.
  void Free(Extent extent);
  void Reclaim();

 private:
  class File;
  class Lent;

  BulkFile(std::shared_ptr<File> file, std::vector<Extent> used);

  std::shared_ptr<File> file_;
  bool unsynced_ = false;
  std::vector<Extent> taken_;  // in use or not reclaimed; by offset
  std::vector<Extent> freed_;  // subset of taken_ that Reclaim will free once nobody has it
};

}  // namespace ostraka::store
