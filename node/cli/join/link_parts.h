// What invites and links are made of, and how they reach people.
//
// Thread safety: free functions.
#pragma once

#include <memory>
#include <string>

#include "node/base/status.h"
#include "node/cli/options/invite_link.h"
#include "node/train/exact/graph_file.h"
#include "node/wire/block.h"

namespace ostraka::cli {

// The manifest's bytes. Unavailable: it cannot be read.
base::StatusOr<std::string> TextOf(const std::string& path);
// The graph file and its constants; empty texts for an empty path.
base::StatusOr<train::GraphFiles> GraphOfRun(const std::string& path);
// The newest block of a node of the run, from its data folder; null: no folder was given.
base::StatusOr<std::shared_ptr<const wire::Block>> AnchorFrom(const std::string& data_dir,
                                                              const base::Digest& run_id);
// Into the new file (mode 0600), or to stdout as a link if `file` is empty. InvalidArgument: what
// `ostraka join` would refuse, or too long for a link.
base::Status PassOn(const InviteText& text, const std::string& file);

}  // namespace ostraka::cli
