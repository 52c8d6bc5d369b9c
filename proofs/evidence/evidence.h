// Transferable proofs of misbehaviour: a file that convinces anyone who trusts the cryptography,
// without a clock, a network, a configuration or the word of whoever made it (docs/wire.md).
//
// What makes a kind sound is that no honest peer ever signs what it shows:
//   equivocation  An honest peer signs at most one message per slot, across crashes too, because it
//                 stores what it will sign first. What somebody says who has lost that store is the
//                 exception: BOOT, the genesis seal and REJOIN are never evidence. Nor are
//                 services, which nobody signs.
//   false_reveal  An honest peer commits to coin_count coins, signs the count with their root, and
//                 reveals only coins that it committed to in this process. (After a restart it says
//                 nothing more in that step.) Count and root come from its own signed COMMIT: if
//                 either were the accuser's word, an honest REVEAL could be made to look false.
//                 A signed REVEAL with an unreadable body opens nothing and is false too.
//
// A file of messages other than PROOF is at most kMaxEvidenceBytes long and may travel inline; one
// of two PROOFs may be longer (seal C itself shows those as equivocated).
//
// Not judged here: whether the run is mine and the accused a member of it. The caller compares
// Finding::slot.run_id with its own run and looks the accused up.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "crypto/sign.h"
#include "node/base/bytes.h"
#include "node/base/status.h"
#include "node/wire/evidence_codec.h"
#include "node/wire/messages.h"

namespace ostraka::evidence {

using base::Bytes;
using base::ByteView;
using base::Digest;
using base::PeerId;
using wire::EvidenceKind;
using wire::EvidenceKindName;

enum class Outcome : std::uint8_t {
  kProven = 0,
  kNotProven = 1,    // well formed, but the frames do not show what the file claims
  kMalformed = 2,    // not an evidence file, or its frames are not frames
  kMissingData = 3,  // needs attachments that are not at hand; no kind of version 1 does
};
const char* OutcomeName(
    Outcome outcome);  // as in JSON: proven, not_proven, malformed, missing_data

struct Finding {
  Outcome outcome = Outcome::kMalformed;
  EvidenceKind kind = EvidenceKind::kEquivocation;  // as the file claims, like the next two;
  PeerId accused;                                   // all three default if malformed
  wire::Slot slot;                                  // of the offence
  std::string reason;                               // one line: what was shown, or what failed
};

// Judges any bytes. A Finding of kProven means: `accused` signed something that no honest peer
// signs. Signatures are checked last, with `verifier`.
Finding Verify(ByteView file, crypto::Verifier& verifier);
// The same with a verifier that remembers nothing.
Finding Verify(ByteView file);

// A file that proves that the sender of two frames of one slot signed both. The order of the frames
// does not matter: either way the same file. InvalidArgument, saying why, if they prove nothing.
base::StatusOr<Bytes> MakeEquivocation(ByteView frame_a, ByteView frame_b);

// A file that proves that the sender of a COMMIT revealed something else than it committed to.
// InvalidArgument, saying why, if the frames prove nothing.
base::StatusOr<Bytes> MakeFalseReveal(ByteView commit_frame, ByteView reveal_frame);

// What ledgers name a file by: H(kDomainEvidence, bytes).
Digest IdOf(ByteView file);

}  // namespace ostraka::evidence
