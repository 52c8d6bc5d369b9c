// Which members' ECHOs no honest member can have sent, as one member sees them in one seal. Stated
// in PROOF::hasty and PROOF::unshown; more members than the bound that name one have it dropped
// (judgement.cpp). Without it one ECHO that agrees with nobody's makes a seal slow, for ever and
// free.
//
// Hasty: an ECHO that no honest member sends so early, or so late, with what it lacks.
//   It shows a due entry absent, and came more than a Delta before the own deadline and more than
//   Delta/2 before the own gate. An honest member echoes what is complete, at its deadline or when
//   it passes the gate (docs/seal.md); honest deadlines lie within a Delta, and an honest member
//   that passes has all others pass a quarter of it later. So a suspicion stands once Delta/2 has
//   gone by without the gate, and is void if the seal is decided before.
//   It shows an entry absent that the own ECHO, said more than 11/8 Delta before, shows present.
//   Who has that ECHO asks for the entry a moment later: it holds it a Delta after the ECHO was
//   said [one that echoed 2.4 Delta after the others, and left one entry out, made every seal
//   slow].
//
// Tardy: an ECHO that came more than 3/2 Delta after the own, if that shows all that was due.
// Whatever the own rests on the others hold a Delta later. What is beyond is lateness.
//
// Unshown: an ECHO of another vector than was decided, which its signer did not show, or of which
// it did not show a message, though it was asked at two times, the first a Delta before the
// decision.
//
// What an attacker can do: name whom it likes in its own PROOF; it takes more than can lie. It
// cannot make an honest ECHO hasty here while messages are timely.
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
#include "node/wire/messages.h"

namespace ostraka::protocol {

using base::Digest;
using base::PeerId;

class EchoWatch {
 public:
  // An entry that an ECHO may show absent only in its sender's last moment. `excused_by`: an entry
  // which, shown as "two" in the same ECHO, is reason enough not to wait for this one.
  struct DueEntry {
    std::size_t index = 0;
    std::optional<std::size_t> excused_by;
  };
  struct Options {
    base::Duration delta;
    std::optional<base::Time> deadline;  // the own; nullopt: none (the last coin of a step)
    std::vector<DueEntry> due;
  };
  explicit EchoWatch(Options options) : options_(std::move(options)) {}

  // The own, when it is durable and goes out.
  void OnOwnEcho(const wire::Echo& echo, base::Time now);
  // The first ECHO of another member, when it came here.
  void OnEcho(const PeerId& sender, const wire::Echo& echo, base::Time now);
  // This member passes the gate.
  void OnGate(base::Time now);
  // This member asked `member` for its vector, or what that names.
  void OnAsked(const PeerId& member, base::Time now);

  // A timer that was set for `set_for` fires. More than Delta/8 late, and this machine was too busy
  // to say when anything came: nobody is tardy, blind or unshown for it in this seal.
  void OnTimer(base::Time set_for, base::Time now);

  // The outcome. REQUIRES: the seal is decided, on `decided`, now. `shown` says of a vector that it
  // is known here with every message that it names.
  std::set<PeerId> Hasty(base::Time now) const;
  std::map<PeerId, base::Duration> Tardy() const;
  std::set<PeerId> Unshown(const Digest& decided, base::Time now,
                           const std::function<bool(const Digest&)>& shown) const;

 private:
  struct Seen {
    Digest vector;
    base::Time at;
    bool blind = false;               // it shows absent what it must have asked for
    std::optional<base::Time> early;  // it came then, with a due entry absent, before the deadline
    std::optional<base::Time> first_asked;
    bool asked_again = false;
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
