// Every message of the protocol as a plain struct, and the slot that it fills.
//
// One idea: a peer signs at most one body per slot. Two signed bodies of one slot are a
// transferable proof of equivocation (docs/protocol.md, 2).
//
// Thread safety: plain values.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "crypto/commitment.h"
#include "crypto/sign.h"
#include "node/base/bytes.h"
#include "node/base/ids.h"

namespace ostraka::wire {

using base::Bytes;
using base::Digest;
using base::PeerId;

inline constexpr std::uint32_t kProtocolVersion = 4;
inline constexpr std::size_t kDirections = 4;  // random directions per part (protocol.md, 4)

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
  // SEAL's slow path; slot.iteration is the leader iteration, from 1.
  kStatus = 8,
  kPropose = 9,
  kVote = 10,
  kLock = 11,
  kRejoin = 12,
  // Services: between two neighbours, about what others signed. Never signed, never evidence.
  kPull = 13,
  kVector = 14,
  kBlock = 15,
  kChunk = 16,
  // SEAL's gate, between its fast and its slow path.
  kClose = 17,
};
inline constexpr std::uint8_t kMessageTypeCount = 18;
const char* MessageTypeName(MessageType type);  // as in JSON: boot, commit, part, aggregate, ...

// True for kPull and what answers it. Such a frame has 64 zero bytes for a signature: the link says
// whose it is, and what it carries proves itself by its hash or is a request.
bool IsService(MessageType type);

struct Slot {
  Digest run_id;
  std::uint32_t incarnation = 0;
  std::uint64_t step = 0;
  Phase phase = Phase::kGenesis;
  MessageType type = MessageType::kBoot;
  std::uint32_t draw = 0;  // of the coin; 0 outside REVEAL and the echoes of seal B
  // PART, RESULT: the part's index; STATUS to LOCK: the leader iteration, from 1; else 0
  std::uint32_t iteration = 0;

  auto operator<=>(const Slot&) const = default;
};

// True for slots of genesis and for REJOIN: who lost its store says these anew, in other words, so
// two signed bodies are no offence and never evidence.
bool MayBeSaidAnew(const Slot& slot);

struct Envelope {
  Slot slot;
  Digest entry;  // decision that opened this message's seal; the chain links every message to it
  PeerId sender;
  Bytes body;  // encoded body of slot.type
};

// An envelope as it came: what was signed, by whom, and the bytes that prove it.
struct SignedEnvelope {
  Envelope envelope;
  crypto::Signature signature;
  Digest digest;            // H(kDomainEnvelope, core bytes): what the signature covers
  base::SharedBytes frame;  // signature | core bytes, exactly as received or sent
};

// A message that several hold: never copied, since a PROOF has as many numbers as there are parts.
using SharedMessage = std::shared_ptr<const SignedEnvelope>;
inline SharedMessage Share(SignedEnvelope message) {
  return std::make_shared<const SignedEnvelope>(std::move(message));
}

enum class ElementType : std::uint8_t { kFloat32 = 0 };
inline constexpr std::uint8_t kElementTypeCount = 1;
enum class Codec : std::uint8_t { kRaw = 0 };  // room for compression (protocol.md, 10)
inline constexpr std::uint8_t kCodecCount = 1;

struct TensorHeader {
  ElementType element = ElementType::kFloat32;
  Codec codec = Codec::kRaw;
  std::vector<std::uint64_t> shape;
  bool operator==(const TensorHeader&) const = default;
};

struct Boot {
  Digest boot_id;  // of a store of this key: a start again says the same while it has its store
  std::uint32_t protocol_version = kProtocolVersion;
};

struct Commit {
  Digest coins_root;  // Merkle root of this step's coin commitments
  // Leaves under coins_root, 1..kMaxCoins. Signed, because a path verifies only against the count
  // it was made for: an accuser who could name the count could make any honest REVEAL look false.
  std::uint32_t coin_count = 0;
  std::optional<Digest> gradient_root;  // workers only: Merkle root of the part roots
};

