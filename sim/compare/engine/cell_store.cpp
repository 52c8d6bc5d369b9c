#include "sim/compare/engine/cell_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"

namespace ostraka::compare {
namespace {

using nlohmann::json;

constexpr int kFormat = 1;
constexpr char kFile[] = "cells.jsonl";
constexpr std::size_t kSealDigits = 16;

json JsonOf(const base::Digest& id, const Record& record) {
  json line = {{"id", id.Hex()},
               {"seconds", record.cost.seconds},
               {"peak_memory_bytes", record.cost.peak_memory_bytes}};
  if (record.result) {
    line["result"] = compare::JsonOf(*record.result);
  } else {
    line["error"] = record.error;
  }
  return line;
}

base::Status ReadRecord(const json& line, Records& records) {
  const auto id = base::Digest::FromHexDigits(line.at("id").get<std::string>());
  if (!id) return base::InvalidArgument("an invalid id");
  Record record;
  record.cost = {line.at("seconds"), line.at("peak_memory_bytes")};
  if (line.contains("result")) {
    ASSIGN_OR_RETURN(record.result, ResultOf(line.at("result")));
  } else {
    record.error = line.at("error");
  }
  records[*id] = std::move(record);
  return base::OkStatus();
}

base::Status ReadHeader(const json& line, Maker& maker) {
  if (line.at("format") != kFormat) return base::InvalidArgument("an unknown format of cells");
  maker = {line.at("version"), line.at("profile")};
  return base::OkStatus();
}

base::Status ReadLine(const std::string& text, bool first, StoredCells& cells) {
  try {
    const json line = json::parse(text);
    return first ? ReadHeader(line, cells.maker) : ReadRecord(line, cells.records);
  } catch (const json::exception& error) {
    return base::InvalidArgument(error.what());
  }
}

struct Parsed {
  StoredCells cells;
  std::size_t sound_bytes = 0;  // bytes after these are a torn last write
};

base::StatusOr<Parsed> Parse(const std::string& path, const std::string& text) {
  Parsed parsed;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;  // torn
    const auto json_text = OpenLine(std::string_view(text).substr(begin, end - begin));
    ++number;
    const bool last = end + 1 == text.size();
    base::Status read = json_text ? ReadLine(*json_text, number == 1, parsed.cells)
                                  : base::InvalidArgument("its checksum is wrong");
    if (!read.ok() && last && !json_text) break;  // torn, but with a line feed in the rest
    if (!read.ok()) {
      return base::InvalidArgument(path + " line " + std::to_string(number) + " is damaged (" +
                                   base::MessageOf(read) +
                                   "): delete that line, and the next run repeats its cell");
    }
    begin = parsed.sound_bytes = end + 1;
  }
  return parsed;
}

base::Status Refused(const std::string& path) {
  return base::Unavailable("cannot write " + path + ": " + std::strerror(errno) +
                           "; free some space or name another --out, then run the same command "
                           "again");
}

// Reads through the open descriptor, because closing a second one would release the lock.
base::StatusOr<std::string> ReadAll(const std::string& path, int file) {
  std::string text;
  char buffer[1 << 16];
  while (true) {
    const ssize_t count = pread(file, buffer, sizeof(buffer), static_cast<off_t>(text.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return base::Unavailable("cannot read " + path + ": " + std::strerror(errno));
    if (count == 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

base::Status CheckMaker(const std::string& path, const Maker& theirs, const Maker& mine) {
  if (theirs == mine) return base::OkStatus();
  const bool version = theirs.version != mine.version;
  return base::FailedPrecondition(
      path + " was written by " + (version ? theirs.version : theirs.profile) +
      ", and this program is " + (version ? mine.version : mine.profile) +
      ": results of the two would not be comparable; name another --out");
}

}  // namespace

std::string SealLine(const std::string& text) {
  return crypto::Hash(crypto::kDomainCompareLine, base::AsBytes(text))
             .Hex()
             .substr(0, kSealDigits) +
         " " + text;
}

std::optional<std::string> OpenLine(std::string_view line) {
  if (line.size() <= kSealDigits) return std::nullopt;
  std::string text(line.substr(kSealDigits + 1));
  return SealLine(text) == line ? std::optional(std::move(text)) : std::nullopt;
}

base::StatusOr<CellStore> CellStore::Open(const std::string& folder, const Maker& maker) {
  const std::string path = folder + "/" + kFile;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return base::Unavailable("cannot create the folder " + folder + ": " + error.message() +
                             "; name another --out");
  }
  // Reports replace files of their names, and the whole folder "figures".
  if (!std::filesystem::exists(path, error) && !std::filesystem::is_empty(folder, error) &&
      !error) {
    return base::FailedPrecondition(folder + " has files of something else, which stay: name an " +
                                    "empty or a new folder with --out");
  }
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return Refused(path);
  CellStore store(path, file);
  // Not flock: after a kill -9 of the parent its lock would stay with the workers.
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (fcntl(file, F_SETLK, &whole) != 0) {
    return base::Unavailable(folder +
                             " is in use by another `ostraka compare`: wait for it, or "
                             "name another --out");
  }
  RETURN_IF_ERROR(store.Load(maker));
  return store;
}

base::Status CellStore::Load(const Maker& maker) {
  ASSIGN_OR_RETURN(const std::string text, ReadAll(path_, file_));
  ASSIGN_OR_RETURN(Parsed parsed, Parse(path_, text));
  if (parsed.sound_bytes < text.size() &&
      ftruncate(file_, static_cast<off_t>(parsed.sound_bytes)) != 0) {
    return Refused(path_);
  }
  if (parsed.sound_bytes == 0) {
    return WriteLine(
        json{{"format", kFormat}, {"version", maker.version}, {"profile", maker.profile}}.dump());
  }
  RETURN_IF_ERROR(CheckMaker(path_, parsed.cells.maker, maker));
  records_ = std::move(parsed.cells.records);
  return base::OkStatus();
}

base::Status CellStore::WriteLine(const std::string& text) {
  const std::string line = SealLine(text) + "\n";
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t count = write(file_, line.data() + written, line.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Refused(path_);
    written += static_cast<std::size_t>(count);
  }
  return fdatasync(file_) == 0 ? base::OkStatus() : Refused(path_);
}

base::Status CellStore::Append(const base::Digest& id, const Record& record) {
  RETURN_IF_ERROR(WriteLine(JsonOf(id, record).dump()));
  records_[id] = record;
  return base::OkStatus();
}

CellStore::CellStore(CellStore&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      records_(std::move(other.records_)) {}

CellStore::~CellStore() {
  if (file_ >= 0) close(file_);
}

base::StatusOr<StoredCells> ReadCells(const std::string& folder) {
  const std::string path = folder + "/" + kFile;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return base::NotFound(path + " does not exist: give the --out of a comparison");
  const auto text = ReadAll(path, file);
  close(file);
  if (!text.ok()) return text.status();
  ASSIGN_OR_RETURN(Parsed parsed, Parse(path, *text));
  if (parsed.sound_bytes == 0) {
    return base::InvalidArgument(path + " is empty: give the --out of a comparison that ran");
  }
  return std::move(parsed.cells);
}

}  // namespace ostraka::compare
