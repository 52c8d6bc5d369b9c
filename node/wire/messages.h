// Every message of the protocol as a plain struct, and the slot that it fills.
//
// Invariant: an honest peer signs at most one body per slot. Two signed bodies of one slot are a
// transferable proof of equivocation (docs/protocol.md 2); MayBeSaidAnew lists the exceptions.
//
// Thread safety: plain values.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "crypto/commitment.h"
#include "crypto/sign.h"
#include "node/base/bytes.h"
#include "node/base/ids.h"

namespace ostraka::wire {

using base::Bytes;
using base::Digest;
using base::PeerId;

inline constexpr std::uint32_t kProtocolVersion = 13;
// The version is a draft until it is finished: each change of messages, blocks or rules raises this
// number, which a manifest of the version names. So builds of two drafts refuse each other's runs.
inline constexpr std::uint32_t kProtocolDraft = 10;
inline constexpr std::size_t kDirections = 4;  // random directions (docs/protocol/numbers.md)

// The agreement that a message belongs to: the genesis seal, or seal A, B or C of a step.
enum class Phase : std::uint8_t { kGenesis = 0, kA = 1, kB = 2, kC = 3 };
inline constexpr std::uint8_t kPhaseCount = 4;
const char* PhaseName(Phase phase);  // as in JSON: genesis, a, b, c

enum class MessageType : std::uint8_t {
  kBoot = 0,
  kCommit = 1,
  kPart = 2,
  kAggregate = 3,
  kResult = 4,
  kReveal = 5,
  kProof = 6,
  kEcho = 7,
  // SEAL's slow path; slot.iteration is the leader iteration, counted from 1.
  kStatus = 8,
  kPropose = 9,
  kVote = 10,
  kLock = 11,
  kRejoin = 12,
  // Services: requests between two neighbours and the answers to them, about messages that others
  // signed. Never signed, never evidence.
  kPull = 13,
  kVector = 14,
  kBlock = 15,
  kChunk = 16,
  // SEAL's gate, between the fast and the slow path.
  kClose = 17,
  // A service: a message between two members without a link, in the hands of a third one.
  kForward = 18,
};
inline constexpr std::uint8_t kMessageTypeCount = 19;
const char* MessageTypeName(MessageType type);  // as in JSON: boot, commit, part, aggregate, ...

// True for kPull, its answers and kForward. Such a frame has 64 zero bytes in place of a signature:
// the link identifies the sender, and the content is either a request or proves itself by its hash.
bool IsService(MessageType type);

struct Slot {
  Digest run_id;
  std::uint32_t incarnation = 0;
  std::uint64_t step = 0;
  Phase phase = Phase::kGenesis;
  MessageType type = MessageType::kBoot;
  std::uint32_t draw = 0;  // number of the coin draw; 0 outside REVEAL and the echoes of seal B
  // PART, RESULT: the part's index; STATUS to LOCK: the leader iteration, from 1; else 0
  std::uint32_t iteration = 0;

