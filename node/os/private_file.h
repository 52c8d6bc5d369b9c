// Files that are their owner's business: what a node signed, and locks that nobody else may hold.
//
// What an attacker can do here: a local user who can write in the folder could put a link or a file
// of his own in our place. A link is not followed; a file of another owner is refused.
//
// Thread safety: any thread.
#pragma once

#include <string>

#include "node/base/status.h"

namespace ostraka::os {

// Opens `path` to read and write, made if missing, and gives it mode 0600 whatever it had. The
// descriptor is the caller's to close. What root makes in another's folder is that one's.
// Unavailable, in one line without advice: the system refuses, it is no plain file, or another
// user's.
base::StatusOr<int> OpenPrivate(const std::string& path);

// True iff `folder` is there and nobody but its owner, who is this user or root, can put files
// there. For root any owner is as good.
bool IsPrivateFolder(const std::string& folder);

}  // namespace ostraka::os
