// How much a peer may make us do in a second: what it costs us is more than what it costs the peer.
//
// Promises:
//   R1  Within a second of its own clock, begun by its first request, a peer gets no more answers,
//       bytes, odd messages and repeats than the constants below say.
//   R2  A peer that has sent kForgeriesASecond bad signatures in its second is not heard until that
//       is over.
//   R3  No more records are kept than one for each key of the run and each pair of them, and
//       kMostStrangers more: of links of no key, each of which begins a record. [C: CHECKed by
//       CheckInvariants]
//   R4  What a carrier brings of a member (node/protocol/mail/post.h) is counted for the two
//       together. So a carrier can use up neither the member's own ration nor another carrier's,
//       and a member uses up no carrier's. Each such ration is the share that one of all the
//       members that may be carried for has: for all together a carrier has no more than for
//       itself.
//   R5  What a carrier passes on from one member to another is counted for the two. What is signed
//       has a ration of its own beside requests and answers, which anybody may be made to give.
//   R6  Of keys that are not of the run kStrangersASecond REJOINs at most are verified in a second,
//       and of one of them kOneStrangerASecond. Attack: many links, each with a ration of its own.
//   R7  All keys that are no members have one ration together, of which each has its share
//       (guest_ration.h), while Host says so: answers, bytes, odd messages and bad signatures.
//
// May not know: what is asked, and what an answer holds.
//
// Memory: what guest_ration.h needs, and thirteen numbers for each key of the run, and for each
// pair of which one carries for the other.
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
#include "node/protocol/mail/guest_ration.h"

namespace ostraka::protocol {

class Ration {
 public:
  // Frames that are sent to one because it asked, and things that are looked up for it.
  static constexpr std::uint64_t kAnswersASecond = 2048;
  // Frames that are passed over for one, without being decoded or sent, take as long together as
  // to decode one.
  static constexpr std::uint64_t kLooksAUnit = 64;
  // Good signatures of messages that hardly ever matter: of another history, say.
  static constexpr std::uint64_t kOddMessagesASecond = 1024;
  // Bad signatures, which an honest peer neither makes nor passes on. Each costs us some 50 us.
  static constexpr std::uint64_t kForgeriesASecond = 1024;
  // REJOINs of keys that are not of the run (R6), each with three signatures. Attack: who has 64
  // links of strangers keeps others out, until it is tired of it.
  static constexpr std::uint64_t kStrangersASecond = 256;
  static constexpr std::uint64_t kOneStrangerASecond = 4;
  // Links that come up, to which all that is still of use is said again, parts and aggregates too.
  // Who dials again waits longer each time (node/net/mesh/backoff.h), 200 ms at first.
  static constexpr std::uint64_t kRepeatsASecond = 8;
  // Paths between two members that come up at one carrier, of each pair. Each brings as many
  // messages, by that carrier.
  static constexpr std::uint64_t kCarriedRepeatsASecond = 2;
  // What leaves for a carrier because it brought a question, to all members that it carries for. A
  // question brings few answers: what others said is not carried. Attack: a carrier asks in the
  // name of each of these members at once.
  static constexpr std::uint64_t kCarriedAnswersASecond = 512;
  static constexpr std::uint64_t kCarriedAnswerBytesASecond = 512 << 10;
  // Signed messages that a carrier passes on from one member to another. A step has some ten, and a
  // slow seal some for each member. Beside them, requests and answers.
  static constexpr std::uint64_t kForwardsASecond = 1024;
  static constexpr std::uint64_t kForwardedBytesASecond = 512 << 10;
  static constexpr std::uint64_t kForwardedServicesASecond = 256;
  static constexpr std::uint64_t kForwardedServiceBytesASecond = 128 << 10;

  // Bytes that one is sent because it asked: four full models and states a second. Nobody needs
  // more to catch up; the largest single answer, a block of 256 members, has less than a megabyte.
  static constexpr std::uint64_t BytesASecond(std::uint64_t dimension) {
    return std::max<std::uint64_t>(16 << 20, 4 * 2 * sizeof(float) * dimension);
  }

  // Beyond so many records those whose second is over are forgotten.
  static constexpr std::size_t kMostStrangers = 4096;

  // REQUIRES: no answer is larger than `bytes_a_second`; neither is 0.
  explicit Ration(std::uint64_t bytes_a_second)
      : Ration(bytes_a_second, /*guest_bytes_a_second=*/bytes_a_second) {}
  Ration(std::uint64_t bytes_a_second, std::uint64_t guest_bytes_a_second)
      : bytes_a_second_(bytes_a_second),
        guests_({kAnswersASecond, guest_bytes_a_second, kOddMessagesASecond}) {}
  void HashInto(crypto::Hasher& hasher) const {
    crypto::Feed(hasher, bytes_a_second_, used_, pruned_, guests_);
  }
  friend struct FingerprintProbe;

