// What this member has measured of the others since its last PROOF, and will state in the next one:
// ECHOs that no honest member sends (echo_watch.h), how late messages come (late_watch.h), how long
// ECHOs take (echo_lags.h).
//
// Promises:
//   R1  What is measured in a seal counts once, when that seal is decided here; nothing of a seal
//       that this member leaves undecided.
//   R2  A PROOF states what came since the last one, and only of members of the last block. It
//       states nothing from before an absence [figures of a cut, stated by all members that
//       returned together, dropped an honest member in a timely network].
//   R3  This member is never late in its own report.
//
// May not know: what a message says, or what a report leads to. It ends and begins no wait: what is
// overdue is asked for, and nothing more.
//
// Memory: a few figures a member, and of the seal in progress a place an entry.
//
// What an attacker can do here: make its own figures bad. A message that is passed on, or a
// question of somebody else, changes no figure of a third member for the worse (each watch says
// how).
//
// Thread safety: none; one owner.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "node/protocol/watch/echo_lags.h"
#include "node/protocol/watch/echo_watch.h"
#include "node/protocol/watch/late_watch.h"
#include "node/wire/hash_into.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

class Reports {
 public:
  explicit Reports(const PeerId& self) : self_(self) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // --- the seal in progress ---
  void WatchEchoes(EchoWatch::Options options) { echoes_.emplace(std::move(options)); }
  // The caller says what it expects before the first message is held.
  LateWatch& WatchLateness(const LateWatch::Options& options);

  // The first ECHO of `sender` came now; this member's own: it went out now.
  void OnEcho(const PeerId& sender, const wire::Echo& echo, base::Time now);
  void OnAsked(const PeerId& member, base::Time now);
  void OnGate(base::Time now);
  // A timer that was set for `set_for` fires.
  void OnTimer(base::Time set_for, base::Time now);
  // Members whose ECHO the seal lacked when its slow path began.
  void OnSilent(const std::set<PeerId>& members) { unheard_ = members; }

  // Null when no seal is watched.
  LateWatch* lateness() { return lateness_ ? &*lateness_ : nullptr; }
  // When all members are to be asked for what is overdue; nullopt: nothing is.
  std::optional<base::Time> AskAt(base::Duration delta) const;
  // What to ask for now; once a Delta at most.
  std::set<LateWatch::Message> TakeOverdue(base::Time now, base::Duration delta);
  // Index of the member whose PART for the own column came last, if that is worth naming.
  std::optional<std::size_t> SlowestSender() const;

  // A seal was decided by equal ECHOs (EchoLags::Note).
  void NoteLags(const std::map<PeerId, base::Duration>& lags, std::size_t quorum,
                base::Duration delta) {
    lags_.Note(lags, quorum, delta);
  }
  // The seal is decided, on the vector of hash `decided`; `slow`: not by equal ECHOs. `shown`: the
  // vector of that hash is known here with every message that it names.
  void TakeSeal(const std::vector<PeerId>& members, const Digest& decided, bool slow,
                base::Time now, const std::function<bool(const Digest&)>& shown);

  // --- PROOF ---
  // Fills in silent, hasty, unshown, lag_us and late_ms, and begins anew. `usual_lag_us`: what is
  // stated if no lag was measured. REQUIRES: `members` is sorted.
  void StateIn(wire::Proof& proof, const std::vector<PeerId>& members, std::uint64_t usual_lag_us);
  void OnRemoval(const PeerId& member) { silent_.erase(member); }
  // This member leaves: it forgets all but how long ECHOs take.
  void Clear();

 private:
  std::vector<std::uint64_t> LateMsOf(const std::vector<PeerId>& members) const;

  PeerId self_;
  std::optional<EchoWatch> echoes_;
  std::optional<LateWatch> lateness_;
  std::optional<base::Time> asked_at_;  // when all were asked for what is overdue
  EchoLags lags_;
  std::set<PeerId> unheard_;  // in the seal in progress
  std::set<PeerId> silent_, hasty_, unshown_;
  std::map<PeerId, LateFigures> late_;
};

}  // namespace ostraka::protocol
