// Messages between two members that cannot be linked, by way of members that are linked with both
// (docs/decisions/0024).
//
//   sender: Send{to}  ->  Send{carrier, FORWARD{from, to, frame}}, to F + 1 carriers
//   carrier: FORWARD of `from`, over the link of `from`  ->  the same to `to`, within its ration
//   receiver: FORWARD for itself  ->  the frame, as if it had come over a link with `from`
//
// Promises [C: CHECKed]:
//   P1  Only this member's own frames without bulk data are given to a carrier unasked, and only
//       for a member that has no link with this one, while the run says of one of the two that it
//       only dials. (Of both, where all is as declared; the other one may have said it too late, or
//       falsely.) What others signed comes to that member from members that can be dialed, which
//       hold it too. [All that a slow seal passes on filled the queue of a carrier's link.]
//   P2  A frame goes to F + 1 carriers if so many are linked, so to an honest one.
//   P3  A carrier passes on what its neighbour says in its own name, and what others signed as an
//       answer, and nothing else: neither bytes that nobody can read, nor that there is a path.
//   P4  A FORWARD holds no other one.
//   P5  What a carried question is answered with, also what others signed, goes back by the carrier
//       that brought it, and by no other one. Attack: a carrier asks in a member's name, and the
//       answers use up what honest carriers pass on for the two. [Where an answer had nothing that
//       others signed, a member that only dials could not show another one what its ECHO names, and
//       was named for it (echo_watch.h).]
//   P6  A carrier is a member of this one's head. Attack: guests said of each member in turn that
//       there is a path, and were told all that is said again, beside the ration that all guests
//       share (swarm seed 70934).
//
// Who carries what is no state of the protocol: nothing waits for it, and no rule asks for it.
//
// May not know: what a frame says, time, or what a link may cost (ration.h).
//
// Memory: the linked keys. What an attacker can do here: as a carrier, drop what it is given, or
// hand it on late or to some only; forge requests and answers of the pair, as a member can by
// itself. It cannot forge what is signed.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "crypto/hash_into.h"
#include "node/protocol/ground/machine.h"
#include "node/protocol/ground/reach.h"
#include "node/wire/hash_into.h"

namespace ostraka::protocol {

class Post {
 public:
  // `carries`: the run's manifest lists a member that only dials. In other runs nobody's messages
  // go by way of others, whatever members declare later. Attack: a colluder declares that it only
  // dials, to have honest members carry for it.
  // REQUIRES: SetHead is called before anything else.
  Post(const PeerId& self, const Digest& run_id, bool carries = true)
      : self_(self), run_id_(run_id), carries_(carries) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  void SetHead(std::shared_ptr<const Block> head) { head_ = std::move(head); }
  void OnLink(const PeerId& peer, bool up);
  bool IsLinked(const PeerId& peer) const { return linked_.contains(peer); }

  // Replaces each Send in `out` that has no link, from action `first` on, by those to its carriers
  // (P1, P2). They come before all other Sends, so that a carrier that leaves the run because of
  // what this call says to it has passed on the rest.
  void Route(Outbox& out, std::size_t first) const;

  // What this member, a carrier, passes on of what `link` gave to it; nullopt if it does not (P3).
  struct PassedOn {
    Send send;
    bool service = false;  // a request or an answer: not what its neighbour signed
  };
  std::optional<PassedOn> PassOn(const PeerId& link, const wire::Forward& forward) const;
  // True if the receiver takes `forward`, which `link` brought: it is addressed to this member by
  // another key of the run that is not linked with it, and `link` may carry (P6).
  bool IsForSelf(const PeerId& link, const wire::Forward& forward) const;
  // For how many members a carrier may bring something to this one, at least 1: all keys, since
  // anybody may have lost its link with this member.
  std::uint64_t CarriedFor() const;
  // The same message to the same member by way of `carrier` (P5); nullopt if it is none that is
  // carried.
  std::optional<Send> ByWayOf(const PeerId& carrier, const Send& send) const;
  // A link with `peer` is up: tells it and each member that this one can carry messages for that
  // there is a path between them now.
  std::vector<Send> Introduce(const PeerId& peer) const;

 private:
  std::vector<PeerId> CarriersFor(const PeerId& to) const;
  // Whether a message may be given to carriers at all: small, and without bulk data.
  static bool MayBeCarried(const Send& send);
  // Whether this member signed the frame, or says it as a request or answer.
  bool IsOurs(const base::SharedBytes& frame) const;
  base::SharedBytes Wrapped(const wire::Forward& forward) const;

  PeerId self_;
  Digest run_id_;
  bool carries_;
  std::shared_ptr<const Block> head_;
  std::set<PeerId> linked_;
};

}  // namespace ostraka::protocol
