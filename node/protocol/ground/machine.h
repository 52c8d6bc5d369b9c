// A member of a run as a machine: the protocol's own types in the generic seam of
// node/machine/machine.h, whose contract holds here. Its transport is node/machine/links.h.
//
// What the protocol adds to the contract
//   3  The machine signs a slot only after the slot's record is Stored.
//   5  The last observation is Halted. A machine that finished or was banned answers LinkChanged up
//      by sending its last messages again, for a peer whose link was down at the end.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "crypto/merkle.h"
#include "node/base/ids.h"
#include "node/base/time.h"
#include "node/machine/links.h"
#include "node/machine/machine.h"
#include "node/protocol/ground/jobs.h"
#include "node/protocol/ground/observation.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

using base::Bytes;
using base::Digest;
using base::Duration;
using base::PeerId;
using base::SharedBytes;
using base::Time;
using crypto::SharedBlob;

// --- durable facts ------------------------------------------------------------------------------

// A durable fact. `key` identifies and orders it within its kind. Writing a key again with another
// value is a bug of the machine.
enum class RecordKind : std::uint8_t {
  kSlot = 0,      // key: SlotKey (signer.h); value: the core bytes that will be signed
  kBlock = 1,     // key: height, big-endian (genesis 0, else step + 1); value: encoded block
                  // (node/wire/block.h). kSlot records of earlier steps are then superfluous
  kEvidence = 2,  // key: digest of the evidence file; value: the file
  kState = 3,     // key: height of the block that the state follows; blob: a state as
                  // stored_state.h has it, which may have a source and no root; the last counts.
                  // Older kState records, and kResult records below that height, are then
                  // superfluous; a member that is one block behind may need those of the height.
                  // So are kStatePart records up to that height
  kResult = 4,    // key: height of its block, column, big-endian; blob: aggregate; the last counts
  kMember = 5,    // key: height of the block from which on this key signs from this store; no value
  kFork = 6,  // key: height of the split step's block, then 0 (found) or 1 (tried); value: a line
              // for people, the last one counts. This key then signs nothing more in this run
  kAsks = 7,  // key: height of the first block that can count a REJOIN that this key signed from
              // this store, written with the first REJOIN; no value
  kHandover = 8,   // key: height of its block; value: a handover (proofs/evidence/handover.h)
  kStatePart = 9,  // key: height of the block that a state follows, part, big-endian; blob: a part
                   // of that state while it is fetched (catch_up.h); the last counts. Those of
                   // other heights are then superfluous
};
struct Record {
  RecordKind kind = RecordKind::kSlot;
  Bytes key;
  Bytes value;
  SharedBlob blob = nullptr;  // in place of `value` where the kind says so
  // Of a state or a result: where the store says that it has the blob. Null: nobody wants to know.
  std::shared_ptr<crypto::DiskCopy> copy = nullptr;
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
  std::optional<Record> handover;           // the newest kHandover
  std::vector<Record> state_parts;          // of one height, by key
};

// The member says that it leaves in the COMMITs of the steps [from, until)
// (node/protocol/rules/leaving.h).
struct LeaveSteps {
  std::uint64_t from = 0;
  std::uint64_t until = std::numeric_limits<std::uint64_t>::max();
};

// What the owner wants, from the next COMMIT on. A field that is set replaces what was told before.
struct Told {
  // The member declares that it cannot be dialed from outside, or that it can be (reach.h). Not
  // told: what the run says of it.
  std::optional<bool> only_dials = {};
  using Leave = LeaveSteps;
  std::optional<Leave> leave = {};
  // What it passes on of the moderators' revocations, while no block states them.
  std::optional<std::vector<wire::Revocation>> revocations = {};
  // Of the batches that this machine could average, the share that it gives; 1 to 100. Not told:
  // all of them.
  std::optional<std::uint8_t> compute_percent = {};
};

struct Started {
  // 32 secret bytes for this member's coins. Equal at every start of a key in a run, so that a
  // restarted member can open its commitments.
  Digest private_seed;
  // Drawn by the driver at each start, so that two stores of one key differ. A store that has sent
  // BOOT keeps the nonce in it.
  std::uint64_t store_nonce = 0;
  std::shared_ptr<const Restored> restored = nullptr;  // null: the store is empty
  Told wishes = {};                                    // at the start
};

// --- the kind -----------------------------------------------------------------------------------

struct MemberKind {
  using Started = protocol::Started;
  using Transport = machine::Links;
  using Jobs = machine::JobsOf<JobSpec, JobResult>;
  using Disk = machine::StoreOf<Record>;
  using Owner = machine::OwnerOf<Told>;
  using Observation = protocol::Observation;
  using Progress = protocol::Progress;
  static bool IsLast(const Observation& seen) { return std::holds_alternative<Halted>(seen); }
};

using machine::CancelTimer;
using machine::LinkChanged;
using machine::MessageReceived;
using machine::Send;
using machine::SetTimer;
using machine::StopJob;
using machine::Stored;
using machine::StoreId;
using machine::TimerFired;
using machine::TimerId;
using JobDone = machine::JobDone<JobResult>;
using StartJob = machine::StartJob<JobSpec>;
using Store = machine::Store<Record>;
using Observe = machine::Observe<Observation>;

using Input = machine::InputOf<MemberKind>;
using Action = machine::ActionOf<MemberKind>;
using Outbox = machine::Outbox<MemberKind>;
using Machine = machine::Machine<MemberKind>;

// Traces of the simulator name inputs and actions by their place.
static_assert(std::is_same_v<Input, std::variant<Started, MessageReceived, LinkChanged, TimerFired,
                                                 JobDone, Stored, Told>>);
static_assert(
    std::is_same_v<Action,
                   std::variant<Send, SetTimer, CancelTimer, StartJob, StopJob, Store, Observe>>);

}  // namespace ostraka::protocol
