#include "node/cli/node/evidence_files.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

#include "node/cli/terminal/exit_code.h"
#include "node/store/checkpoint.h"
#include "node/store/ledger_reader.h"
#include "node/wire/evidence_codec.h"
#include "node/wire/limits.h"
#include "proofs/evidence/evidence.h"
#include "proofs/evidence/handover.h"

namespace ostraka::cli {
namespace {

constexpr std::size_t kIdDigits = 8;
constexpr std::string_view kHandoverSuffix = ".handover";
constexpr std::size_t kMostHandovers = 16'384;

std::string FileName(const store::EvidenceRow& row) {
  return "step" + (row.step ? std::to_string(*row.step) : "?") + "-" +
         (row.accused ? row.accused->Short() : "unknown") + "-" + row.kind + "-" +
         row.digest.Hex().substr(0, kIdDigits) + ".evidence";
}

base::Status MakeFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return base::OkStatus();
  return base::Unavailable("cannot make folder '" + path + "': " + error.message());
}

base::Status WriteFile(const std::string& path, base::ByteView bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file) return base::OkStatus();
  return base::Unavailable("cannot write '" + path + "': is the disk full, or the folder yours?");
}

// The parameters that a file of kind gradient is about, if the node could keep them.
base::Status CopyParameters(const std::string& data_dir, const std::string& out_dir,
                            std::uint64_t step) {
  const std::filesystem::path kept = store::ParametersPath(data_dir, step);
  const std::filesystem::path copy = std::filesystem::path(out_dir) / kept.filename();
  std::error_code error;
  if (!std::filesystem::exists(kept, error) || std::filesystem::exists(copy, error)) {
    return base::OkStatus();
  }
  std::filesystem::copy_file(kept, copy, error);
  if (!error) return base::OkStatus();
  return base::Unavailable("cannot write '" + copy.string() + "': " + error.message());
}

// Members make the same handover of different COMMITs, so the name tells them apart.
base::Status WriteHandovers(store::LedgerReader& ledger, const std::string& out_dir) {
  ASSIGN_OR_RETURN(const std::vector<store::HandoverRow> rows, ledger.Handovers());
  if (rows.empty()) return base::OkStatus();
  const std::string folder = out_dir + "/" + kHandoverFolder;
  RETURN_IF_ERROR(MakeFolder(folder));
  for (const store::HandoverRow& row : rows) {
    const std::string id = evidence::IdOf(row.file).Hex().substr(0, kIdDigits);
    const std::string name = std::to_string(row.height) + "-" + id + std::string(kHandoverSuffix);
    RETURN_IF_ERROR(WriteFile(folder + "/" + name, row.file));
  }
  return base::OkStatus();
}

// The files of a folder that are named so, or the path itself.
base::Status AddHandoversIn(const std::string& path, std::set<std::string>& files) {
  std::error_code error;  // what cannot be looked at is no folder
  if (!std::filesystem::is_directory(path, error)) {
    files.insert(path);
    return base::OkStatus();
  }
  auto entry = std::filesystem::directory_iterator(path, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    std::error_code unreadable;
    const bool is_file = entry->is_regular_file(unreadable);
    if (is_file && entry->path().filename().string().ends_with(kHandoverSuffix)) {
      files.insert(entry->path().string());
    }
  }
  if (!error) return base::OkStatus();
  return base::NotFound("cannot read '" + path + "': " + error.message());
}

}  // namespace

base::Status WriteEvidenceFiles(const std::string& data_dir, const std::string& out_dir,
                                std::set<base::Digest>& written) {
  ASSIGN_OR_RETURN(store::LedgerReader ledger, store::LedgerReader::Open(data_dir));
  ASSIGN_OR_RETURN(const std::vector<store::EvidenceRow> rows, ledger.Evidence(std::nullopt));
  RETURN_IF_ERROR(MakeFolder(out_dir));
  for (const store::EvidenceRow& row : rows) {
    if (!written.insert(row.digest).second) continue;
    ASSIGN_OR_RETURN(const base::Bytes bytes, ledger.EvidenceFile(row.digest));
    RETURN_IF_ERROR(WriteFile(out_dir + "/" + FileName(row), bytes));
    if (row.kind == wire::EvidenceKindName(wire::EvidenceKind::kGradient) && row.step) {
      RETURN_IF_ERROR(CopyParameters(data_dir, out_dir, *row.step));
    }
  }
  return WriteHandovers(ledger, out_dir);
}

base::StatusOr<base::Bytes> ReadEvidenceFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return base::NotFound("cannot read '" + path + "': check the path");
  base::Bytes bytes(wire::kMaxEvidenceFileBytes + 1);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (file.bad()) return base::Unavailable("cannot read '" + path + "': give an evidence file");
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

base::StatusOr<std::vector<base::Bytes>> ReadHandovers(const std::vector<std::string>& paths) {
  std::set<std::string> files;
  for (const std::string& path : paths) RETURN_IF_ERROR(AddHandoversIn(path, files));
  if (files.size() > kMostHandovers) {
    return base::InvalidArgument("more than " + std::to_string(kMostHandovers) +
                                 " handovers: give a folder of this run alone");
  }
  std::vector<base::Bytes> handovers;
  for (const std::string& file : files) {
    ASSIGN_OR_RETURN(base::Bytes bytes, ReadEvidenceFile(file));
    const base::Status status = evidence::CheckHandover(bytes);
    if (status.ok()) {
      handovers.push_back(std::move(bytes));
    } else {
      std::fprintf(stderr, "passed over: %s: %s\n", PrintableLine(file).c_str(),
                   base::MessageOf(status).c_str());
    }
  }
  return handovers;
}

}  // namespace ostraka::cli
