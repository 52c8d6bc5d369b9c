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
};
inline constexpr std::uint8_t kColumnFateCount = 7;
const char* ColumnFateName(ColumnFate fate);  // as in JSON: applied, no_aggregate, bad_senders, ...

// An open case: accuser and target are quarantined until it closes.
struct Case {
  PeerId accuser;
  PeerId target;
  std::uint64_t accused_step = 0;  // of the gradient
  std::uint64_t opened_step = 0;   // of the block that sealed the accusation
  struct Ballot {
    PeerId voter;
    Verdict verdict = Verdict::kAbstain;
  };
  std::vector<Ballot> ballots;  // first non-abstention of each voter, in the order sealed
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
  Digest decision;              // of seal C (or the genesis seal): the chain's head
  Digest previous;              // decision of the block before
  Digest randomness;            // r^t
  std::vector<PeerId> members;  // the view after this block, by key
  Thresholds thresholds;        // after this block
  double tau = 0;               // for the next step
  std::vector<ColumnFate> columns;
  std::vector<Removal> removals;     // of this block
  std::vector<Case> cases;           // open after this block
  std::optional<Digest> state_root;  // sealed in this block, of the state this step started from
};

// Cap'n Proto, for the ledger and for `ledger show`.
// A decoded block has ascending members and no more faults than members; nothing else is judged.
base::Bytes EncodeBlock(const Block& block);
base::StatusOr<Block> DecodeBlock(base::ByteView bytes);

}  // namespace ostraka::wire
