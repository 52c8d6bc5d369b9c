// Finished cells on disk: an append-only file, "cells.jsonl", that a kill -9 or a power cut leaves
// whole but for its last line, which the next reader drops.
//
// Each line is 16 hexadecimal digits, the start of H(kDomainCompareLine, the rest), a space and one
// JSON object: first the header, then a record a cell, the newest of an id counting. A record is
// synced before Append returns.
//
// Thread safety: one owner; a lock keeps other processes out.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "node/base/ids.h"
#include "node/base/status.h"
#include "sim/compare/cells/result.h"

namespace ostraka::compare {

struct Record {
  std::optional<CellResult> result;  // nothing: it failed
  std::string error;                 // one line, why
  CellCost cost;
};
using Records = std::map<base::Digest, Record>;

// What made the records. Records of two makers are not mixed.
struct Maker {
  std::string version;  // of the program
  std::string profile;  // of the machine (sim/compare/engine/profile.h)

  bool operator==(const Maker&) const = default;
};

class CellStore {
 public:
  // Makes the folder and the file if they are not there. InvalidArgument: the file is damaged in
  // its middle. FailedPrecondition: it is another maker's. Unavailable: another process has it
  // open, or the folder cannot be written.
  static base::StatusOr<CellStore> Open(const std::string& folder, const Maker& maker);
  CellStore(CellStore&& other) noexcept;
  CellStore& operator=(CellStore&& other) = delete;
  ~CellStore();

  const Records& records() const { return records_; }

  // Unavailable: the disk is full, or gone.
  base::Status Append(const base::Digest& id, const Record& record);

 private:
  CellStore(std::string path, int file) : path_(std::move(path)), file_(file) {}
  base::Status Load(const Maker& maker);
  base::Status WriteLine(const std::string& json);

  std::string path_;
  int file_ = -1;
  Records records_;
};

struct StoredCells {
  Maker maker;
  Records records;
};
// Of a folder that nobody need hold open. NotFound: there is none. InvalidArgument: damaged.
base::StatusOr<StoredCells> ReadCells(const std::string& folder);

// A line that changes by one bit is seen.
std::string SealLine(const std::string& json);
// Nothing unless SealLine made it.
std::optional<std::string> OpenLine(std::string_view line);

}  // namespace ostraka::compare
