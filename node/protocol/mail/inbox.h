// The messages of the last step, the current one and the first phase of the next, one per sender
// and place. A place is (step, phase, type, draw, iteration). A second, different message for a
// slot is equivocation, and is the rival of the first that proves it.
//
// Promises:
//   X1  A message stands under the place and the sender that it names itself; the first one that
//       came stays (exception: Replace).
//   X2  The messages of one sender in one place have different digests. One rival is kept, and
//       further ones only if a seal has named them (Want).
//   X3  A rival keeps its bulk data. Attack: a PART that names another parent, sent before its
//       owner knows the right one, would keep the true part out of the place, though others pass
//       it on.
//   X4  A message is found by its digest without a look at the others. [C: CHECKed by
//       CheckInvariants] Attack: for each digest that nobody has, all messages of the phase were
//       looked at.
//
// May not know: signatures, seals, which places matter now.
//
// Memory: for each place that the caller admits (its window) two messages of each sender with their
// bulk data, and those that were wanted.
//
// What an attacker can do here: fill its own room. Each slot of its own holds two messages, and
// more only if other members have sealed them.
//
// Thread safety: none; one owner.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "crypto/hash.h"
#include "crypto/merkle.h"
#include "node/wire/hash_into.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

using base::Digest;
using base::PeerId;
using crypto::SharedBlob;

class Inbox {
 public:
  struct Place {
    std::uint64_t step = 0;
    wire::Phase phase = wire::Phase::kGenesis;
    wire::MessageType type = wire::MessageType::kBoot;
    std::uint32_t draw = 0;
    std::uint32_t iteration = 0;
    auto operator<=>(const Place&) const = default;
  };
  struct Version {
    wire::SharedMessage message;
    SharedBlob blob;  // null if none came
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, message, blob); }
  };
  // The version that came first, and the others signed for the same slot.
  struct Item : Version {
    std::vector<Version> rivals;
    bool equivocated() const { return !rivals.empty(); }
    // The first version that names `parent`; null if none does.
    const Version* Naming(const Digest& parent) const;
    void HashInto(crypto::Hasher& hasher) const {
      Version::HashInto(hasher);
      crypto::Feed(hasher, rivals);
    }
  };
  // kRival: the first proof of an equivocation. kMore: nothing new about one who is caught.
  enum class Outcome : std::uint8_t { kNew, kDuplicate, kRival, kMore };

  // A message names its place and its sender.
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // What Add would return, without changing anything. Lets a caller skip the signature check of a
  // duplicate.
  Outcome Probe(const wire::SignedEnvelope& message) const;
  // REQUIRES: the signature was verified, and the caller checked the window.
  Outcome Add(wire::SharedMessage message, SharedBlob blob);

  // The same, but a different message takes the place of the one held: for BOOT, where the newest
  // start of a process counts and two are no offence.
  void Replace(wire::SharedMessage message);

  // A message with this digest is kept, whatever else its sender signed for that slot.
  void Want(const Digest& digest) { wanted_.insert(digest); }

  // Null if that sender filled that place with nothing yet.
  const Item* Find(const Place& place, const PeerId& sender) const;
  // The message with that digest; null if it is not held.
  const wire::SignedEnvelope* Find(const Place& place, const PeerId& sender,
                                   const Digest& digest) const;
  // The same, to keep beyond the inbox.
  wire::SharedMessage Shared(const Place& place, const PeerId& sender, const Digest& digest) const;
  // All messages of a place, by sender.
  const std::map<PeerId, Item>& At(const Place& place) const;
  // How many iterations of a place that sender fills.
  std::size_t CountIterations(const Place& place, const PeerId& sender) const;
  // The message of that step and phase with the digest, of any type, draw or sender.
  const wire::SignedEnvelope* FindDigest(std::uint64_t step, wire::Phase phase,
                                         const Digest& digest) const;

  void ForgetBefore(std::uint64_t step);
  // A removed member's messages of steps after `step` mean nothing any more. Those of `step` and
  // before stay: a member that is still in the seal which removed it needs them, and who finished
  // that seal may be the only one to give them (attack: an author shows its PROOF to one of us).
  void ForgetSenderAfter(std::uint64_t step, const PeerId& sender);
  // Messages of SEAL's slow path, once their seal is decided; before `iteration`, while it is not.
  void ForgetSlowPath(std::uint32_t iteration = UINT32_MAX);
  void ForgetWants() { wanted_.clear(); }

  static Place PlaceOf(const wire::Slot& slot) {
    return {slot.step, slot.phase, slot.type, slot.draw, slot.iteration};
  }
  void CheckInvariants() const;

 private:
  struct Named {
    std::uint64_t step = 0;
    wire::Phase phase = wire::Phase::kGenesis;
    Digest digest;
    auto operator<=>(const Named&) const = default;
  };
  void Index(const wire::SharedMessage& message);
  void Unindex(const Item& item);

  std::map<Place, std::map<PeerId, Item>> places_;
  std::map<Named, wire::SharedMessage> by_digest_;  // those of places_
  std::set<Digest> wanted_;
};

}  // namespace ostraka::protocol
