// Transferable proofs of misbehaviour: a file that convinces anyone who trusts the cryptography,
// without a clock, a network, a configuration or trust in the maker of the file (docs/evidence.md).
//
// A kind is sound because no honest peer ever signs what it shows:
// - equivocation: an honest peer signs at most one message per slot, across crashes too, because it
//   stores what it will sign first. A peer that lost that store is the exception: BOOT, the genesis
//   seal and REJOIN are never evidence. Services are unsigned and never evidence either.
// - false_reveal: an honest peer commits to coin_count coins, signs the count with their root, and
//   reveals only coins that it committed to in this process. (After a restart it sends nothing more
//   in that step.) Count and root come from the accused's own signed COMMIT. Attack: an accuser
//   that could choose either could make an honest REVEAL look false. A signed REVEAL with an
//   unreadable body opens nothing and is false too.
// - unreadable: there is one encoding per protocol version, and an honest peer signs only what
//   every decoder reads.
// - false_part: an honest worker cuts COMMIT and PARTs from one gradient. Attack: the number of
//   parts would be the accuser's choice. So the PART must not lie under the COMMIT for any number.
// - impossible_numbers: in a PROOF, a number that is not finite, a negative norm, or |s| > norm.
// - broken_lock: an honest peer's lock only rises, across crashes too. After LOCK in iteration k it
//   votes for no proposal of a lower rank.
// - false_status: a STATUS of rank 0 names what its signer echoed, and a STATUS after a LOCK of
//   iteration k has a rank above k: the lock only rises, across crashes too.
// - verdict: the frames are those of judges, as in sealed_ban. More members than the fault bound
//   voted against the accused in one case, so an honest one found it guilty. Serves a ban after
//   which too few members are left for a sealed_ban, or no step follows. In a run of profile
//   exact/1 a majority may find a member guilty and suspend it: hardware may have erred. There only
//   votes that found it guilty twice, or that a cover case is about, make such a file.
// - gradient: an honest worker's COMMIT names the parameters that it has, and its gradient is a
//   function of these, of its key and of the block that the COMMIT builds on. A reader that
//   computes that function gets another root than the COMMIT's. The accused's own signature binds
//   all of it, so that no majority can make such a file against others. Without the root of the
//   parameters an honest worker with a damaged state would be proven guilty. The file proves a
//   false gradient and no intent: a machine whose hardware flipped a bit has signed one too.
// - sealed_ban: the frames are not the accused's. More members than the fault bound build on a
//   block that bans the accused, so an honest one does. This makes every verdict transferable; a
//   manifest must name the members. The file has exactly one judge more than the fault bound.
//   Attack: otherwise anyone who passes the file on could add or omit signatures and give one proof
//   any number of ids.
//
// A file of messages other than PROOF has at most kMaxEvidenceBytes and may travel inline. A file
// of PROOFs may be longer (seal C itself shows those faults), and so may a sealed_ban.
//
// Not judged here: whether the run is the caller's and the accused a member of it. The caller
// compares Finding::slot.run_id with its own run and looks up the accused.
//
// Thread safety: pure functions.
#pragma once

#include <functional>
#include <optional>
#include <set>
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
  kNotProven = 1,  // well formed, but the frames do not show what the file claims
  kMalformed = 2,  // not an evidence file, or its frames are not frames
  // sealed_ban, verdict: the run's manifest is needed to identify the signers. gradient: the true
  // gradient is needed.
  kMissingData = 3,
};
const char* OutcomeName(
    Outcome outcome);  // as in JSON: proven, not_proven, malformed, missing_data

struct Finding {
  Outcome outcome = Outcome::kMalformed;
  EvidenceKind kind = EvidenceKind::kEquivocation;  // as the file claims, like the next two fields;
                                                    // all three default if malformed
  PeerId accused;
  wire::Slot slot;     // of the offence
  std::string reason;  // one line: what is proven, or what failed
};

// Judges any bytes. kProven means that `accused` signed something that no honest peer signs.
// Signatures are checked last, with `verifier`.
Finding Verify(ByteView file, crypto::Verifier& verifier);
// Verify with a verifier that caches nothing.
Finding Verify(ByteView file);

// True if the frames of files of this kind are the accused's own. The frames of sealed_ban and
// verdict are their judges' and count only in a run within its fault bound.
bool IsOwnWord(EvidenceKind kind);

