// The block: what SEAL C of a step decided. Every member derives it from sealed data; it is one row
// of the ledger.
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
// kVerdict and kEvidence are permanent bans; after the other kinds a member may return.
bool IsBan(RemovalKind kind);

// Why a peer was removed, in the order of the passes (docs/protocol/removals.md). Numbers of the
// wire: a cause is never renumbered.
enum class Cause : std::uint8_t {
  kOldText = 0,  // of a block of version 12 or before: Reason::old_text says it
  kAbsent = 1,
  kTwoMessages = 2,
  kOtherParameters = 3,
  kMalformed = 4,
  kFalseReveal = 5,
  kEvidence = 6,
  kForeignSender = 7,
  kImpossibleNumbers = 8,
  kFalseGradient = 9,
  kFalseNumbers = 10,
  kHidNumbers = 11,
  kFalseAccusation = 12,
  kFalseNaming = 13,
  kUndecidedAccusation = 14,
  kUnshownNaming = 15,
  kUnshownCover = 16,
  kNamedNobody = 17,
  kVoidedColumns = 18,
  kWithheldAggregate = 19,
  kWithheldEcho = 20,
  kHastyEcho = 21,
  kUnshownEcho = 22,
  kSlow = 23,
  kLeftOutPart = 24,
  kWithheldPart = 25,
  kClaimsToMiss = 26,
  kWithheldFromOne = 27,
  kTooManyDisputes = 28,
};
inline constexpr std::uint8_t kCauseCount = 29;
const char* CauseName(Cause cause);  // as in JSON: old_text, absent, two_messages, ...

// A reason is data that all members derive alike; people read TextOf. Fields that a cause does not
// use are zero.
struct Reason {
  Cause cause = Cause::kOldText;
  MessageType entry = MessageType::kBoot;  // kAbsent, kTwoMessages, kMalformed: of which message
  bool first_fault = false;                // a suspension by verdict
  std::optional<PeerId> other = {};        // the accuser, the accused, or the other of a pair
  std::uint64_t step = 0;                  // of what was done wrong
  std::uint32_t part = 0;
  // Ballots, columns, members, ms beyond the allowance, blocks; kEvidence: the EvidenceKind;
  // kNamedNobody: the ColumnFate.
  std::uint64_t count = 0;
  std::uint32_t of = 0;       // ballots of so many that could vote
  std::string old_text = {};  // kOldText: one line without control characters; else empty
  bool operator==(const Reason&) const = default;
};
// One line. Peers by their first 16 digits.
std::string TextOf(const Reason& reason);

struct Removal {
  PeerId peer;
  RemovalKind kind = RemovalKind::kVerdict;
  std::uint64_t step = 0;  // the block that removed it
  Reason reason;
};

// Why a column's coordinates were or were not updated.
enum class ColumnFate : std::uint8_t {
  kApplied = 0,
  kNoAggregate = 1,     // AGG absent, equivocated or malformed
  kBadSenders = 2,      // S_j has a sender whose COMMIT is not sealed present, or a wrong root
  kTooFewSenders = 3,   // |S_j| < 2b + 1
  kMissingNumbers = 4,  // a sender of S_j has no sealed numbers for it
  kSumCheck = 5,        // V2
  kNormCheck = 6,       // V3
  kSizeCheck = 7,       // the aggregate is larger than its senders' sizes allow
  kBlind = 8,           // the aggregate is too large relative to tau for V2 to detect anything
};
inline constexpr std::uint8_t kColumnFateCount = 9;
const char* ColumnFateName(ColumnFate fate);  // as in JSON: applied, no_aggregate, bad_senders, ...

// An aggregator that must show a worker's part of its column after that worker is convicted.
struct Covering {
  std::uint32_t column = 0;
  PeerId owner;
  bool operator==(const Covering&) const = default;
};

// An open case. node/protocol/ground/roles.h says which of its parties hold no role meanwhile.
struct Case {
  CaseId id;
  std::uint64_t opened_step = 0;  // step of the block that sealed the accusation, naming or
                                  // conviction
  struct Ballot {
    PeerId voter;
    Verdict verdict = Verdict::kAbstain;
  };
  std::vector<Ballot> ballots;          // first non-abstention of each voter, in sealed order
  std::vector<Covering> covering = {};  // kGradient: Assignment::covering; else empty
  // The fault bound of the members that can know of the case: of the block before it opened.
  std::uint32_t fault_bound = 0;
};

