// The seam between a protocol machine and its driver: inputs in, actions out, all plain values.
//
// A Machine is deterministic. It never blocks, throws, logs, reads a clock, draws the operating
// system's randomness or starts a thread. The simulator and the real node are two drivers of one
// machine; an adversary is that machine with an editor on its inputs and actions.
//
// Contract between a driver and a machine
//   1  Step calls are serial, and `now` never goes back.
//   2  Each StartJob comes back as one JobDone with its id. The result depends on the spec alone.
//   3  Each Store comes back as one Stored with its id, once the records survive a crash. Stores
//      become durable in the order of the Store actions. The machine signs a slot only after the
//      slot's record is Stored, so everything that it stored before is durable by then too.
//   4  Send is best effort while the link is up, in order per peer for messages without a blob; it
//      is dropped while the link is down. On LinkChanged up the machine sends again whatever the
//      peer may lack.
//   5  A machine that has Halted ignores every input but LinkChanged up. If it finished or was
//      banned, it answers that by sending its last messages again, for a peer whose link was down
//      at the end. The driver delivers this input for as long as it waits for links.
//   6  The driver has checked the blob of a MessageReceived against the blob's own root, and
//   nothing
//      else of it. Any content must be safe for the machine.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "crypto/merkle.h"
#include "node/base/ids.h"
#include "node/base/time.h"
#include "node/protocol/ground/jobs.h"
#include "node/protocol/ground/observation.h"

namespace ostraka::protocol {

using base::Bytes;
using base::Digest;
using base::Duration;
using base::PeerId;
using base::SharedBytes;
using base::Time;
using crypto::SharedBlob;

using TimerId = std::uint64_t;
using StoreId = std::uint64_t;

// --- inputs -------------------------------------------------------------------------------------

// A durable fact. `key` identifies and orders it within its kind. Writing a key again with another
// value is a bug of the machine.
enum class RecordKind : std::uint8_t {
  kSlot = 0,      // key: SlotKey (signer.h); value: the core bytes that will be signed
  kBlock = 1,     // key: height, big-endian (genesis 0, else step + 1); value: encoded block
                  // (node/wire/block.h). kSlot records of earlier steps are then superfluous
  kEvidence = 2,  // key: digest of the evidence file; value: the file
  kState = 3,     // key: height of the block that the state follows; blob: EncodeState (state.h).
                  // Older kState records, and kResult records below that height, are then
                  // superfluous; a member that is one block behind may need those of the height
  kResult = 4,    // key: height of its block, then the column, big-endian; blob: the aggregate
  kMember = 5,    // key: height of the block from which on this key signs from this store; no value
  kFork = 6,  // key: height of the split step's block, then 0 (found) or 1 (tried); value: a line
              // for people, the last one counts. This key then signs nothing more in this run
  kAsks = 7,  // key: height of the first block that can count a REJOIN that this key signed from
              // this store, written with the first REJOIN; no value
};
struct Record {
  RecordKind kind = RecordKind::kSlot;
  Bytes key;
  Bytes value;
  SharedBlob blob = nullptr;  // in place of `value` where the kind says so
};

// The contents of a store that concern this key in this run, for a machine that starts again.
struct Restored {
  std::vector<Record> blocks;   // from the height of `state` on (all, if there is none), by key
  std::vector<Record> slots;    // of the newest block's step and after, by key: FirstSlotKept
  std::optional<Record> state;  // the newest kState
  std::vector<Record> results;  // from the height of `state` on, by key; blobs with their roots
  // There is a kMember record. Without one the store is younger than the run: the messages that
  // this key signed before are unknown, and it signs again only after an admission.
  bool member = false;
  std::optional<std::uint64_t> asks_since;  // the height of a kAsks record
  std::optional<std::string> fork;          // the value of a kFork record
};

struct Started {
  // 32 secret bytes for this member's coins. Equal at every start of a key in a run, so that a
  // restarted member can open its commitments.
  Digest private_seed;
  // Drawn by the driver at each start, so that two stores of one key differ. A store that has sent
  // BOOT keeps the nonce in it.
  std::uint64_t store_nonce = 0;
  std::shared_ptr<const Restored> restored = nullptr;  // null: the store is empty
};
struct MessageReceived {
  PeerId from;        // the authenticated peer at the other end of the link, not the signer
  SharedBytes frame;  // node/wire/codec.h
  SharedBlob blob;    // null, or the bulk data that came with the frame
};
struct LinkChanged {
  PeerId peer;
  bool up = false;
};
struct TimerFired {
  TimerId id = 0;
};
struct JobDone {
  JobId id = 0;
  std::shared_ptr<const JobResult> result;  // never null
};
struct Stored {
  StoreId id = 0;
};
using Input = std::variant<Started, MessageReceived, LinkChanged, TimerFired, JobDone, Stored>;

// --- actions ------------------------------------------------------------------------------------

struct Send {
  PeerId to;
  SharedBytes frame;
  SharedBlob blob;  // may be null
};
struct SetTimer {  // replaces a timer of the same id
  TimerId id = 0;
  Time at;
};
struct CancelTimer {
  TimerId id = 0;
};
struct StartJob {
  JobId id = 0;
  std::shared_ptr<const JobSpec> spec;
};

struct Store {
  StoreId id = 0;
  std::vector<Record> records;  // all or none
};
struct Observe {
  Observation what;
};
using Action = std::variant<Send, SetTimer, CancelTimer, StartJob, Store, Observe>;

class Outbox {
 public:
  template <typename T>
  void Add(T action) {
    actions_.emplace_back(std::move(action));
  }
  std::vector<Action>& actions() { return actions_; }

 private:
  std::vector<Action> actions_;
};

class Machine {
 public:
  virtual ~Machine() = default;
  // REQUIRES: `now` never goes back.
  virtual void Step(Time now, const Input& input, Outbox& out) = 0;
  // Aborts (CHECK) if the machine's state contradicts itself.
  virtual void CheckInvariants() const = 0;
  // A hash over the state that decides future actions, to compare runs.
  virtual Digest Fingerprint() const = 0;
  // For people: what the machine waits for now. Callable at any time between two Steps.
  virtual Progress progress() const { return {}; }
};

}  // namespace ostraka::protocol
