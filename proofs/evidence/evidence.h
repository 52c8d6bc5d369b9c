// Transferable proofs of misbehaviour: a file that convinces anyone who trusts the cryptography,
// without a clock, a network, a configuration or the word of whoever made it (docs/evidence.md).
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
//   unreadable    One encoding a protocol version: an honest peer signs what every decoder reads.
//   false_part    An honest worker cuts COMMIT and PARTs from one gradient. How many parts there
//                 are would be the accuser's word, so the PART must lie under the COMMIT for none.
//   impossible_numbers  In a PROOF: not finite, a negative norm, |s| > norm.
//   broken_lock   An honest peer's lock only rises, across crashes too: after LOCK in iteration k
//                 it votes for no proposal of a lower rank.
//   false_status  A STATUS of rank 0 names what its signer echoed, and one after a LOCK of
//   iteration k
//                 a rank above k: the lock only rises, across crashes too.
//   verdict       Like sealed_ban, of judges: more members than can be at fault voted against the
//                 accused in one case, so an honest one found it guilty. For a ban after which too
//                 few members are left for a sealed_ban, or no step follows.
//   sealed_ban    The odd one: its frames are not the accused's. More members than can be at fault
//                 build on a block that bans it, so an honest one does. This makes every verdict
//                 transferable; a manifest must say who the members are. One more than can be at
//                 fault, and nobody else: else whoever passes a file on could add signatures or
//                 leave some out, and have as many names for one proof as it likes.
//
// A file of messages other than PROOF is at most kMaxEvidenceBytes long and may travel inline; one
// of PROOFs may be longer (seal C itself shows those faults), and so may a sealed_ban.
//
// Not judged here: whether the run is mine and the accused a member of it. The caller compares
// Finding::slot.run_id with its own run and looks the accused up.
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "crypto/sign.h"
#include "node/base/bytes.h"
#include "node/base/status.h"
#include "node/wire/block.h"
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
  kMissingData = 3,  // sealed_ban, verdict: whose the signatures are needs the run's manifest
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

// True if the frames of such files are the accused's own. Those of sealed_ban and verdict are its
// judges', which count only in a run that had no more faults than it bears.
bool IsOwnWord(EvidenceKind kind);

// What a manifest says of a run: as much as a sealed_ban or verdict needs.
struct KnownRun {
  Digest run_id;
  std::vector<PeerId> members;  // of the genesis, by key
  std::size_t faults = 0;       // so many of them may be at fault: max(t_s, t_a) at the genesis
};
// The same for one who has it: no file is kMissingData. Files of other kinds are judged alike
// whatever the run.
Finding VerifyInRun(ByteView file, const KnownRun& run);

// False if a body of slot.type that does not decode: what an honest peer never signs. Types that
// are never evidence count as readable.
bool IsReadable(const wire::Envelope& envelope);

// A file that proves that the sender of two frames of one slot signed both. The order of the frames
// does not matter: either way the same file. InvalidArgument, saying why, if they prove nothing.
base::StatusOr<Bytes> MakeEquivocation(ByteView frame_a, ByteView frame_b);

// A file that proves that the sender of a COMMIT revealed something else than it committed to.
// InvalidArgument, saying why, if the frames prove nothing.
base::StatusOr<Bytes> MakeFalseReveal(ByteView commit_frame, ByteView reveal_frame);

// Likewise: a COMMIT and a PART that is not under it; a message that nobody can read; a PROOF with
// impossible numbers; a LOCK and a later VOTE that passes over it.
base::StatusOr<Bytes> MakeFalsePart(ByteView commit_frame, ByteView part_frame);
base::StatusOr<Bytes> MakeUnreadable(ByteView frame);
base::StatusOr<Bytes> MakeImpossibleNumbers(ByteView proof_frame);
base::StatusOr<Bytes> MakeBrokenLock(ByteView lock_frame, ByteView vote_frame);
// Likewise: an ECHO or LOCK and a STATUS that denies it.
base::StatusOr<Bytes> MakeFalseStatus(ByteView word_frame, ByteView status_frame);

// A file that proves, to whoever has the manifest, that `run` banned `accused` in `block`: of
// COMMITs of the next step, in any order, those of the first members by key, as many as it takes.
// InvalidArgument if they are too few, or one of them does not build on that block.
base::StatusOr<Bytes> MakeSealedBan(const PeerId& accused, const wire::Block& block,
                                    const std::vector<base::SharedBytes>& commit_frames,
                                    const KnownRun& run);

// A file that proves, to whoever has the manifest, that more members of `run` than can be at fault
// voted against `accused` in one case: of PROOFs, in any order, those of the first members by key.
// InvalidArgument if they are too few, or one of them holds no such vote.
base::StatusOr<Bytes> MakeVerdict(const PeerId& accused,
                                  const std::vector<base::SharedBytes>& proof_frames,
                                  const KnownRun& run);

// Whom a vote of a PROOF condemns: the target by guilty, the accuser by innocent; nobody if the
// case has no such loser.
std::optional<PeerId> CondemnedBy(const wire::Vote& vote);

// What ledgers name a file by: H(kDomainEvidence, bytes).
Digest IdOf(ByteView file);

}  // namespace ostraka::evidence
