#include "node/cli/data_dir.h"

#include <cstdlib>

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

}  // namespace ostraka::cli
