// How much a peer may make us do in a second: what it costs us is more than what it costs the peer.
//
// Promises:
//   R1  Within a second of its own clock, begun by its first request, a peer gets no more answers,
//       bytes, odd messages and repeats than the constants below say.
//   R2  A peer that has sent kForgeriesASecond bad signatures in its second is not heard until that
//       is over.
//   R3  Only keys of the run have a record here, and pairs of them. [C: CHECKed by CheckInvariants]
//   R4  What a carrier brings of a member (node/protocol/mail/post.h) is counted for the two
//       together. So a carrier can use up neither the member's own ration nor another carrier's,
//       and a member uses up no carrier's.
//
// May not know: what is asked, and what an answer holds.
//
// Memory: eight numbers for each key of the run, and for each pair of which one carries for the
// other.
//
// What an attacker can do here: use up its own ration, after which it is not answered, or not
// heard, until the second is over. Nobody can use up another's: what is counted is counted for the
// link that it came over, whoever is named in it.
//
// Thread safety: none; one owner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "crypto/hash_into.h"
#include "node/base/check.h"
#include "node/base/ids.h"
#include "node/base/time.h"

namespace ostraka::protocol {

class Ration {
 public:
  // Frames that are sent to one because it asked, and things that are looked up for it.
  static constexpr std::uint64_t kAnswersASecond = 2048;
  // Good signatures of messages that hardly ever matter: of another history, say.
  static constexpr std::uint64_t kOddMessagesASecond = 1024;
  // Bad signatures, which an honest peer neither makes nor passes on. Each costs us some 50 us.
  static constexpr std::uint64_t kForgeriesASecond = 1024;
  // Links that come up, to which all that is still of use is said again, parts and aggregates too.
  // Who dials again waits longer each time (node/net/mesh/backoff.h), 200 ms at first.
  static constexpr std::uint64_t kRepeatsASecond = 8;
  // Paths between two members that come up at one carrier. Each brings as many messages, by all
  // carriers.
  static constexpr std::uint64_t kCarriedRepeatsASecond = 2;
  // Messages that a carrier passes on from one member to another. A step has some ten, and a slow
  // seal some for each member. Attack: what is passed on waits in the carrier's queue to the other
  // one, which a full queue would cut off.
  static constexpr std::uint64_t kForwardsASecond = 1024;
  static constexpr std::uint64_t kForwardedBytesASecond = 512 << 10;

  // Bytes that one is sent because it asked: four full models and states a second. Nobody needs
  // more to catch up; the largest single answer, a block of 256 members, has less than a megabyte.
  static constexpr std::uint64_t BytesASecond(std::uint64_t dimension) {
    return std::max<std::uint64_t>(16 << 20, 4 * 2 * sizeof(float) * dimension);
  }

  // REQUIRES: no answer is larger than `bytes_a_second`.
  explicit Ration(std::uint64_t bytes_a_second) : bytes_a_second_(bytes_a_second) {}
  void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, bytes_a_second_, used_); }
  friend struct FingerprintProbe;

  // From here on what is counted for `from` is counted for what `carrier` brings of it (R4).
  void Carry(const base::PeerId& from, const base::PeerId& carrier) {
    carried_ = {from, Together(from, carrier)};
  }
  void EndCarry() { carried_.reset(); }
  bool carries() const { return carried_.has_value(); }
  // The key that a count for `peer` is kept under.
  const base::PeerId& AccountOf(const base::PeerId& peer) const {
    return carried_ && carried_->from == peer ? carried_->account : peer;
  }

  // True, and it is counted, if one more message of `from`, of so many bytes, may be passed on to
  // `to`.
  bool TakeForward(base::Time now, const base::PeerId& from, const base::PeerId& to,
                   std::uint64_t bytes) {
    Used& used = Of(now, Together(from, to));
    if (used.forwards >= kForwardsASecond) return false;
    if (used.forwarded_bytes + bytes > kForwardedBytesASecond) return false;
    ++used.forwards;
    used.forwarded_bytes += bytes;
    return true;
  }
  // True, and it is counted, if `peer` may have one more answer, of so many bytes.
  bool Take(base::Time now, const base::PeerId& peer, std::uint64_t bytes = 0) {
    Used& used = Of(now, peer);
    if (used.answers >= kAnswersASecond || used.bytes + bytes > bytes_a_second_) return false;
    ++used.answers;
    used.bytes += bytes;
    return true;
  }
  // True, and it is counted, if one more such message of `peer` may be verified.
  bool TakeOddMessage(base::Time now, const base::PeerId& peer) { return TakeOdd(now, peer, 1); }
  // True, and it is counted, if a block of `peer`, of so many bytes, may be decoded that nothing
  // proves yet. That takes as long as a signature for every few KB; the largest one is half a
  // second's ration.
  bool TakeOddBlock(base::Time now, const base::PeerId& peer, std::uint64_t bytes) {
    return TakeOdd(now, peer, std::min(1 + bytes / 4096, kOddMessagesASecond / 2));
  }
  // True, and it is counted, if `peer` may be told all again because its link came up.
  bool TakeRepeat(base::Time now, const base::PeerId& peer) {
    const std::uint64_t most = carries() ? kCarriedRepeatsASecond : kRepeatsASecond;
    return ++Of(now, peer).repeats <= most;
  }
  // False when `peer` has sent too many bad signatures: nothing else that it sends is looked at.
  bool IsHeard(base::Time now, const base::PeerId& peer) const {
    const auto used = used_.find(AccountOf(peer));
    if (used == used_.end() || now - used->second.since >= base::Seconds(1)) return true;
    return used->second.forgeries < kForgeriesASecond;
  }
  void CountForgery(base::Time now, const base::PeerId& peer) { ++Of(now, peer).forgeries; }

  // `keys`: of the run, as the driver has no link to another.
  void CheckInvariants(std::size_t keys) const {
    OSTRAKA_CHECK(used_.size() <= keys * keys && !carries());
  }

 private:
  bool TakeOdd(base::Time now, const base::PeerId& peer, std::uint64_t weight) {
    Used& used = Of(now, peer);
    if (used.odd_messages + weight > kOddMessagesASecond) return false;
    used.odd_messages += weight;
    return true;
  }
  struct Used {
    base::Time since;
    std::uint64_t answers = 0;
    std::uint64_t bytes = 0;
    std::uint64_t odd_messages = 0;
    std::uint64_t forgeries = 0;
    std::uint64_t repeats = 0;
    std::uint64_t forwards = 0;
    std::uint64_t forwarded_bytes = 0;
    void HashInto(crypto::Hasher& hasher) const {
      crypto::Feed(hasher, since, answers, bytes, odd_messages, forgeries, repeats, forwards,
                   forwarded_bytes);
    }
  };
  struct Carried {
    base::PeerId from;
    base::PeerId account;
  };
  // A key for two: no third one is equal to it but by breaking the keys' curve.
  static base::PeerId Together(const base::PeerId& a, const base::PeerId& b) {
    base::PeerId both = a;
    for (std::size_t i = 0; i < both.bytes.size(); ++i) both.bytes[i] ^= b.bytes[i];
    return both;
  }
  Used& Of(base::Time now, const base::PeerId& peer) {
    Used& used = used_[AccountOf(peer)];
    if (now - used.since >= base::Seconds(1)) used = {.since = now};
    return used;
  }

  std::uint64_t bytes_a_second_;
  std::map<base::PeerId, Used> used_;  // genesis members, and pairs of them: bounded
  std::optional<Carried> carried_;     // within one call
};

}  // namespace ostraka::protocol
