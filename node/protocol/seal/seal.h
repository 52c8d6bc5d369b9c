// SEAL: the members agree on one vector (member -> message digest | absent | equivocated) for each
// phase of a step. A Seal is one member's part in one such agreement: vector consensus with a
// one-round fast path and a leader-based slow path. docs/seal.md specifies it, docs/protocol.md 3
// says where it stands in a step, and ../shared/research/network.md, 3.4, derives and model-checks
// it.
//
//   echo    the phase is complete or its deadline has passed: ECHO{what this member holds}
//   fast    equal ECHOs of all unmuted members decide; no timer is needed
//   locks   Q equal ECHOs certify a lock of rank 1, Q VOTEs of iteration k one of rank 1 + k
//   gate    2 Delta after the own ECHO, or with it at a deadline: CLOSE. Q CLOSEs are the gate
//           (seal_gate.h)
//   slow    3/2 Delta after the gate, iterations k = 1, 2, ... of four steps of 2 Delta each
//           (doubled from k = 3 on, up to kMaxStep): STATUS, PROPOSE by leader k, VOTE, LOCK;
//           Q LOCKs of one iteration for one vector decide
//
// Promises. n counts all members, t_s and t_a are the fault bounds, Q = n - t_s. Members in
// `muted_members` (sealed absent earlier in this step) count in n; no member waits for them, and
// their messages are ignored. "Timely": a message takes at most Delta/4.
//   Safety    no two members decide differently while f <= t_s in a timely network, or f <= t_a in
//             any network. It does not depend on when members echo.
//   Liveness  with f <= t_s in a timely network, and with f <= t_a once the network is timely
//             again, within the bounds of seal_bounds.h.
//
// Promises [C: CHECKed after each input, or once an iteration]:
//   S1  The decided value never changes. Certificate() is empty exactly while nothing is decided,
//       and decision() is empty until then. [C: the second sentence]
//   S2  At most one ECHO, one CLOSE and one message of each step of an iteration is sent as long as
//       this member keeps its stored frames, restarts included. After the decision only the ECHO
//       may still be sent.
//   S3  The rank of the lock never falls. The lock changes only when an iteration begins, when LOCK
//       is sent, and when stored frames are handed in after a restart. (Exception: another process
//       signs with this member's key.)
//   S4  A muted Seal sends nothing of its own, holds no lock and runs no clock; it still learns the
//       decision and may forward frames of others. [C: voice, lock and clock]
//   S5  Only frames of unmuted members are held, within the bounds of "Memory". [C]
//
// May not know: training, the content of the phase's messages (SealMessages holds these), keys,
// links, the system clock. It returns what to sign, what to ask for and the decision. The caller
// signs, sends, stores, and verifies signature, slot, membership and `entry` (the digest of the
// parent: the decision or block that opened the seal) of every frame before handing it in.
//
// Memory, whatever members send (u unmuted ones; inside/memory.h, docs/seal.md 8):
//   frames   18 u + 8 of the iterations from the one before the present to two ahead, and of four
//            LOCKs of each member, of any iteration; and u (8 u + 15) ballots for locks that are
//            known. (A member can name eight locks, and no honest one has a ballot for a false
//            one.)
//   bytes    1 KiB for each frame
//   vectors  u + 14
//
// What an attacker can do here: send few frames of its own for each iteration; void an iteration
// that it leads, by signing two PROPOSEs; make the seal slow. The caller must hand in EVERY
// verified frame, also the second and third of one slot, and once more when it comes again and
// Holds() is false. Rationale: a lock may rest on the one vote of a two-faced member that came here
// second. The Seal keeps such a frame while a known lock may rest on it, or the leading ECHO or a
// proposal names its value; else it passes the frame over, and asks for it when a lock is named
// that rests on it.
//
// Restart: before anything else the caller hands in the own stored frames of this seal (OnMessage).
// The Seal signs nothing more for the slots of these frames, and the highest lock that they name is
// this member's lock. It goes on in the iteration after the last in which it sent a message.
//
// Help: once Certificate() is not empty this Seal sends nothing more of its own but its ECHO. The
// caller then answers every CLOSE and STATUS of an undecided member, also one repeated byte for
// byte, with Certificate().
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "crypto/hash_into.h"
#include "node/base/ids.h"
#include "node/base/time.h"
#include "node/protocol/seal/seal_io.h"
#include "node/protocol/seal/seal_vector.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

