// Handovers: how a reader who trusts the genesis of a run comes to know its later members.
//
// A handover is a block and COMMITs that build on it, of one more member of an earlier view than
// can be at fault. So an honest one built on that block, and its members are those of the run. From
// view to view a reader goes as far as handovers lead, and judges by the members of each what was
// done since.
//
// What that assumes: of no view more members than its bound are faulty, then or ever after. Attack:
// former members sell their keys, and more than the bound of one view sign another history. Who has
// a newer block from somebody that it trusts begins there instead (docs/evidence.md).
//
// Thread safety: pure functions.
#pragma once

#include <vector>

#include "node/base/bytes.h"
#include "node/base/status.h"
#include "node/wire/block.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::evidence {

// Makes the handover from `view` to `block`. Takes COMMITs of the next step in any order and uses
// those of the first members by key. InvalidArgument if they are too few, or one does not build on
// that block, or the block is not of a step of which the view can judge.
base::StatusOr<Bytes> MakeHandover(const KnownRun& view, const wire::Block& block,
                                   const std::vector<base::SharedBytes>& commit_frames);

// InvalidArgument: malformed.
base::Status CheckHandover(ByteView handover);

// The members of `block` as judges. `run` may be any view of the run.
KnownRun ViewAfter(const KnownRun& run, const wire::Block& block);

// The view that a handover leads to from `view`. InvalidArgument: malformed. FailedPrecondition: it
// does not lead on from this view.
base::StatusOr<KnownRun> Follow(const KnownRun& view, ByteView handover);

// What a reader knows who trusts `genesis` and has these files, in any order: the genesis and every
// view that they lead to. InvalidArgument if one is malformed; what leads from no view is passed
// over.
base::StatusOr<Views> FollowAll(const KnownRun& genesis, const std::vector<Bytes>& handovers);

}  // namespace ostraka::evidence
