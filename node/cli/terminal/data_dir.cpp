#include "node/cli/terminal/data_dir.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace ostraka::cli {

base::StatusOr<std::string> DefaultDataRoot() {
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') {
    return base::FailedPrecondition("HOME is not set: name the data folder (--data-dir)");
  }
  return std::string(home) + "/.local/share/ostraka";
}

base::StatusOr<std::string> DataDirOf(const std::string& wanted, const base::Digest& run_id) {
  if (!wanted.empty()) return wanted;
  ASSIGN_OR_RETURN(const std::string root, DefaultDataRoot());
  return root + "/" + run_id.Hex();
}

std::vector<std::string> LockFolders(const std::string& key_file) {
  namespace fs = std::filesystem;
  std::vector<std::string> folders;
  // A missing file or an impossible folder is reported later by the lock.
  std::error_code error;
  const fs::path key = fs::canonical(key_file, error);
  if (!error) folders.push_back(key.parent_path().string());
  const base::StatusOr<std::string> root = DefaultDataRoot();
  if (!root.ok()) return folders;
  fs::create_directories(*root, error);
  const std::string locks = *root + "/locks";
  mkdir(locks.c_str(), 0700);
  folders.push_back(locks);
  return folders;
}

}  // namespace ostraka::cli
