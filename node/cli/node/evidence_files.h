// Evidence as files: out of a node's ledger, for people to keep, send and verify.
//
// Thread safety: free functions; one writer a folder.
#pragma once

#include <set>
#include <string>

#include "node/base/ids.h"
#include "node/base/status.h"

namespace ostraka::cli {

// Writes the evidence that the ledger in `data_dir` holds and `written` does not name into
// `out_dir`, which is made if need be, one file each: STEP-ACCUSED-KIND-ID.evidence, ids by their
// first digits. Adds the ids of what it wrote to `written`.
base::Status WriteEvidenceFiles(const std::string& data_dir, const std::string& out_dir,
                                std::set<base::Digest>& written);

// A file's bytes, one more than an evidence file may have at most, so that Verify can say so.
// NotFound if there is no such file.
base::StatusOr<base::Bytes> ReadEvidenceFile(const std::string& path);

}  // namespace ostraka::cli
