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

inline constexpr std::uint32_t kProtocolVersion = 1;
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
};
inline constexpr std::uint8_t kMessageTypeCount = 8;
const char* MessageTypeName(MessageType type);  // as in JSON: boot, commit, part, aggregate, ...

struct Slot {
  Digest run_id;
  std::uint32_t incarnation = 0;
  std::uint64_t step = 0;
  Phase phase = Phase::kGenesis;
  MessageType type = MessageType::kBoot;
  std::uint32_t draw = 0;       // of the coin; 0 outside REVEAL and the echoes of seal B
  std::uint32_t iteration = 0;  // PART, RESULT: the part's index; else 0

  auto operator<=>(const Slot&) const = default;
};

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
  Digest boot_id;  // fresh for each start of the process
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
};

enum class Verdict : std::uint8_t { kAbstain = 0, kGuilty = 1, kInnocent = 2 };
inline constexpr std::uint8_t kVerdictCount = 3;

struct Accusation {
  PeerId target;
  std::uint64_t step = 0;  // of the gradient that was recomputed
};

struct Vote {
  PeerId accuser;
  PeerId target;
  std::uint64_t step = 0;
  Verdict verdict = Verdict::kAbstain;
};

// A member's word on evidence whose bulk data it checked.
struct Confirmation {
  Digest evidence;
  bool valid = false;
};

// PROOF and VERDICT are one entry of seal C.
struct Proof {
  std::vector<ColumnNumbers> columns;  // workers: one per part; others: empty
  std::optional<Accusation> accusation;
  std::vector<Vote> votes;
  std::optional<Digest> state_root;  // every R steps: of the state that this step started from
  std::vector<Bytes> evidence;       // small evidence, inline (proofs/evidence)
  std::vector<Confirmation> confirmations;
};

struct Echo {
  Digest vector;  // H(kDomainVector, entries)
  Bytes present;  // bitmaps over (entry, view): why two echoes differ can be said
  Bytes equivocated;
};

}  // namespace ostraka::wire