// Announces the blob that comes with it: part `slot.iteration` of the sender's gradient.
struct Part {
  TensorHeader header;
  Digest root;               // of the part's bytes
  std::vector<Digest> path;  // of `root` under Commit::gradient_root
};

struct Aggregate {
  std::uint32_t part_index = 0;
  Digest result_root;   // of the aggregate's bytes
  Bytes included;       // bitmap over the view in key order: senders whose parts are in
  Digest leaves_root;   // Merkle root of the included part roots, in key order
  Digest commits_root;  // Merkle root of the included COMMIT digests, in key order
  // The sender whose part came last, if the owner had to wait for it longer than it should have to
  // (node/protocol/rules/lateness.h).
  std::optional<PeerId> slowest = std::nullopt;
};

// Announces the blob that comes with it: the aggregate of part `slot.iteration`.
struct Result {
  TensorHeader header;
  Digest root;
};

struct Reveal {
  crypto::CoinOpening opening;  // of coin number slot.draw
};

// What a worker proves of its gradient in one column (protocol.md, 3 and 4).
struct ColumnNumbers {
  bool missing = false;  // "missing ghat[j]": I never got the aggregate; the numbers are zero
  std::array<double, kDirections> s{};  // <z, clipped difference> for each direction
  double norm = 0;                      // |part - aggregate|
  double size = 0;                      // |part|, also if the aggregate is missing
};

enum class Verdict : std::uint8_t { kAbstain = 0, kGuilty = 1, kInnocent = 2 };
inline constexpr std::uint8_t kVerdictCount = 3;

struct Accusation {
  PeerId target;
  std::uint64_t step = 0;  // of the gradient that was recomputed
};

// What a case is about (docs/protocol.md, 5).
enum class CaseKind : std::uint8_t {
  kGradient = 0,  // a validator: the target's gradient does not follow from its batch
  kNumbers = 1,   // an aggregator: the target's numbers do not follow from the part it sent me
  kCover = 2,     // nobody: the target aggregated a convicted worker's part, and must show it
};
inline constexpr std::uint8_t kCaseKindCount = 3;
const char* CaseKindName(CaseKind kind);  // as in JSON: gradient, numbers, cover

// Which case a vote or a piece of evidence is about. Two cases with equal ids are one.
struct CaseId {
  CaseKind kind = CaseKind::kGradient;
  PeerId accuser;  // kCover: the convicted worker, whose part the target must show
  PeerId target;
  std::uint64_t step = 0;    // of the gradient, the numbers or the aggregate
  std::uint32_t column = 0;  // kNumbers, kCover: whose part it is about; else 0
  auto operator<=>(const CaseId&) const = default;
};

// kGuilty, in a case of kNumbers or kCover: I hold the part, and the sealed numbers do not follow
// from it; kInnocent: they do; kAbstain is never sent: it is the same as no vote.
struct Vote {
  CaseId about;
  Verdict verdict = Verdict::kAbstain;
};

// An aggregator names who lied to it about the column that it owned.
struct Naming {
  PeerId target;
  std::uint64_t step = 0;
  std::uint32_t column = 0;
};

