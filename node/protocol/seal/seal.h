// SEAL: agreement of a view's members on the vector (member -> message digest | absent |
// equivocated) of one phase, by one member. (docs/protocol.md, 3; derived and model-checked in
// ../shared/research/network.md, 3.4; docs/seal.md says it in full.)
//
//   echo    when the phase is complete or its deadline has passed: ECHO{what I hold}
//   fast    the echoes of all members that are not asleep are equal: decided, no timer
//   lock 0  Q equal echoes: that vector is locked at rank 1
//   gate    2 Delta after the own echo: CLOSE. Q CLOSEs are the gate (seal_gate.h)
//   slow    3/2 Delta after the gate, iterations k = 1, 2, ... of four steps of 2 Delta each
//           (doubled from k = 3 on, up to kMaxStep): STATUS, PROPOSE by leader k, VOTE, LOCK;
//           Q LOCKs of one iteration for one vector: decided
//
// Q = n - t_s of the view; asleep members (sealed absent earlier in this step) count in n, are
// never waited for and not listened to. Safe while f <= t_s and the network is timely, and while f
// <= t_a if it is not; live in the first case, and in the second once it is timely again. Timely: a
// message takes at most Delta/4. When members echo does not matter to safety.
//
// Who is who. A Seal says what to sign, asks for what it lacks and announces the decision; it
// neither signs nor sends. The caller owns the messages of the phase and answers what this member
// holds (SealMessages); it verified signature, membership and entry of every frame it hands in.
// A muted Seal (of one who is asleep or only watches) says nothing and still learns the decision.
//
// What an attacker can do to it: frames of members only, of three iterations at a time, each
// member's few; so memory is O(n) frames, and O(n) more for each false claim of a lock. Two
// PROPOSEs of a leader void its iteration. Hand in EVERY verified frame, rivals of a slot too, and
// third ones: a lock may rest on the one vote of a two-faced member that came here second, and
// the Seal keeps of them what somebody claims to rest on.
//
// Restart: own frames of this seal that were stored are handed in again (OnMessage) before
// anything else: no slot of theirs is spoken in again, and the highest lock that they name is this
// member's lock. It goes on in the iteration after the last it spoke in.
//
// Help: once Certificate() is not empty, answer every CLOSE and STATUS that an undecided member
// sends, also one repeated byte for byte, with the frames of Certificate(): this Seal speaks no
// more.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/base/ids.h"
#include "node/base/time.h"
#include "node/protocol/seal/seal_clock.h"
#include "node/protocol/seal/seal_vector.h"
#include "node/wire/block.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

// What this member holds of the phase; answers may change between two calls into Seal.
class SealMessages {
 public:
  virtual ~SealMessages() = default;
  // Entry `index` as this member would echo it now: the message first received, equivocated if it
  // holds two. Absent for members that fill no such entry.
  virtual SealEntry EntryNow(std::size_t index) const = 0;
  // True iff it holds the message with that digest for that entry.
  virtual bool Holds(std::size_t index, const Digest& digest) const = 0;
};

struct SealOptions {
  wire::Slot slot;  // of its ECHO: run, incarnation, step, phase, draw
  Digest entry;     // the decision or block that opened it
  PeerId self;
  bool muted = false;
  std::vector<PeerId> members;  // the view, by key
  std::set<PeerId> asleep;
  wire::Thresholds thresholds;
  base::Duration delta;
  base::Duration moment;    // given to what may be on its way, before it is asked for
  Digest leader_seed;       // of the permutation that leaders come from
  std::size_t entries = 0;  // 2 n for seal A, else n
};

// A message for the caller to sign and send to all members, itself included (it comes back through
// OnMessage once it is durable).
struct SealSay {
  wire::MessageType type = wire::MessageType::kEcho;
  std::uint32_t iteration = 0;
  base::Bytes body;
};
// A request for the caller to send to `to`.
struct SealAsk {
  PeerId to;
  wire::Pull pull;
};
// A frame that this member holds, and who signed it.
struct SealFrame {
  PeerId sender;
  base::SharedBytes frame;
};
struct SealOutput {
  std::vector<SealSay> say;
  // To all members: frames of others, and an own CLOSE or STATUS again while too few are there to
  // go on.
  std::vector<base::SharedBytes> forward;
  bool unhelped = false;  // alone(), and time to look whether the run went on without this member
  std::vector<std::pair<PeerId, wire::Vector>> answer_vector;  // kVector, unasked: proposal's value
  std::vector<SealAsk> ask;
};

class Seal {
 public:
  // REQUIRES: `messages` outlives the Seal.
  Seal(SealOptions options, const SealMessages* messages);
  ~Seal();

  // --- inputs; each may make the Seal decide ---
  // All that came before the seal opened has been handed in: own words of a life before, and what
  // others said early. Call it once, before Echo.
  void Opened(base::Time now, SealOutput& out);
  // The phase is complete, or its deadline has passed: echo what is held now. Idempotent. The Seal
  // does it by itself when it passes the gate.
  void Echo(base::Time now, SealOutput& out);
  bool echoed() const;
  // A verified ECHO, CLOSE, STATUS, PROPOSE, VOTE or LOCK of a member in this seal's slots, naming
  // this seal's entry, of any iteration. Own ones too, once durable. A body that does not decode
  // counts as not sent.
  void OnMessage(base::Time now, const wire::SignedEnvelope& message, SealOutput& out);
  // An answer to kVector (or what came with a PROPOSE). Any content is safe: it counts by its hash.
  void OnVector(base::Time now, const wire::Vector& vector, SealOutput& out);
  // The caller holds more messages of the phase than at the last call.
  void OnHeld(base::Time now, SealOutput& out);
  // It is `wake()` or later.
  void OnTimer(base::Time now, SealOutput& out);
  // When OnTimer is due; nullopt: never (decided, or nothing begun).
  std::optional<base::Time> wake() const;

  // --- outcome ---
  // The decided vector, once it is decided, known entry by entry, and every message that it names
  // present or (for an equivocated entry) nothing more is held. Until then it goes on asking.
  const std::optional<SealVector>& decision() const;
  // Frames that prove the decision: equal ECHOs of all that were awake, or Q LOCKs; empty before.
  std::vector<base::SharedBytes> Certificate() const;
  // Members whose ECHO had not come when the slow path began here; empty if it did not.
  const std::set<PeerId>& silent() const;
  // How long after the own echo each member's came: at least 0; for Delta.
  const std::map<PeerId, base::Duration>& lags() const;
  bool gate_passed() const;
  bool slow() const;                // the slow path has begun
  std::uint32_t iteration() const;  // 0 before it
  // Nobody here helps: CLOSE or this iteration's STATUS had to be said again, as too few others
  // did, or what the decision names had to be asked for again.
  bool alone() const;
  // One line: what it waits for, from whom, how long already, and who echoed what otherwise.
  std::string Describe(base::Time now) const;

  // --- what others may ask of it ---
  std::optional<wire::Vector> VectorFor(const Digest& value) const;
  // Frames of the slow path and echoes that this member holds, of `type`, several of one sender if
  // it is two-faced: what to answer kMessages with. (Where kMessages asks for messages of the phase
  // the answer must hold both frames of one who equivocated: a merge rests on it.)
  std::vector<SealFrame> Frames(wire::MessageType type) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ostraka::protocol
