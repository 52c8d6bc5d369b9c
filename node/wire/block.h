// What SEAL C of a step decided, as everyone derives it from sealed data: the ledger's row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/wire/messages.h"

namespace ostraka::wire {

enum class RemovalKind : std::uint8_t { kVerdict = 0, kEvidence = 1, kDrop = 2, kEliminate = 3 };
inline constexpr std::uint8_t kRemovalKindCount = 4;
const char* RemovalKindName(RemovalKind kind);  // as in JSON: verdict, evidence, drop, eliminate
// kVerdict and kEvidence are bans, for ever; the other kinds allow a return.
bool IsBan(RemovalKind kind);

struct Removal {
  PeerId peer;
  RemovalKind kind = RemovalKind::kVerdict;
  std::uint64_t step = 0;  // the block that removed it
  std::string reason;      // one line without control characters, the same on all peers
};

// Why a column's coordinates were or were not updated.
enum class ColumnFate : std::uint8_t {
  kApplied = 0,
  kNoAggregate = 1,     // AGG absent, equivocated or malformed
  kBadSenders = 2,      // S_j names someone whose COMMIT is not sealed present, or a wrong root
  kTooFewSenders = 3,   // |S_j| < 2b + 1
  kMissingNumbers = 4,  // a sender of S_j has no sealed numbers for it
  kSumCheck = 5,        // V2
  kNormCheck = 6,       // V3
  kSizeCheck = 7,       // the aggregate is larger than its senders' sizes allow
  kBlind = 8,           // the aggregate is so large beside tau that V2 sees nothing
};
inline constexpr std::uint8_t kColumnFateCount = 9;
const char* ColumnFateName(ColumnFate fate);  // as in JSON: applied, no_aggregate, bad_senders, ...

// An aggregator that must show a worker's part of its column once that worker is convicted.
struct Covering {
  std::uint32_t column = 0;
  PeerId owner;
  bool operator==(const Covering&) const = default;
};

// An open case. Who of its parties holds no role meanwhile: node/protocol/ground/roles.h.
struct Case {
  CaseId id;
  std::uint64_t opened_step = 0;  // of the block that sealed the accusation, naming or conviction
  struct Ballot {
    PeerId voter;
    Verdict verdict = Verdict::kAbstain;
  };
  std::vector<Ballot> ballots;          // first non-abstention of each voter, in the order sealed
  std::vector<Covering> covering = {};  // kGradient: Assignment::covering; else empty
};

// A validator of one step and the worker whose step it recomputes.
struct Assignment {
  PeerId validator;
  PeerId target;
  std::uint64_t step = 0;  // of the gradient to recompute
  // By column: who answers for the target's parts of that step, if it is convicted. Settled here,
  // while the block before still says who aggregated what, so that no judgement needs older blocks.
  std::vector<Covering> covering = {};
};

// Worker and aggregator that once failed to hand over a part or a result (docs/protocol.md, 6).
struct Dispute {
  PeerId worker;
  PeerId aggregator;
  std::uint64_t since = 0;  // step from which its steps are counted: disputes.h
};

// What a member's past costs it. Kept for ever, also after it came back.
struct Standing {
  PeerId peer;
  bool banned = false;
  std::uint32_t drops = 0;
  std::uint64_t last_drop_step = 0;
  std::uint64_t barred_until = 0;  // no REJOIN is in order before this step
};

// A dropped member that follows the run and has asked to come back.
struct Candidate {
  PeerId peer;
  std::uint64_t since = 0;      // block that sealed its first REJOIN
  std::uint64_t confirmed = 0;  // newest block that sealed one
};

// How long a member has let the others wait and is not forgiven yet
// (node/protocol/rules/lateness.h).
struct Lateness {
  PeerId peer;
  std::uint64_t ms = 0;
};

// Columns that a member voided by its own word (node/protocol/rules/voids.h).
struct Voids {
  PeerId peer;
  std::uint32_t count = 0;
  std::uint64_t last_step = 0;
};

// n, t_s, t_a as they stand after a block (protocol.md, 1).
struct Thresholds {
  std::uint32_t n = 0;
  std::uint32_t t_s = 0;
  std::uint32_t t_a = 0;
  std::uint32_t quorum() const { return n - t_s; }
  bool operator==(const Thresholds&) const = default;
};

struct Block {
  std::uint64_t step = 0;  // the genesis block has step 0 and `genesis` set
  bool genesis = false;
  Digest decision;              // of seal C (or the genesis seal)
  Digest previous;              // BlockDigest of the block before: the chain
  Digest randomness;            // r^t
  std::vector<PeerId> members;  // the view after this block, by key
  Thresholds thresholds;        // after this block
  double tau = 0;               // for the next step
  std::vector<ColumnFate> columns;
  std::vector<Removal> removals;     // of this block
  std::vector<Case> cases;           // open after this block
  std::optional<Digest> state_root;  // sealed in this block, of the state this step started from
  // One a column: the sealed root of the aggregate if the column is applied, else zero. With the
  // state before, they determine the state after, so that one who was away can catch up.
  std::vector<Digest> result_roots;
  // One a column: who aggregated it, and the workers that its sealed AGG includes (by key; empty if
  // there is no AGG to go by). A later case may be about them (docs/protocol.md, 5: covering).
  struct Column {
    PeerId owner;
    std::vector<PeerId> senders;
  };
  std::vector<Column> aggregated;

  // The rest of what the next step needs: a block and the state after it are all there is.
  std::vector<Assignment> drawn;  // validators of the next step
  std::vector<PeerId> proven;     // workers of this step whose PROOF is sealed, by key
  // By key: aggregators whose column failed V2 in this block. Each must name a liar in the next.
  std::vector<PeerId> owing;
  std::vector<Dispute> disputes;      // by (worker, aggregator)
  std::vector<Standing> standings;    // by key: who was ever removed
  std::vector<Candidate> candidates;  // by key
  std::vector<PeerId> joined;         // admitted by this block, by key
  std::optional<std::uint64_t> last_removal_step;
  std::uint64_t delta_us = 0;      // Delta of the next step's seals
  std::vector<Lateness> lateness;  // by key: members only, none of zero
  std::vector<Voids> voids;        // by key: members only, none of zero
};

// H(kDomainBlock, EncodeBlock(block)): what the next step's messages name as their entry, and so
// what t_s + 1 of them attest to.
base::Digest BlockDigest(const Block& block);
// The same, of what EncodeBlock gave.
base::Digest DigestOfBlock(base::ByteView encoded);

// Cap'n Proto, for the ledger, for `ledger show` and for members that come back.
// REQUIRES: Column::senders ascend strictly.
// In a decoded block every list that is in the order of keys or columns ascends strictly, and there
// are no more faults than members; nothing else is judged.
base::Bytes EncodeBlock(const Block& block);
base::StatusOr<Block> DecodeBlock(base::ByteView bytes);

}  // namespace ostraka::wire
