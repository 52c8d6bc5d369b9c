// Files that only their owner may read and write: a node's signed slots, and locks.
//
// Attack: a local user with write access to the folder could place a link or a file there. Links
// are not followed, and a file of another owner is refused.
//
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <string>

#include "node/base/status.h"

namespace ostraka::os {

// Opens `path` for reading and writing, creates it if missing, and sets its mode to 0600. The
// caller must close the descriptor. A file that root creates in another user's folder gets that
// user as its owner. Unavailable, in one line without advice: the system refuses, or the file is
// not a plain file or belongs to another user.
base::StatusOr<int> OpenPrivate(const std::string& path);

// For what the holder of a lock file says about itself. False: not all of it is written (errno).
bool ReplaceText(int fd, const std::string& text);
// The first `most` bytes; "" if they cannot be read.
std::string TextIn(int fd, std::size_t most);

// True iff `folder` exists and only its owner, who is this user or root, can create files there.
// For root any owner is accepted.
bool IsPrivateFolder(const std::string& folder);

}  // namespace ostraka::os