// A validator of one step and the worker whose step it recomputes.
struct Assignment {
  PeerId validator;
  PeerId target;
  std::uint64_t step = 0;  // step of the gradient to recompute
  // By column: the aggregators that answer for the target's parts of that step if the target is
  // convicted. Recorded here while the previous block still lists the aggregators, so that no
  // judgement needs older blocks.
  std::vector<Covering> covering = {};
  // It works in the step as well: it was drawn in an alarm, and nobody is spared for it.
  bool works = false;
};

// A worker and an aggregator between which a part or a result was once not handed over
// (docs/protocol/removals.md).
struct Dispute {
  PeerId worker;
  PeerId aggregator;
  std::uint64_t since = 0;  // first step that counts towards the dispute: disputes.h
};

// A key that was removed or has left, and what counts against it. Kept for ever, also after the
// member returns.
struct Standing {
  PeerId peer;
  bool banned = false;
  std::uint32_t drops = 0;
  std::uint64_t last_drop_step = 0;
  std::uint64_t barred_until = 0;  // before this step its REJOIN is refused
  // Profile exact/1: it was suspended for a false gradient or accusation. The next one bans it.
  bool erred = false;
  std::uint64_t left_step = 0;      // of the block with which it left last; 0: never
  std::uint64_t returned_step = 0;  // of the block that admitted it last; 0: never
  // The step of the block that admitted it when it was no key of the run, or came like one
  // (node/protocol/rules/coming.h); 0: never.
  std::uint64_t came_step = 0;
  // One more than the step that its first fault was in, of a target that a case found guilty; 0: it
  // has not erred, or as an accuser.
  std::uint64_t erred_in = 0;
};

// A key that follows the run and has sent a REJOIN.
struct Candidate {
  PeerId peer;
  std::uint64_t since = 0;      // step of the block that sealed its first REJOIN
  std::uint64_t confirmed = 0;  // step of the newest block that sealed one
  std::optional<Voucher> voucher = {};
};

// An invite that has been used or revoked, and has not ended.
struct UsedInvite {
  Digest invite;
  std::uint32_t used = 0;
  std::uint64_t ends_step = 0;
  bool revoked = false;
  // By key: those that came in by it, which come in again at no cost. None of a revoked one.
  std::vector<PeerId> users = {};
};

// How much of its quota a moderator has used, and whether it may still use the rest.
struct Moderator {
  PeerId peer;
  std::uint32_t admitted = 0;  // keys that its invites let in, and unused invites that it revoked
  bool revoked = false;        // it took all of its invites back, for ever
};

// The time for which a member delayed the others and that is not forgiven yet
// (node/protocol/rules/lateness.h).
struct Lateness {
  PeerId peer;
  std::uint64_t ms = 0;
};

// Columns that a member voided by its own message (node/protocol/rules/voids.h).
struct Voids {
  PeerId peer;
  std::uint32_t count = 0;
  std::uint64_t last_step = 0;
};

// Whether a peer can be dialed, as it declares by itself, and when that may change
// (node/protocol/ground/reach.h). A peer that is not listed can be dialed.
struct Reach {
  PeerId peer;
  bool only_dials = false;
  // The first step whose COMMIT may say that it can be dialed after all.
  std::uint64_t changes_from = 0;
};

// How many batches a member averages in each gradient of the next step. A member that is not listed
// averages the manifest's least.
struct BatchCount {
  PeerId peer;
  std::uint32_t count = 0;
  bool operator==(const BatchCount&) const = default;
};

// n, t_s, t_a after a block (docs/protocol.md 1).
struct Thresholds {
  std::uint32_t n = 0;
  std::uint32_t t_s = 0;
  std::uint32_t t_a = 0;
  std::uint32_t quorum() const { return n - t_s; }
  bool operator==(const Thresholds&) const = default;
};

// At most so many steps at the end of a run try to seal its last state (docs/protocol/step.md).
inline constexpr std::uint16_t kClosingSteps = 8;

