// Exports evidence from a node's ledger as files that people keep, send and verify.
//
// Thread safety: free functions; one writer a folder.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/base/status.h"

namespace ostraka::cli {

// Of the folder with evidence.
inline constexpr char kHandoverFolder[] = "handovers";

// Writes evidence from the ledger in `data_dir`, except the ids in `written`, to one file each in
// `out_dir`: STEP-ACCUSED-KIND-ID.evidence, ids by their first digits; beside those of kind
// gradient the parameters that the node kept, parameters-STEP.safetensors. Creates `out_dir` if
// needed and adds the written ids to `written`. Handovers are written too, as
// kHandoverFolder/HEIGHT-ID.handover.
base::Status WriteEvidenceFiles(const std::string& data_dir, const std::string& out_dir,
                                std::set<base::Digest>& written);

// A file's bytes, at most one more than the maximum size, so that Verify can report an excess.
// NotFound if there is no such file.
base::StatusOr<base::Bytes> ReadEvidenceFile(const std::string& path);

// The handovers in these files, and in those of these folders that are named *.handover. What is
// none is passed over, in a line on stderr. NotFound: a path that is neither. InvalidArgument: more
// than 16,384 files.
base::StatusOr<std::vector<base::Bytes>> ReadHandovers(const std::vector<std::string>& paths);

}  // namespace ostraka::cli
