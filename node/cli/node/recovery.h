// How people go on after a run that cannot: it has split, or too many of its members are gone
// (docs/protocol.md, 8; docs/decisions/ for why people decide and not the protocol).
//
// A recovery is a new run, of another manifest: it begins with the newest state that the given
// ledgers have in common, without those who are banned or proven guilty in any of them. Every
// message names its run, so nothing that was said in the old one counts in the new.
//
// Thread safety: reads files; otherwise pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/base/tensor_layout.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/ground/state.h"

namespace ostraka::cli {

struct RecoveryPlan {
  // The first step whose blocks differ between the ledgers; nullopt if they agree.
  std::optional<std::uint64_t> parted_at;
  std::string checkpoint;                        // the file with the state to begin from
  std::map<base::PeerId, std::string> left_out;  // and why, in a few words
  std::size_t guilty = 0;  // of them: by their own signatures, in a file of one of the ledgers
  // Of the new run, with its origin. It gets its own run id when it is written: that is the hash of
  // its file.
  protocol::Manifest manifest;
};

// `old` is the manifest of the run, `data_dirs` folders of its members (copies will do), `without`
// keys that people leave out besides. NotFound: no ledger there, or no state that is old enough.
// InvalidArgument: a ledger of another run, one that is damaged. FailedPrecondition: those who are
// left cannot make a run.
base::StatusOr<RecoveryPlan> PlanRecovery(const protocol::Manifest& old,
                                          const std::vector<std::string>& data_dirs,
                                          const std::vector<base::PeerId>& without);

// The state that `manifest` begins with, from the checkpoint at `path`; null vectors if it begins
// with one of its own. InvalidArgument: a path where none is wanted or none where one is, or a file
// with another state. ReadCheckpoint's errors.
base::StatusOr<protocol::ModelState> ReadOrigin(const protocol::Manifest& manifest,
                                                const std::string& path,
                                                const base::TensorLayout& layout);

}  // namespace ostraka::cli
