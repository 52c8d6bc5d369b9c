// The ledger's tables, as `sqlite3 DIR/ledger.sqlite .schema` shows them.
//
// Integers that are u64 in the protocol (steps) fit SQLite's signed 64 bits. Ids and digests are
// lower-case hexadecimal text where people read them, and blobs where only the node does.
#pragma once

#include <cstdint>

namespace ostraka::store {

inline constexpr char kLedgerFileName[] = "ledger.sqlite";
// "OSTK": lets `file ledger.sqlite` and this program recognize a ledger.
inline constexpr std::int64_t kLedgerApplicationId = 0x4f53544b;
// Increased with every change that a program of before would misread, which must come with a
// migration. A table that is new is created when a node opens a ledger that lacks it.
inline constexpr std::int64_t kLedgerSchemaVersion = 3;
// The id of a member follows, in the table meta.
inline constexpr char kLedgerNameKey[] = "name of ";

inline constexpr char kLedgerSchema[] = R"sql(
CREATE TABLE meta (
  key   TEXT PRIMARY KEY,  -- run_id, peer, created_utc, outcome, pruned_below, pruned_slots, member_since, asks_since,
                           -- fork; 'name of ' and an id, for each member with a name
  value TEXT NOT NULL
) WITHOUT ROWID;

-- Every slot that this key signed, written before the signature: what stops a second one. Those
-- of steps below meta.pruned_below are gone, and never signed again.
CREATE TABLE slots (
  slot   BLOB PRIMARY KEY,  -- protocol::SlotKey
  step   INTEGER NOT NULL,
  phase  INTEGER NOT NULL,  -- 0 genesis, 1 A, 2 B, 3 C
  type   INTEGER NOT NULL,  -- wire::MessageType: 0 boot, 1 commit, 2 part, 3 aggregate ...
  digest TEXT NOT NULL      -- of the envelope that was signed
) WITHOUT ROWID;

-- What the newest of them say, byte for byte, so that a node that starts again says the same again:
-- slots of the newest block's step, for members that are still in it, and after.
CREATE TABLE said (
  slot BLOB PRIMARY KEY,
  core BLOB NOT NULL  -- the unsigned envelope (docs/wire.md)
) WITHOUT ROWID;

-- The newest stored state of the model, and what the blocks since then apply to it: from here a
-- run goes on when all its nodes have died. Their bytes are in the file `bulk` beside the database
-- (node/store/bulk_file.h), at `start`.
CREATE TABLE states (
  height INTEGER PRIMARY KEY,  -- of the block that it follows
  start  INTEGER NOT NULL,
  size   INTEGER NOT NULL,     -- bytes: u64 d, d parameters, d velocities; little-endian floats
  root   TEXT NOT NULL         -- Merkle root of the bytes (crypto/merkle.h)
);
CREATE TABLE results (
  height INTEGER NOT NULL,  -- of its block
  part   INTEGER NOT NULL,
  start  INTEGER NOT NULL,
  size   INTEGER NOT NULL,  -- bytes: little-endian floats
  root   TEXT NOT NULL,
  PRIMARY KEY (height, part)
);

-- What the run decided at each step. `block` has everything (ostraka ledger show).
CREATE TABLE blocks (
  height          INTEGER PRIMARY KEY,  -- 0: the genesis block; step + 1 after
  step            INTEGER NOT NULL,
  genesis         INTEGER NOT NULL,  -- 1: the block that opens the run
  decision        TEXT NOT NULL,
  previous        TEXT NOT NULL,     -- decision of the block before
  randomness      TEXT NOT NULL,
  members         INTEGER NOT NULL,  -- after this block
  t_s             INTEGER NOT NULL,  -- faults tolerated while messages arrive in time
  t_a             INTEGER NOT NULL,  -- and while they do not
  tau             REAL NOT NULL,     -- clipping radius of the next step
  columns         INTEGER NOT NULL,
  columns_applied INTEGER NOT NULL,
  removals        INTEGER NOT NULL,
  open_cases      INTEGER NOT NULL,
  state_root      TEXT,              -- sealed every few steps
  block           BLOB NOT NULL
);

-- Who is gone, when and why.
CREATE TABLE removals (
  height INTEGER NOT NULL,  -- of the block
  step   INTEGER NOT NULL,
  peer   TEXT NOT NULL,
  kind   TEXT NOT NULL,  -- verdict, evidence, drop, eliminate
  reason TEXT NOT NULL
);

-- Proofs of misbehaviour (ostraka evidence verify).
CREATE TABLE evidence (
  digest  TEXT PRIMARY KEY,
  step    INTEGER,  -- of the offence; NULL if the file cannot be read
  kind    TEXT,
  accused TEXT,
  file    BLOB NOT NULL
);

CREATE TABLE metrics (
  step  INTEGER NOT NULL,
  name  TEXT NOT NULL,  -- loss, accuracy, compute_seconds, aggregate_seconds, agree_seconds ...
  value REAL,
  PRIMARY KEY (step, name)
) WITHOUT ROWID;
)sql";

inline constexpr char kHandoversTable[] = R"sql(
-- Who the members were, proven to whoever knows the genesis (docs/evidence.md, 6).
CREATE TABLE IF NOT EXISTS handovers (
  height INTEGER PRIMARY KEY,  -- of its block
  file   BLOB NOT NULL
);
)sql";

inline constexpr char kStatePartsTable[] = R"sql(
-- What has come of a state that is being fetched: its leaves (part 0) and pieces
-- (protocol/ground/state.h), in the file `bulk`. Gone once the state is whole.
CREATE TABLE IF NOT EXISTS state_parts (
  height INTEGER NOT NULL,  -- of the block that the state follows
  part   INTEGER NOT NULL,
  start  INTEGER NOT NULL,
  size   INTEGER NOT NULL,
  root   TEXT NOT NULL,
  PRIMARY KEY (height, part)
);
)sql";

}  // namespace ostraka::store
