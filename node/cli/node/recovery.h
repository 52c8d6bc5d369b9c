// Recovery after a run that cannot continue, because it split or lost too many members
// (docs/protocol/network.md; docs/decisions/ explains why people decide this and not the protocol).
//
// A recovery is a new run with another manifest. It begins with the newest state that the given
// ledgers share, without the members that are banned or proven guilty in any of them. The
// newest block that they share says which members only dial. Every message names its run, so no
// message of the old run counts in the new one.
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
#include "node/protocol/ground/manifest.h"

namespace ostraka::cli {

struct RecoveryPlan {
  // The first step whose blocks differ between the ledgers; nullopt if they agree.
  std::optional<std::uint64_t> parted_at;
  std::string checkpoint;                        // the file with the state to begin from
  std::map<base::PeerId, std::string> left_out;  // with the reasons, in a few words
  std::size_t guilty = 0;  // of these: convicted by their own signatures, in an evidence file of
                           // one of the ledgers
  // The manifest of the new run, with its origin. Its run id is the hash of its file and exists
  // once that is written.
  protocol::Manifest manifest;
};

// `old` is the run's manifest, `data_dirs` are folders (or copies) of its members, `without` are
// further keys to leave out. NotFound: no ledger there, or no state that is old enough.
// InvalidArgument: a ledger of another run, or a damaged one. FailedPrecondition: the remaining
// members cannot form a run.
base::StatusOr<RecoveryPlan> PlanRecovery(const protocol::Manifest& old,
                                          const std::vector<std::string>& data_dirs,
                                          const std::vector<base::PeerId>& without);

}  // namespace ostraka::cli