  // From here on what is counted for `from` is counted for what `carrier` brings of it (R4), which
  // may do so for `shares` members. REQUIRES: shares > 0.
  void Carry(const base::PeerId& from, const base::PeerId& carrier, std::uint64_t shares) {
    OSTRAKA_CHECK(shares > 0);
    carried_ = {from, carrier, Together(from, carrier), shares};
  }
  void EndCarry() { carried_.reset(); }
  // From here on what is counted for `peer`, which is no member, is counted in its share of what
  // all such keys have (R7).
  void Host(const base::PeerId& peer, const GuestShare& share) { hosted_ = {peer, share}; }
  void EndHost() { hosted_.reset(); }
  bool carries() const { return carried_.has_value(); }
  // REQUIRES: carries().
  const base::PeerId& carrier() const { return carried_->carrier; }
  // The key that a count for `peer` is kept under.
  const base::PeerId& AccountOf(const base::PeerId& peer) const {
    return carried_ && carried_->from == peer ? carried_->account : peer;
  }

  // The same of what a seal counts: all keys that are no members have one account (R7). Attack:
  // each of 32 guests had a member's ration of old ballots, which are verified each time they come.
  base::PeerId SealAccountOf(const base::PeerId& peer) const {
    return Hosts(peer) ? base::PeerId{} : AccountOf(peer);
  }

  // True, and it is counted, if one more message of `from`, of so many bytes, may be passed on to
  // `to`. `service`: it is a request or an answer, of which the last one may be longer than what is
  // left. Attack: a PROOF that no ration has room for can never be shown.
  bool TakeForward(base::Time now, const base::PeerId& from, const base::PeerId& to,
                   std::uint64_t bytes, bool service) {
    Used& used = Of(now, Together(from, to));
    if (service) {
      if (used.service_bytes >= kForwardedServiceBytesASecond) return false;
      if (!TakeOf(used.services, kForwardedServicesASecond, 1)) return false;
      used.service_bytes += bytes;
      return true;
    }
    return TakeOf(used.forwards, kForwardsASecond, 1) &&
           TakeOf(used.forwarded_bytes, kForwardedBytesASecond, bytes);
  }
  // True, and it is counted, if `to` may have one more answer, of so many bytes, by the carrier
  // that brought its question. The last one may be longer than what is left. REQUIRES: carries().
  bool TakeCarriedAnswer(base::Time now, const base::PeerId& to, std::uint64_t bytes) {
    OSTRAKA_CHECK(carries());
    Used& used = Of(now, to);
    if (used.carried_answer_bytes >= ShareOf(kCarriedAnswerBytesASecond)) return false;
    if (!TakeOf(used.carried_answers, ShareOf(kCarriedAnswersASecond), 1)) return false;
    used.carried_answer_bytes += bytes;
    return true;
  }
  // True, and it is counted, if `peer` may have one more answer, of so many bytes.
  bool Take(base::Time now, const base::PeerId& peer, std::uint64_t bytes = 0) {
    if (Hosts(peer)) return TakeAsGuest(now, bytes);
    Used& used = Of(now, peer);
    if (used.answers >= ShareOf(kAnswersASecond)) return false;
    if (!TakeOf(used.bytes, ShareOf(bytes_a_second_), bytes)) return false;
    ++used.answers;
    return true;
  }
  // So many things are looked at for `peer` beside what it is sent: a unit for each kLooksAUnit of
  // them. False if not so many are left, which are used up then.
  bool TakeLooks(base::Time now, const base::PeerId& peer, std::uint64_t looks) {
    const std::uint64_t units = looks / kLooksAUnit;
    for (std::uint64_t i = 0; i < units; ++i) {
      if (!Take(now, peer)) return false;
    }
    return true;
  }
  // True, and it is counted, if one more such message of `peer` may be verified.
  bool TakeOddMessage(base::Time now, const base::PeerId& peer) { return TakeOdd(now, peer, 1); }
  // True, and it is counted, if one more REJOIN of `peer`, a key that is not of the run, may be
  // verified.
  bool TakeStranger(base::Time now, const base::PeerId& peer) {
    return TakeOf(Of(now, peer).rejoins, kOneStrangerASecond, 1) &&
           TakeOf(Of(now, base::PeerId{}).rejoins, kStrangersASecond, 1);
  }
  // True, and it is counted, if a block of `peer`, of so many bytes, may be decoded that nothing
  // proves yet. That takes as long as a signature for every few KB; the largest one is half a
  // second's ration.
  bool TakeOddBlock(base::Time now, const base::PeerId& peer, std::uint64_t bytes) {
    return TakeOdd(now, peer, std::min(1 + bytes / 4096, kOddMessagesASecond / 2));
  }
  // True, and it is counted, if `peer` may be told all again because its link came up.
  bool TakeRepeat(base::Time now, const base::PeerId& peer) {
    const std::uint64_t most =
        carries() ? std::min(kCarriedRepeatsASecond, ShareOf(kRepeatsASecond)) : kRepeatsASecond;
    return ++Of(now, peer).repeats <= most;
  }
  // False when `peer` has sent too many bad signatures: nothing else that it sends is looked at.
  bool IsHeard(base::Time now, const base::PeerId& peer) const {
    if (Hosts(peer)) return guests_.Has(now, peer, hosted_->share, What::kOddMessages);
    const auto used = used_.find(AccountOf(peer));
    if (used == used_.end() || now - used->second.since >= base::Seconds(1)) return true;
    return used->second.forgeries < ShareOf(kForgeriesASecond);
  }
  void CountForgery(base::Time now, const base::PeerId& peer) {
    if (Hosts(peer)) return guests_.Count(now, peer, hosted_->share, What::kOddMessages, 1);
    ++Of(now, peer).forgeries;
  }

