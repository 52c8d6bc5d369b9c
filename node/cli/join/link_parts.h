// What invites and links are made of, and how they reach people.
//
// Thread safety: free functions.
#pragma once

#include <string>
#include <vector>

#include "node/base/status.h"
#include "node/cli/options/invite_link.h"
#include "node/protocol/ground/manifest.h"

namespace CLI {
class App;
}

namespace ostraka::cli {

struct LinkPartsOptions {
  std::vector<std::string> peers;  // ID@HOST:PORT
  std::string graph;
  std::string data_dir;  // empty: begins at the genesis
  std::string file;      // empty: a link on stdout
};
// All options but `data_dir`, which commands name differently.
void AddLinkParts(CLI::App& command, LinkPartsOptions& options);

// All of the text but a pass. `manifest` is that of the file `path`. Errors of the files and the
// addresses; InvalidArgument also: the data folder is of another run.
base::StatusOr<InviteText> PartsOf(const LinkPartsOptions& options, const std::string& path,
                                   protocol::Manifest manifest);
// Into the new file (mode 0600), or to stdout as a link if `file` is empty. InvalidArgument: what
// `ostraka join` would refuse, or too long for a link.
base::Status PassOn(const InviteText& text, const std::string& file);

}  // namespace ostraka::cli
