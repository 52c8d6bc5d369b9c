// Default places of nodes' data.
//
// Thread safety: free functions; they read the environment.
#pragma once

#include <string>
#include <vector>

#include "node/base/ids.h"
#include "node/base/status.h"

namespace ostraka::cli {

// ~/.local/share/ostraka. FailedPrecondition: HOME is not set.
base::StatusOr<std::string> DefaultDataRoot();

// `wanted`; if that is empty, the run's folder in DefaultDataRoot().
base::StatusOr<std::string> DataDirOf(const std::string& wanted, const base::Digest& run_id);

// Folders in which this user's nodes lock the key in `key_file` (node/store/key_lock.h): the file's
// own folder, and DefaultDataRoot()/locks, which is created (mode 0700) if possible.
std::vector<std::string> LockFolders(const std::string& key_file);

}  // namespace ostraka::cli
