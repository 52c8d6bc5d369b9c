// The folder of a machine that comes into a run by an invite: manifest, graph, key and the invite
// itself, beside the ledger and the checkpoints of its node.
//
// Thread safety: not for concurrent use on one folder.
#pragma once

#include <string>

#include "node/base/status.h"
#include "node/cli/options/invite_link.h"
#include "node/cli/terminal/passphrase.h"

namespace ostraka::cli {

struct JoinFolder {
  std::string dir;
  std::string manifest;
  std::string graph;  // empty: the run trains none
  std::string key;
};

// ostraka-<name of the run>, or by its id if it has none, in the current folder. Characters of the
// name that a shell or a file system may not like become "-".
std::string DefaultJoinFolder(const protocol::Manifest& manifest);

// Makes what is missing in `dir`, itself included; `key`: the key file, empty for one in `dir`. A
// key that is made has a passphrase only if `passphrase` names a source. Files that are there stay,
// but the invite gives way to another one.
// FailedPrecondition: `dir` is of another run. Errors of WriteNewFile and WriteKeyFile.
base::StatusOr<JoinFolder> MakeJoinFolder(const std::string& dir, const std::string& key,
                                          const PassphraseOptions& passphrase,
                                          const InviteText& invite);

}  // namespace ostraka::cli
