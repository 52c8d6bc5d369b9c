#include "node/cli/node/only_data_dir.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "node/cli/terminal/data_dir.h"
#include "node/store/ledger_schema.h"

namespace ostraka::cli {

base::StatusOr<std::string> OnlyDataDir() {
  namespace fs = std::filesystem;
  ASSIGN_OR_RETURN(const std::string root, DefaultDataRoot());
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator entries(root, error), end; !error && entries != end;
       entries.increment(error)) {
    if (fs::exists(entries->path() / store::kLedgerFileName, error)) {
      found.push_back(entries->path().string());
    }
  }
  std::sort(found.begin(), found.end());
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    return base::NotFound("no node has a data folder under " + root +
                          ": name its folder (ostraka-<name of the run> where `ostraka join` was "
                          "started), or its --http address");
  }
  std::string names;
  for (const std::string& name : found) names += " " + name;
  return base::InvalidArgument("which node? Name one of:" + names);
}

}  // namespace ostraka::cli