class Seal {
 public:
  // REQUIRES: `messages` outlives the Seal.
  Seal(SealOptions options, const SealMessages* messages);
  ~Seal();
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // --- inputs; each may make the Seal decide ---
  // Everything that came before the seal opened has been handed in: own frames from before a
  // restart, and early frames of others. REQUIRES: called once, before Echo.
  void Opened(base::Time now, SealOutput& out);
  // The phase is complete, or its deadline has passed: echo what is held now. Idempotent. Passing
  // the gate has this effect too.
  void Echo(base::Time now, CloseTime close, SealOutput& out);
  // The wait of the phase has ended here. Also true for a member that sent no ECHO (muted, or too
  // late).
  bool wait_ended() const;
  // A verified ECHO, CLOSE, STATUS, PROPOSE, VOTE or LOCK of a member, in a slot of this seal, of
  // any iteration, that names this seal's parent. Own messages too, once durable. A body that does
  // not decode counts as not sent.
  void OnMessage(base::Time now, const wire::SignedEnvelope& message, SealOutput& out);
  // An answer to kVector, or the vector that follows a PROPOSE. Any content is safe: a vector
  // counts by its hash.
  void OnVector(base::Time now, const wire::Vector& vector, SealOutput& out);
  // The caller holds more messages of the phase than at the last call.
  void OnHeld(base::Time now, SealOutput& out);
  // Call at `wake()` or later; an earlier call does no harm.
  void OnTimer(base::Time now, SealOutput& out);
  // When OnTimer is due; nullopt: nothing is scheduled (always so once decision() is set).
  std::optional<base::Time> wake() const;

  // --- outcome ---
  // The decided vector, once its entries are known and every message that it names as present is
  // held. Until then the Seal goes on asking.
  const std::optional<SealVector>& decision() const;
  // Frames that prove the decision: equal ECHOs of all unmuted members, or Q LOCKs of one
  // iteration; empty before the decision.
  std::vector<base::SharedBytes> Certificate() const;
  // The same with their signers, by signer. All are of one type.
  std::vector<SealFrame> SignedCertificate() const;
  // Members whose ECHO had not come when the slow path began here; empty if it never began.
  const std::set<PeerId>& silent() const;
  // How long after the own ECHO that of each other member came; 0 if it came before. The caller
  // tunes Delta by these (not by a muted member's: they are all 0).
  const std::map<PeerId, base::Duration>& lags() const;
  bool gate_passed() const;
  bool slow() const;                // the slow path has begun
  std::uint32_t iteration() const;  // 0 before iteration 1
  // This member gets no help: it had to repeat its CLOSE or this iteration's STATUS because too few
  // others sent theirs, or to ask again for what the decision names (this stays true when it has
  // come).
  bool alone() const;
  // One line for people: what it waits for, from whom and since when, and which ECHOs differ.
  std::string Describe(base::Time now) const;

  // --- answers to requests of others ---
  std::optional<wire::Vector> VectorFor(const Digest& value) const;
  // The answer to kMessages: all held frames of `type` (kEcho, kClose, kStatus, kPropose, kVote or
  // kLock), several of one sender if it is two-faced. (Where kMessages asks for messages of the
  // phase, the caller's answer must hold both frames of an equivocating member: a merge rests on
  // them.)
  std::vector<SealFrame> Frames(wire::MessageType type) const;
  // This very frame is held.
  bool Holds(const wire::SignedEnvelope& message) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ostraka::protocol
