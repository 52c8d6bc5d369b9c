#include "node/cli/node/evidence_files.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "node/store/checkpoint.h"
#include "node/store/ledger_reader.h"
#include "node/wire/evidence_codec.h"
#include "node/wire/limits.h"

namespace ostraka::cli {
namespace {

constexpr std::size_t kIdDigits = 8;

std::string FileName(const store::EvidenceRow& row) {
  return "step" + (row.step ? std::to_string(*row.step) : "?") + "-" +
         (row.accused ? row.accused->Short() : "unknown") + "-" + row.kind + "-" +
         row.digest.Hex().substr(0, kIdDigits) + ".evidence";
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

}  // namespace

base::Status WriteEvidenceFiles(const std::string& data_dir, const std::string& out_dir,
                                std::set<base::Digest>& written) {
  ASSIGN_OR_RETURN(store::LedgerReader ledger, store::LedgerReader::Open(data_dir));
  ASSIGN_OR_RETURN(const std::vector<store::EvidenceRow> rows, ledger.Evidence(std::nullopt));
  std::error_code error;
  std::filesystem::create_directories(out_dir, error);
  if (error) return base::Unavailable("cannot make folder '" + out_dir + "': " + error.message());
  for (const store::EvidenceRow& row : rows) {
    if (!written.insert(row.digest).second) continue;
    ASSIGN_OR_RETURN(const base::Bytes bytes, ledger.EvidenceFile(row.digest));
    RETURN_IF_ERROR(WriteFile(out_dir + "/" + FileName(row), bytes));
    if (row.kind == wire::EvidenceKindName(wire::EvidenceKind::kGradient) && row.step) {
      RETURN_IF_ERROR(CopyParameters(data_dir, out_dir, *row.step));
    }
  }
  return base::OkStatus();
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

}  // namespace ostraka::cli