// PROOF and VERDICT are one entry of seal C.
struct Proof {
  std::vector<ColumnNumbers> columns;  // workers: one per part; others: empty
  std::optional<Accusation> accusation;
  std::optional<Naming> naming;
  std::vector<Vote> votes;
  std::optional<Digest> state_root;  // every R steps: of the state that this step started from
  std::vector<Bytes> evidence;       // small evidence, inline (proofs/evidence)
  // Of disputed pair d of the D in the view's block (Block::disputes), if it meets in this step,
  // bit d: I held in time, and forwarded to its aggregator, the part that its worker gave to all;
  // and bit D + d: the same of the aggregate, to its worker (node/protocol/rules/disputes.h).
  Bytes held;
  // Bitmap over the view: members whose echo of one of the last three seals had not come when the
  // slow path began.
  Bytes silent;
  std::vector<PeerId> joins;  // by key: REJOINs of this step that I hold and find in order
  std::uint64_t lag_us = 0;   // how long echoes lag behind mine: p99 of the last seals
  // Bitmaps over the view, of seals since my last PROOF: members whose ECHO had absent entries
  // before an honest one can have had (hasty), or another vector than was decided that they did not
  // show when asked (unshown).
  Bytes hasty = {};
  Bytes unshown = {};
  // One a member of the view: by how much its own words came after their bar, in ms; then one a
  // member: by how much more its AGG did. Empty: nobody's did.
  std::vector<std::uint64_t> late_ms = {};
};

struct Echo {
  Digest vector;  // H(kDomainVector, entries)
  Bytes present;  // bitmaps over (entry, view): why two echoes differ can be said
  Bytes equivocated;
};

// --- SEAL's slow path (docs/protocol.md, 3; docs/seal.md) ---------------------------------------
// A rank is 0 for "no lock", else 1 + r for a lock of rank r: 1 is a lock by Q equal echoes, 1 + k
// one by Q votes of iteration k.

struct Status {
  std::uint32_t rank = 0;
  Digest value;  // the locked vector; with rank 0 the one that this member echoed
};

struct Propose {
  std::uint32_t rank = 0;  // of the certificate that `value` has; 0: by the statuses below
  Digest value;
  Bytes statuses;        // rank 0: bitmap over the view, whose STATUSes of this iteration I took
  Digest statuses_root;  // rank 0: H over their digests, by key; else zero
};

struct SealVote {
  Digest value;
  std::uint32_t rank = 0;  // of the certificate that the voter relied on: amnesia is provable
};

// SEAL's COMMIT: I hold Q votes of this iteration for `value` and saw no second proposal.
struct Lock {
  Digest value;
};

// SEAL's gate: its signer echoes nothing more in this seal. A body without fields.
struct Close {};

// A member that was dropped, or lost its disk, asks to come back. The entry names the block that it
// has followed to. Exempt from evidence, as BOOT is.
struct Rejoin {
  Digest nonce;
};

// --- services -----------------------------------------------------------------------------------

enum class PullKind : std::uint8_t {
  kMessages = 0,  // frames of `type` in the slot's (step, phase, draw) by `members`
  kDigests = 1,   // frames with these `digests` in the slot's (step, phase, draw)
  kVector = 2,    // the entries whose hash is digests[0], in the slot's seal
  kHead = 3,      // the newest block and its attestation
  kBlock = 4,     // the block of the slot's step, or the genesis block with phase kGenesis
  kResult = 5,    // the RESULT of column `index` of the slot's step, with its bytes
  kPart = 6,      // the PART of members' only bit for column `index` of the slot's step
  kState = 7,     // chunk `index` of the newest state that has a sealed root
  kFollow = 8,    // send me what you send to members, from now on
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
// equivocated) and the digest of the message, zero unless present.
struct VectorEntry {
  std::uint8_t state = 0;
  Digest digest;
};
struct Vector {
  std::vector<VectorEntry> entries;
};

// Announces the blob that comes with it: EncodeBlock of the block of slot.step (phase kGenesis: of
// the genesis block). The newest one comes with the COMMITs that attest to it, as frames of their
// own.
struct BlockMessage {
  Digest digest;      // BlockDigest
  bool head = false;  // the sender's newest
};

// Announces the blob that comes with it: bytes [index * kStateChunkBytes, ...) of the state.
struct Chunk {
  std::uint64_t step = 0;  // the state that this step started from
  std::uint64_t index = 0;
  std::uint64_t count = 0;  // chunks of the state
};

}  // namespace ostraka::wire
