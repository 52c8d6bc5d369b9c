// Files that only their owner may read and write: a node's signed slots, and locks.
//
// Attack: a local user with write access to the folder could place a link or a file there. Links
// are not followed, and a file of another owner is refused.
//
// Thread safety: any thread.
#pragma once

#include <string>

#include "node/base/status.h"

namespace ostraka::os {

// Opens `path` for reading and writing, creates it if missing, and sets its mode to 0600. The
// caller must close the descriptor. A file that root creates in another user's folder gets that
// user as its owner. Unavailable, in one line without advice: the system refuses, or the file is
// not a plain file or belongs to another user.
base::StatusOr<int> OpenPrivate(const std::string& path);

// True iff `folder` exists and only its owner, who is this user or root, can create files there.
// For root any owner is accepted.
bool IsPrivateFolder(const std::string& folder);

}  // namespace ostraka::os
