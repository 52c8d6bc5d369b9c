// Finished cells on disk, in the append-only file "cells.jsonl".
//
// Each line is 16 hexadecimal digits (the start of H(kDomainCompareLine, the rest)), a space and
// one JSON object: first the header, then one record for each cell, of which the newest for an id
// counts.
//
// Promises:
//   S1  A record is synced before Append returns.
//   S2  A kill -9 or a power cut damages at most the last line, which the next reader drops.
//   S3  Records of two makers (code version, machine profile) are not mixed.
//
// May not know: which cells a plan has.
//
// Memory: every record of the folder.
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
  std::optional<CellResult> result;  // nullopt: the cell failed
  std::string error;                 // the reason, one line
  CellCost cost;
};
using Records = std::map<base::Digest, Record>;

// The code and machine that made the records.
struct Maker {
  std::string version;  // of the program
  std::string profile;  // of the machine (sim/compare/engine/profile.h)

  bool operator==(const Maker&) const = default;
};

class CellStore {
 public:
  // Creates the folder and the file if they do not exist. InvalidArgument: the file is damaged
  // before its end. FailedPrecondition: it belongs to another maker. Unavailable: another process
  // has it open, or the folder cannot be written.
  static base::StatusOr<CellStore> Open(const std::string& folder, const Maker& maker);
  CellStore(CellStore&& other) noexcept;
  CellStore& operator=(CellStore&& other) = delete;
  ~CellStore();

  const Records& records() const { return records_; }

  // Unavailable: the disk is full or gone.
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
// Reads a folder without opening it for writing. NotFound: there is none. InvalidArgument: damaged.
base::StatusOr<StoredCells> ReadCells(const std::string& folder);

// Adds a checksum, so that a reader detects a changed bit.
std::string SealLine(const std::string& json);
// Nullopt unless SealLine made the line.
std::optional<std::string> OpenLine(std::string_view line);

}  // namespace ostraka::compare