struct Block {
  std::uint64_t step = 0;  // the genesis block has step 0 and `genesis` set
  bool genesis = false;
  Digest decision;              // of seal C (or the genesis seal)
  Digest previous;              // BlockDigest of the previous block: the chain
  Digest randomness;            // r^t
  std::vector<PeerId> members;  // the membership after this block, by key
  Thresholds thresholds;        // after this block
  double tau = 0;               // for the next step
  std::vector<ColumnFate> columns;
  std::vector<Removal> removals;     // of this block
  std::vector<Case> cases;           // open after this block
  std::optional<Digest> state_root;  // sealed in this block, of the state this step started from
  // One per column: the sealed root of the aggregate if the column is applied, else zero. The state
  // before and these roots determine the state after, so a member that was away can catch up.
  std::vector<Digest> result_roots;
  // One per column: its owner, and the workers that its sealed AGG includes (by key; empty if no
  // usable AGG is sealed). A later case may concern them (docs/protocol/checks.md: covering).
  struct Column {
    PeerId owner;
    std::vector<PeerId> senders;
  };
  std::vector<Column> aggregated;

  // Further inputs of the next step, which depends on the block and the state after it alone.
  std::vector<Assignment> drawn;  // validators of the next step
  std::vector<PeerId> proven;     // workers of this step whose PROOF is sealed, by key
  // By key: aggregators whose column failed V2 in this block. Each must name a liar in the next
  // block.
  std::vector<PeerId> owing;
  std::vector<Dispute> disputes;      // by (worker, aggregator)
  std::vector<Standing> standings;    // by key: every peer that was ever removed or has left
  std::vector<Candidate> candidates;  // by key
  std::vector<PeerId> joined;         // by key: members admitted by this block
  std::optional<std::uint64_t> last_removal_step;
  std::uint64_t delta_us = 0;      // Delta of the next step's seals
  std::vector<Lateness> lateness;  // by key: members only, none of zero
  std::vector<Voids> voids;        // by key: members only, none of zero
  // 0 while the run trains on, 1 in its last step that trains, k + 1 in the k-th step that trains
  // nothing and only seals the state. At most kClosingSteps + 1, and at most step + 1.
  std::uint16_t closing = 0;
  std::vector<Reach> reach;     // by key: of keys of the run, members or not
  std::vector<PeerId> leaving;  // by key: members that hold no role and go as soon as they may
  // t_s of as many members as the next step may have in role, were there no case (roles.h); 0 if
  // that is all of them.
  std::uint32_t t_s_in_role = 0;
  std::vector<PeerId> left;           // by key: members that went with this block
  std::vector<UsedInvite> invites;    // by invite
  std::vector<Moderator> moderators;  // by key: those that let a key in or revoked
  // The largest t_s of the last kPeakSteps blocks (node/protocol/rules/disputes.h), and the step of
  // the newest block that had it.
  std::uint32_t peak_t_s = 0;
  std::uint64_t peak_step = 0;
  // How long an aggregator waits for parts in the next step; 0: as long as the manifest says
  // (node/protocol/ground/deadlines.h).
  std::uint64_t part_us = 0;
  std::vector<BatchCount> batch_counts;  // by key: members with more than the least
  // While it is above the step that is drawn for, Manifest::alarm_validators are drawn.
  std::uint64_t alarm_until = 0;
};

// The number of steps decided up to and including this block, so the next step: 0 for the genesis.
inline std::uint64_t HeightOf(const Block& block) { return block.genesis ? 0 : block.step + 1; }

// True if the step of `block` trained: it is neither the genesis nor a closing step.
inline bool Trained(const Block& block) { return !block.genesis && block.closing <= 1; }
// Number of steps that have trained, up to `block`.
inline std::uint64_t TrainedSteps(const Block& block) {
  if (block.genesis) return 0;
  return block.closing <= 1 ? block.step + 1 : block.step + 2 - block.closing;
}
// True for the last block of a run: a closing step sealed the state, or too many sealed none.
inline bool RunIsOver(const Block& block) {
  return block.closing > 1 && (block.state_root || block.closing > kClosingSteps);
}

// H(kDomainBlock, EncodeBlock(block)). The next step's messages name it as their parent, so t_s + 1
// of them attest to the block.
base::Digest BlockDigest(const Block& block);
// The digest of a block from the bytes that EncodeBlock returned.
base::Digest DigestOfBlock(base::ByteView encoded);

// The Cap'n Proto form for the ledger, for `ledger show` and for returning members.
// REQUIRES: Column::senders ascend strictly.
// DecodeBlock checks that every list ordered by key or column ascends strictly and that there are
// no more faults than members, and the bounds of `closing`. It judges nothing else.
base::Bytes EncodeBlock(const Block& block);
base::StatusOr<Block> DecodeBlock(base::ByteView bytes);

}  // namespace ostraka::wire
