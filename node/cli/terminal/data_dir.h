// Where nodes keep their data unless told otherwise.
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

// `wanted`, or the run's folder in DefaultDataRoot() if that is empty.
base::StatusOr<std::string> DataDirOf(const std::string& wanted, const base::Digest& run_id);

// Where this user's nodes lock the key in `key_file` (node/store/key_lock.h): beside the file,
// and in DefaultDataRoot()/locks, which is made (mode 0700) if it can be.
std::vector<std::string> LockFolders(const std::string& key_file);

}  // namespace ostraka::cli