// Facts of a run that a sealed_ban or verdict needs: its members, by its manifest or by a handover
// (proofs/evidence/handover.h).
struct KnownRun {
  Digest run_id;
  std::vector<PeerId> members;  // of the genesis or a block, by key
  std::size_t faults = 0;       // the fault bound: max(t_s, t_a) after that block
  // Profile exact/1: the kinds of cases whose loser is only suspended, unless it was found guilty
  // twice (docs/protocol/removals.md). Votes in them prove no ban.
  std::set<wire::CaseKind> suspending = {};
  // These members judge what was done in this step and after it.
  std::uint64_t since = 0;
};
// The knowledge of a reader about one run: the members of its genesis and of later blocks. Equal
// but for members, faults and since.
using Views = std::vector<KnownRun>;

// Verify with the manifest's data: no file is kMissingData. Files of other kinds are judged
// independently of the run.
Finding VerifyInRun(ByteView file, const KnownRun& run);
// The same, with any of several views as judges. REQUIRES: there is one.
Finding VerifyInViews(ByteView file, const Views& views);

// The claim of a well-formed file of kind gradient about a worker.
struct GradientClaim {
  PeerId worker;
  std::uint64_t step = 0;
  Digest parameters_root;  // crypto/parameters_root.h
  wire::Block before;      // the block that the COMMIT builds on
};
// Computes the root that the worker's COMMIT would have if it were true; nullopt if no gradient was
// due from it. An error says in one line what is missing.
using HonestRoot = std::function<base::StatusOr<std::optional<Digest>>(const GradientClaim&)>;
// VerifyInViews, that also judges files of kind gradient. `honest` is called only for such a file
// that is proven but for the gradient itself. REQUIRES: there is a view.
Finding VerifyByComputing(ByteView file, const Views& views, const HonestRoot& honest);

// Makes a file that proves that the sender of two frames of one slot signed both. The order of the
// frames does not affect the file. InvalidArgument with the reason if they prove nothing.
base::StatusOr<Bytes> MakeEquivocation(ByteView frame_a, ByteView frame_b);

// Makes a file that proves that the sender of a COMMIT revealed something other than it committed
// to. InvalidArgument with the reason if the frames prove nothing.
base::StatusOr<Bytes> MakeFalseReveal(ByteView commit_frame, ByteView reveal_frame);

// As MakeFalseReveal, for a COMMIT and a PART that is not under it; an unreadable message; a PROOF
// with impossible numbers; a LOCK and a later VOTE that ignores it.
base::StatusOr<Bytes> MakeFalsePart(ByteView commit_frame, ByteView part_frame);
base::StatusOr<Bytes> MakeUnreadable(ByteView frame);
base::StatusOr<Bytes> MakeImpossibleNumbers(ByteView proof_frame);
base::StatusOr<Bytes> MakeBrokenLock(ByteView lock_frame, ByteView vote_frame);
// As MakeFalseReveal, for an ECHO or LOCK and a STATUS that denies it.
base::StatusOr<Bytes> MakeFalseStatus(ByteView word_frame, ByteView status_frame);

// Makes a file that accuses the sender of a COMMIT of a false gradient; `block`: EncodeBlock of the
// block that it builds on. Whether the gradient is false is the caller's to know.
// InvalidArgument: the COMMIT names no gradient or no parameters, or builds on another block.
base::StatusOr<Bytes> MakeFalseGradient(ByteView commit_frame, ByteView block);

// Makes a file that proves, to a reader with the manifest, that `run` banned `accused` in `block`.
// Takes COMMITs of the next step in any order and uses those of the first members by key, one more
// than run.faults. InvalidArgument if they are too few, or one does not build on that block.
base::StatusOr<Bytes> MakeSealedBan(const PeerId& accused, const wire::Block& block,
                                    const std::vector<base::SharedBytes>& commit_frames,
                                    const KnownRun& run);

// Makes a file that proves, to a reader with the manifest, that more members of `run` than its
// fault bound voted against `accused` in one case. Takes PROOFs in any order and uses those of the
// first members by key. InvalidArgument if they are too few, or one has no such vote.
base::StatusOr<Bytes> MakeVerdict(const PeerId& accused,
                                  const std::vector<base::SharedBytes>& proof_frames,
                                  const KnownRun& run);

// The peer that a vote of a PROOF condemns: the target by guilty, the accuser by innocent; nullopt
// if the case has no such loser.
std::optional<PeerId> CondemnedBy(const wire::Vote& vote);
// The same, if enough of such votes ban in `run`: in a case of a suspending kind only `twice` does.
std::optional<PeerId> BannedBy(const wire::Vote& vote, const KnownRun& run);

// The id of a file in ledgers: H(kDomainEvidence, bytes).
Digest IdOf(ByteView file);

}  // namespace ostraka::evidence