  auto operator<=>(const Slot&) const = default;
};

// True for slots of genesis and for REJOIN. A peer that lost its store signs these again with other
// content, so two signed bodies in such a slot are no offence and never evidence.
bool MayBeSaidAnew(const Slot& slot);

struct Envelope {
  Slot slot;
  Digest entry;  // the parent: the decision that opened this message's seal; chains every message
                 // to it
  PeerId sender;
  Bytes body;  // the encoded Body of slot.type
};

enum class ElementType : std::uint8_t { kFloat32 = 0 };
inline constexpr std::uint8_t kElementTypeCount = 1;
enum class Codec : std::uint8_t { kRaw = 0, kI16 = 1, kI8 = 2, kI4 = 3 };  // docs/numerics.md, 11
inline constexpr std::uint8_t kCodecCount = 4;

struct TensorHeader {
  ElementType element = ElementType::kFloat32;
  Codec codec = Codec::kRaw;
  std::vector<std::uint64_t> shape;
  bool operator==(const TensorHeader&) const = default;
};

struct Boot {
  Digest boot_id;  // id of this key's store; restarts repeat it while the store exists
  std::uint32_t protocol_version = kProtocolVersion;
};

enum class InviteKind : std::uint8_t {
  kAdmit = 0,
  kObserve = 1,  // to follow the run as a guest: nobody comes in by it
};
inline constexpr std::uint8_t kInviteKindCount = 2;

// A moderator's promise: who shows that it holds the key `holder` may come in. The holder's private
// key is what an invite link carries, so a public link is an invite of many uses.
struct Invite {
  PeerId moderator;
  PeerId holder;
  std::uint32_t uses = 1;       // 1..kMaxInviteUses: keys that come in, or follow at once
  std::uint64_t ends_step = 0;  // no block of this step or of a later one admits by it
  InviteKind kind = InviteKind::kAdmit;
  // BlockDigest of the block at which who comes begins; none: the genesis. A moderator signs it, so
  // whoever hands over the block cannot hand over another one.
  std::optional<Digest> anchor = {};
  auto operator<=>(const Invite&) const = default;
};

// A moderator's word that nobody comes in by its invites any more
// (node/protocol/rules/invite_book.h).
struct Revocation {
  PeerId moderator;
  std::optional<Invite> invite;    // one of the moderator's own; none: all of them
  crypto::Signature by_moderator;  // over RevocationDigest (node/protocol/ground/invite.h)
  auto operator<=>(const Revocation&) const = default;
};

struct Commit {
  Digest coins_root;  // Merkle root of this step's coin commitments
  // Number of leaves under coins_root, 1..kMaxCoins. Signed, because a Merkle path verifies only
  // against the count that it was made for. Attack: an accuser who could choose the count could
  // make any honest REVEAL look false.
  std::uint32_t coin_count = 0;
  std::optional<Digest> gradient_root;  // workers only: Merkle root of the part roots
  // Profile exact/1 only: the root of the parameters that the sender has in this step, so of those
  // at which it computed its gradient (crypto/parameters_root.h).
  std::optional<Digest> parameters_root = {};
  // The sender declares that it cannot be dialed from outside (node/protocol/ground/reach.h).
  bool only_dials = false;
  // The sender leaves the run: from the next step on it holds no role
  // (node/protocol/rules/leaving.h).
  bool leaving = false;
  // A moderator's word that has not been sealed yet. It stands in COMMIT, since seal A of the step
  // fixes it before the coin. Attack: who knows the coin would choose whom to shut out.
  std::optional<Revocation> revokes = {};
  // The batches that the sender averages in each gradient of the next step; 0 where the manifest
  // has one count for all. It is sealed before the randomness that draws these batches. Attack: who
  // chooses when it knows its gradients sends the worst of the true ones.
  std::uint16_t next_batches = 0;
};

// Announces the blob that follows it: part `slot.iteration` of the sender's gradient.
struct Part {
  TensorHeader header;
  Digest root;               // of the part's bytes
  std::vector<Digest> path;  // of `root` under Commit::gradient_root
};

struct Aggregate {
  std::uint32_t part_index = 0;
  Digest result_root;   // of the aggregate's bytes
  Bytes included;       // bitmap over the members by key: senders whose parts are included
  Digest leaves_root;   // Merkle root of the included part roots, in key order
  Digest commits_root;  // Merkle root of the included COMMIT digests, in key order
  // The sender whose part came last, if the owner had to wait for it longer than the lateness rules
  // allow (node/protocol/rules/lateness.h).
  std::optional<PeerId> slowest = std::nullopt;
};

// Announces the blob that follows it: the aggregate of part `slot.iteration`.
struct Result {
  TensorHeader header;
  Digest root;
};

struct Reveal {
  crypto::CoinOpening opening;  // of coin number slot.draw
};

// A worker's claims about its gradient in one column (docs/protocol/numbers.md).
struct ColumnNumbers {
  bool missing = false;  // "missing ghat[j]": the aggregate never arrived; the numbers are zero
  std::array<double, kDirections> s{};  // <z, clipped difference> for each direction
  double norm = 0;                      // |part - aggregate|
  double size = 0;                      // |part|, set even if the aggregate is missing
};

// kTwice: guilty, and the target's gradient of another step is false too
// (docs/protocol/removals.md).
enum class Verdict : std::uint8_t { kAbstain = 0, kGuilty = 1, kInnocent = 2, kTwice = 3 };
inline constexpr std::uint8_t kVerdictCount = 4;
// True for the verdicts that find against the target.
inline bool Condemns(Verdict verdict) {
  return verdict == Verdict::kGuilty || verdict == Verdict::kTwice;
}

struct Accusation {
  PeerId target;
  std::uint64_t step = 0;  // of the gradient that was recomputed
};

// What a case is about (docs/protocol/checks.md).
enum class CaseKind : std::uint8_t {
  kGradient = 0,  // by a validator: the target's gradient does not follow from its batch
  kNumbers = 1,   // by an aggregator: the target's numbers do not follow from the part it sent
  kCover = 2,     // by nobody: the target aggregated a convicted worker's part and must show it
};
inline constexpr std::uint8_t kCaseKindCount = 3;
const char* CaseKindName(CaseKind kind);  // as in JSON: gradient, numbers, cover

// The subject of a vote or of a piece of evidence. Cases with equal ids are one case.
struct CaseId {
  CaseKind kind = CaseKind::kGradient;
  PeerId accuser;  // kCover: the convicted worker whose part the target must show
  PeerId target;
  std::uint64_t step = 0;    // step of the gradient, the numbers or the aggregate
  std::uint32_t column = 0;  // kNumbers, kCover: the column in question; else 0
  auto operator<=>(const CaseId&) const = default;
};

// In a case of kNumbers or kCover the voter holds the part, and the sealed numbers do not follow
// from it (kGuilty) or do (kInnocent). kAbstain is never sent: it equals no vote.
struct Vote {
  CaseId about;
  Verdict verdict = Verdict::kAbstain;
};

// An aggregator accuses a worker of lying about the column that the aggregator owned.
struct Naming {
  PeerId target;
  std::uint64_t step = 0;
  std::uint32_t column = 0;
};

// --- how a key that is not of the run comes in (node/protocol/rules/coming.h) --------------------

// An invite, and its use by one key.
struct Credential {
  Invite invite;
  crypto::Signature by_moderator;  // over InviteDigest (node/protocol/ground/invite.h)
  // Over InviteUseDigest, which names the key that comes. Attack: a reader of a REJOIN uses up the
  // invite of another.
  crypto::Signature by_holder;
};

// The part of a credential that goes into blocks: it identifies the invite and its limits.
struct Voucher {
  Digest invite;  // InviteDigest
  PeerId moderator;
  std::uint32_t uses = 1;
  std::uint64_t ends_step = 0;
  InviteKind kind = InviteKind::kAdmit;
  auto operator<=>(const Voucher&) const = default;
};

// A key that is not of the run asks to come in, and its REJOIN is in order. No voucher: the
// manifest allows the key.
struct Arrival {
  PeerId peer;
  std::optional<Voucher> voucher;
  auto operator<=>(const Arrival&) const = default;
};

// PROOF and VERDICT share one entry of seal C.
struct Proof {
  std::vector<ColumnNumbers> columns;  // workers: one per part; others: empty
  std::optional<Accusation> accusation;
  std::optional<Naming> naming;
  std::vector<Vote> votes;
  std::optional<Digest> state_root;  // every R steps: root of the state that this step started from
  std::vector<Bytes> evidence;       // small evidence, inline (proofs/evidence)
  // Two bits for each of the D disputed pairs of the last block (Block::disputes). Bit d, if pair d
  // meets in this step: the sender held in time, and forwarded to the aggregator, the part that the
  // pair's worker sent to all. Bit D + d: the sender held in time, and forwarded to the worker, the
  // aggregate (node/protocol/rules/disputes.h).
  Bytes held;
  // Bitmap over the members whose echo of one of the last three seals was missing when the slow
  // path began.
  Bytes silent;
  std::vector<PeerId> joins;  // by key: REJOINs of this step that the sender holds and finds valid
  std::uint64_t lag_us = 0;   // p99 of the last seals: how much later others' echoes came than the
                              // own echo
  // Bitmaps over the members, for seals since the sender's last PROOF. hasty: the member's ECHO had
  // absent entries before an honest one could have. unshown: its ECHO had another vector than the
  // decided one and the member did not show that vector when asked.
  Bytes hasty = {};
  Bytes unshown = {};
  // In ms, one per member: how much later than their bar the member's own messages came; then one
  // per member: how much later than its bar the member's AGG came. Empty if all are zero.
  std::vector<std::uint64_t> late_ms = {};
  // By key, none of `joins`: REJOINs of keys that are not of the run, as `joins` are of keys that
  // are.
  std::vector<Arrival> arrivals = {};
};

struct Echo {
  Digest vector;  // H(kDomainVector, entries)
  Bytes present;  // bitmaps over (entry, member): they show why two echoes differ
  Bytes equivocated;
};

// --- SEAL's slow path (docs/seal.md) ----------------------------------------------------------
// Rank of a lock: 0 is "no lock"; 1 is a lock by Q equal echoes; 1 + k is a lock by Q votes of
// iteration k.

struct SealStatus {
  std::uint32_t rank = 0;
  Digest value;  // the locked vector; with rank 0 the vector that this member echoed
};

struct Propose {
  std::uint32_t rank = 0;  // rank of `value`'s certificate; 0: `value` rests on the statuses below
  Digest value;
  Bytes statuses;  // rank 0: bitmap over the members whose STATUS of this iteration the leader used
  Digest statuses_root;  // rank 0: H over their digests, by key; else zero
};

struct SealVote {
  Digest value;
  std::uint32_t rank = 0;  // rank of the certificate that the voter relied on; makes a vote against
                           // its own lock provable
};

// The signer holds Q votes of this iteration for `value` and saw no second proposal.
struct Lock {
  Digest value;
};

// SEAL's gate: the signer sends no further ECHO in this seal. A body without fields.
struct Close {};

// A member that was dropped, or lost its disk, asks to return; or a key that is not of the run asks
// to come in. Envelope::entry names the block that it has followed to. Exempt from evidence, as
// BOOT is.
struct Rejoin {
  Digest nonce;
  std::optional<Credential> credential = {};  // of one that needs an invite
};

// --- services -----------------------------------------------------------------------------------

enum class PullKind : std::uint8_t {
  kMessages = 0,  // frames of `type` by `members` in the slot's (step, phase, draw)
  kDigests = 1,   // frames with `digests` in the slot's (step, phase, draw)
  kVector = 2,    // the entries whose hash is digests[0], in the slot's seal
  kHead = 3,      // the newest block and its attestation
  kBlock = 4,     // the block of the slot's step, or the genesis block with phase kGenesis
  kResult = 5,    // the RESULT of column `index` of the slot's step, with its bytes
  kPart = 6,      // the PART of the one member in `members` for column `index` of the slot's step
  kState = 7,     // chunk `index` of the newest state with a sealed root
  kFollow = 8,    // subscribe: send what members are sent, from now on
  kProofs = 9,    // frames that prove what the seals of the slot's step decided
};
inline constexpr std::uint8_t kPullKindCount = 10;

struct Pull {
  PullKind kind = PullKind::kMessages;
  MessageType type = MessageType::kBoot;
  Bytes members = {};
  std::vector<Digest> digests = {};
  std::uint64_t index = 0;
};

// Entry k of a seal's vector, as Echo::vector hashes it: a state (0 absent, 1 present, 2
// equivocated) and the digest of the message (zero unless present).
struct VectorEntry {
  std::uint8_t state = 0;
  Digest digest;
};
struct Vector {
  std::vector<VectorEntry> entries;
};

// Announces the blob that follows it: EncodeBlock of the block of slot.step (phase kGenesis: the
// genesis block). The newest block is followed by the COMMITs that attest to it, as separate
// frames.
struct BlockMessage {
  Digest digest;      // BlockDigest
  bool head = false;  // true for the sender's newest block
};

// A frame of `from` for `to`, two members without a link. `from` gives it to a member that both are
// linked with, which gives it to `to` (node/protocol/mail/post.h). `from` signs it if the frame
// within is signed; whoever carries it can forge a request or an answer, as these prove themselves
// by their content. An empty frame says that the carrier is linked with `from` and with `to`.
struct Forward {
  PeerId from;
  PeerId to;
  Bytes frame;
};

// Announces the blob that follows it: bytes [index * kStateChunkBytes, ...) of the state.
struct Chunk {
  std::uint64_t step = 0;  // the state that this step started from
  std::uint64_t index = 0;
  std::uint64_t count = 0;  // chunks of the state
};

// --- a message that was opened ------------------------------------------------------------------

// The body of a message whose bytes are none of its type. Signed ones are evidence.
struct Unreadable {
  std::string why;
};

// The body of a message, in the order of MessageType.
using Body = std::variant<Unreadable, Boot, Commit, Part, Aggregate, Result, Reveal, Proof, Echo,
                          SealStatus, Propose, SealVote, Lock, Rejoin, Pull, Vector, BlockMessage,
                          Chunk, Close, Forward>;

// A received or own envelope with its signature and the exact bytes that the signature covers.
struct SignedEnvelope {
  Envelope envelope;
  crypto::Signature signature;
  Digest digest;            // H(kDomainEnvelope, core bytes): what the signature covers
  base::SharedBytes frame;  // signature | core bytes, exactly as received or sent
  Body body;                // envelope.body, decoded once for all readers

  // The body, or null if the message is of another type or unreadable.
  template <typename T>
  const T* As() const {
    return std::get_if<T>(&body);
  }
  bool IsReadable() const { return !std::holds_alternative<Unreadable>(body); }
  // REQUIRES: !IsReadable().
  const std::string& WhyUnreadable() const { return std::get<Unreadable>(body).why; }
};

// A message with several holders. Shared, not copied: a PROOF has one set of numbers per part.
using SharedMessage = std::shared_ptr<const SignedEnvelope>;
inline SharedMessage Share(SignedEnvelope message) {
  return std::make_shared<const SignedEnvelope>(std::move(message));
}

}  // namespace ostraka::wire
