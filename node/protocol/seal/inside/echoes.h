// The fast path's messages at one member: its own ECHO, the first ECHO of each other member, and
// how late each came (docs/seal.md, 2).
//
// A member's wait ends once (EndWait): the phase is complete, its deadline has passed, or the gate
// is passed. It then sends its ECHO, unless it is muted or too late to echo.
//
// Promises [C: CHECKed by CheckInvariants]:
//   E1  The own ECHO is sent at most once, after the wait has ended; never by a muted member. [C]
//   E2  The first ECHO of a member never changes; unmuted members alone have one. [C: the second
//       half]
//   E3  A member has a lag exactly if its ECHO is here and it is not this member. [C]
//
// May not know: vectors (only their hashes and bitmaps), the gate, iterations. The signed frames
// and who agrees with whom are SealCertificates'.
//
// Memory: one ECHO of each unmuted member.
//
// What an attacker can do here: name any vector and set any bits. Bits make others ask the attacker
// for messages; they decide nothing.
//
// Thread safety: none; one owner.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "node/base/time.h"
#include "node/protocol/seal/inside/setup.h"
#include "node/wire/hash_into.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

class SealEchoes {
 public:
  struct Seen {
    wire::Echo body;
    base::Time at;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, body, at); }
  };

  // REQUIRES: `setup` outlives this object.
  explicit SealEchoes(const SealSetup& setup) : setup_(setup) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // --- the own ECHO ---
  // The wait ends now. False if it had ended before.
  bool EndWait(base::Time now);
  // The own ECHO names `value`, whose vector is known. REQUIRES: EndWait was called, Send was not.
  void Send(base::Time now, const Digest& value);
  // Hands in an own ECHO: one from before a restart, or the one just sent, now durable. False if
  // one was sent already.
  bool Recall(base::Time now, const Digest& value);
  // After Recall: the vector of the own ECHO is known again. REQUIRES: sent.
  void KnowOwnVector();

  const std::optional<base::Time>& wait_ended_at() const { return wait_ended_at_; }
  // When the own ECHO was sent; nullopt if it was not: muted, too late, or still waiting.
  const std::optional<base::Time>& sent_at() const { return sent_at_; }
  const Digest& own_value() const { return own_value_; }  // zero if no ECHO was sent
  bool own_vector_known() const { return own_vector_known_; }

  // --- the ECHOs of all, the own one included once it is durable ---
  // True iff it is the sender's first. REQUIRES: `sender` is unmuted.
  bool Add(const PeerId& sender, wire::Echo echo, base::Time now);
  const std::map<PeerId, Seen>& all() const { return echoes_; }
  // The slow path begins: other unmuted members without an ECHO here are silent.
  void NameSilent();
  const std::set<PeerId>& silent() const { return silent_; }
  // How long after the own ECHO that of each other member came; 0 if it came before, or if this
  // member has sent none. After a restart it is counted from Recall.
  const std::map<PeerId, base::Duration>& lags() const { return lags_; }

  void CheckInvariants() const;  // aborts if one is broken

 private:
  const SealSetup& setup_;
  std::optional<base::Time> wait_ended_at_;
  std::optional<base::Time> sent_at_;
  Digest own_value_;
  bool own_vector_known_ = false;
  std::map<PeerId, Seen> echoes_;
  std::map<PeerId, base::Duration> lags_;
  std::set<PeerId> silent_;
};

}  // namespace ostraka::protocol