  // `keys`: of the run, as the driver has no link to another.
  void CheckInvariants(std::size_t keys) const {
    OSTRAKA_CHECK(used_.size() <= keys * keys + kMostStrangers && !carries() && !hosted_);
    guests_.CheckInvariants();
  }

 private:
  using What = GuestRation::What;
  // What a carrier brings is in the carrier's ration, whoever it is of.
  bool Hosts(const base::PeerId& peer) const {
    return hosted_ && !carried_ && hosted_->peer == peer;
  }
  bool TakeAsGuest(base::Time now, std::uint64_t bytes) {
    const auto& [peer, share] = *hosted_;
    if (!guests_.Has(now, peer, share, What::kAnswers)) return false;
    if (bytes > 0 && !guests_.Has(now, peer, share, What::kBytes)) return false;
    guests_.Count(now, peer, share, What::kAnswers, 1);
    if (bytes > 0) guests_.Count(now, peer, share, What::kBytes, bytes);
    return true;
  }
  bool TakeOdd(base::Time now, const base::PeerId& peer, std::uint64_t weight) {
    if (Hosts(peer)) {
      if (!guests_.Has(now, peer, hosted_->share, What::kOddMessages)) return false;
      guests_.Count(now, peer, hosted_->share, What::kOddMessages, weight);
      return true;
    }
    Used& used = Of(now, peer);
    return TakeOf(used.odd_messages, ShareOf(kOddMessagesASecond), weight);
  }
  // True, and they are counted, if `more` are left of `most`.
  static bool TakeOf(std::uint64_t& used, std::uint64_t most, std::uint64_t more) {
    if (used + more > most) return false;
    used += more;
    return true;
  }
  // Of a ration, what one member has of what its carrier brings (R4); all of it over its own link.
  std::uint64_t ShareOf(std::uint64_t ration) const {
    return carried_ ? std::max<std::uint64_t>(1, ration / carried_->shares) : ration;
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
    std::uint64_t services = 0;
    std::uint64_t service_bytes = 0;
    std::uint64_t carried_answers = 0;
    std::uint64_t carried_answer_bytes = 0;
    std::uint64_t rejoins = 0;  // of strangers
    void HashInto(crypto::Hasher& hasher) const {
      crypto::Feed(hasher, since, answers, bytes, odd_messages, forgeries, repeats, forwards,
                   forwarded_bytes, services, service_bytes, carried_answers, carried_answer_bytes,
                   rejoins);
    }
  };
  struct Carried {
    base::PeerId from;
    base::PeerId carrier;
    base::PeerId account;
    std::uint64_t shares = 1;
  };
  // A key for two: no third one is equal to it but by breaking the keys' curve.
  static base::PeerId Together(const base::PeerId& a, const base::PeerId& b) {
    base::PeerId both = a;
    for (std::size_t i = 0; i < both.bytes.size(); ++i) both.bytes[i] ^= b.bytes[i];
    return both;
  }
  Used& Of(base::Time now, const base::PeerId& peer) {
    // Once a second, or each message of a large run would look at all records.
    if (used_.size() >= kMostStrangers && now - pruned_ >= base::Seconds(1)) {
      std::erase_if(used_,
                    [&](const auto& one) { return now - one.second.since >= base::Seconds(1); });
      pruned_ = now;
    }
    Used& used = used_[AccountOf(peer)];
    if (now - used.since >= base::Seconds(1)) used = {.since = now};
    return used;
  }

  std::uint64_t bytes_a_second_;
  std::map<base::PeerId, Used> used_;  // R3
  base::Time pruned_;
  std::optional<Carried> carried_;  // within one call
  GuestRation guests_;
  struct Hosted {
    base::PeerId peer;
    GuestShare share;
  };
  std::optional<Hosted> hosted_;  // within one call
};

}  // namespace ostraka::protocol
