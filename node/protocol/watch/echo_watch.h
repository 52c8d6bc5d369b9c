// ECHOs that no honest member sends, as one member sees them in one seal. The member states them in
// PROOF::hasty and PROOF::unshown; a member named by more members than the fault bound is dropped
// (judgement.cpp). Attack: otherwise one ECHO that agrees with no other makes each seal slow,
// without end and without cost.
//
// Hasty, early: the ECHO shows a due entry absent, and came more than a Delta before the own
// deadline and more than Delta/2 before the own gate. Rationale: an honest member echoes when the
// phase is complete, at its deadline or when it passes the gate (docs/seal.md). Honest deadlines
// lie within a Delta, and Delta/4 after an honest member passes all others pass. So the suspicion
// stands once Delta/2 has gone by without the gate, and is void if the seal is decided before.
//
// Hasty, blind: the ECHO shows an entry absent that the own ECHO, said more than 11/8 Delta before,
// shows present. Rationale: an honest member that holds the own ECHO asks for the entry a moment
// later, and holds it a Delta after the ECHO was said. Attack: a member that echoed 2.4 Delta after
// the others, and left one entry out, made every seal slow.
//
// Tardy: the ECHO came more than 3/2 Delta after the own one, which shows everything that was due.
// Rationale: the others hold whatever the own ECHO rests on a Delta later; the rest is lateness.
//
// Unshown: the ECHO is of another vector than the decided one, and its signer did not show that
// vector or a message in it, though asked at two times, the first at least a Delta before the
// decision.
//
// Promises [C: CHECKed by CheckInvariants]:
//   E1  Only the first ECHO of each member counts, and only the first own ECHO and gate.
//   E2  A member was asked again only after it was asked first. [C]
//
// May not know: the rules that follow from its findings.
//
// Memory: one record for each member.
//
// What an attacker can do here: name any member in its own PROOF, which has an effect only if more
// members than the fault bound do. It cannot make an honest ECHO hasty here while messages are
// timely.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "node/base/ids.h"
#include "node/base/time.h"
#include "node/protocol/seal/seal_vector.h"
#include "node/wire/hash_into.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

using base::Digest;
using base::PeerId;

class EchoWatch {
 public:
  // An entry that an ECHO may show absent only at its sender's deadline or gate. `excused_by`: if
  // the ECHO shows that entry as equivocated, its sender need not wait for this one.
  struct DueEntry {
    std::size_t index = 0;
    std::optional<std::size_t> excused_by;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, index, excused_by); }
  };
  struct Options {
    base::Duration delta;
    std::optional<base::Time> deadline;  // the own one; nullopt: none (the last coin of a step)
    std::vector<DueEntry> due;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, delta, deadline, due); }
  };
  explicit EchoWatch(Options options) : options_(std::move(options)) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // The own ECHO, when it is durable and goes out.
  void OnOwnEcho(const wire::Echo& echo, base::Time now);
  // The first ECHO of another member, when it came here.
  void OnEcho(const PeerId& sender, const wire::Echo& echo, base::Time now);
  // This member passes the gate.
  void OnGate(base::Time now);
  // This member asked `member` for its vector, or for a message that the vector names.
  void OnAsked(const PeerId& member, base::Time now);

  // A timer that was set for `set_for` fires. If it is more than Delta/8 late, this machine was too
  // busy to measure arrivals, and finds no member tardy, blind or unshown in this seal.
  void OnTimer(base::Time set_for, base::Time now);

  // The outcome. REQUIRES: the seal is decided now, on `decided`. `shown` is true of a vector that
  // is held here with every message that it names.
  std::set<PeerId> Hasty(base::Time now) const;
  std::map<PeerId, base::Duration> Tardy() const;
  std::set<PeerId> Unshown(const Digest& decided, base::Time now,
                           const std::function<bool(const Digest&)>& shown) const;
  void CheckInvariants() const;  // aborts if E2 is broken

 private:
  struct Seen {
    Digest vector;
    base::Time at;
    bool blind = false;  // shows an entry absent that its sender must have asked for
    // When it came, if more than a Delta before the deadline with a due entry absent.
    std::optional<base::Time> early;
    std::optional<base::Time> first_asked;
    bool asked_again = false;
    void HashInto(crypto::Hasher& hasher) const {
      crypto::Feed(hasher, vector, at, blind, early, first_asked, asked_again);
    }
  };
  bool ShowsAbsent(const wire::Echo& echo) const;
  bool IsBlind(const wire::Echo& echo, base::Time now) const;

  Options options_;
  std::map<PeerId, Seen> seen_;
  std::optional<base::Time> gate_;
  bool stood_still_ = false;
  std::optional<wire::Echo> own_;
  base::Time own_at_;
};

}  // namespace ostraka::protocol
