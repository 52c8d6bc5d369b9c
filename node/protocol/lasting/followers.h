// Members of the run that are away: which of them watch it, and which ask to come back.
//
// Promises:
//   F1  A follower is kept while it asks now and then, and at most `stay` after that; or until it
//       works as a member again.
//   F2  A key that the head bans follows no more.
//   F3  A REJOIN is confirmed only if it names one of the kRejoinBlocks newest blocks, and the last
//       block lets its sender come back, or in. Of two REJOINs of a sender that of the higher step
//       counts.
//   F4  A stranger (no key of the run) is a guest from the REJOIN on that shows why it may come,
//       and follows like a member that is away. At most kMostGuests are, and by one invite at most
//       as many as it has uses; one that has asked for nothing for kGuestStay gives its place up,
//       and one that has not since its link went down does so where the place is needed. [The
//       second try with an invite of one use, by another key, waited for two minutes.] If there is
//       no place left, one gives its place whose voucher the run refuses now; else one of the
//       moderator with the most guests, to who comes by another that has at least two fewer; else
//       one of the invite with the most, likewise. [C: CHECKed by CheckInvariants, but for the
//       uses] Attack: a stolen key signs any number of invites of one use.
//   F5  A guest whose voucher the run refuses for good (it has ended, is used up or revoked, or its
//       moderator's quota is) is none from the block on that says so. One that has no seat, say,
//       stays as long as it asks and there is a place: what the run says next may let it in.
//   F6  A stranger is confirmed only if it is near: once it answered within Delta / 2. [One
//       further away was let in, was late for each seal, and all waited for it until it was
//       dropped.] The best answer counts, as the first may come from a busy machine.
//
// May not know: why a member is away, what is sent to it, or what a credential says.
//
// Memory: two times, three numbers, a digest and a voucher for each key of the run and each guest;
// the caller lets in no other.
//
// What an attacker can do here: follow for ever, which costs each member a block a step. With an
// invite of many uses it keeps out others that come by the same one, while it asks all members all
// the time: a moderator signs a new one. Answer before it is asked, and so seem near: it gains
// nothing, as a member that is near may be late, too.
//
// Thread safety: none; one owner.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "crypto/hash_into.h"
#include "node/base/time.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/mail/guest_ration.h"
#include "node/protocol/rules/coming.h"
#include "node/protocol/sync/recent_blocks.h"
#include "node/wire/hash_into.h"

namespace ostraka::protocol {

class Followers {
 public:
  // A REJOIN travels while the run goes on.
  static constexpr std::uint64_t kRejoinBlocks = 8;
  static constexpr std::size_t kMostGuests = 32;
  static constexpr base::Duration kGuestStay = base::Seconds(120);

  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // Asked to follow, in `step` of the run, and has the block of height `has`. Nullopt: what it has
  // is somebody else's word, so it stays what it was. Attack: a carrier says in the name of a
  // follower that it lacks nothing, and nobody stays for it at the end of the run.
  void Note(const PeerId& peer, base::Time now, std::uint64_t step,
            std::optional<std::uint64_t> has) {
    Asked& asked = asked_[peer];
    asked.at = now;
    asked.is_cut_off = false;
    asked.step = step;
    asked.has = has.value_or(asked.has);
  }
  // A follower may wait for a step that lasts longer than a watcher that asks for nothing is kept.
  void OnAsked(const PeerId& peer, base::Time now);
  void Remove(const PeerId& peer) { asked_.erase(peer); }
  // What it asks for afterwards keeps a guest's place (F4).
  void OnLinkDown(const PeerId& peer);

  // --- strangers (F4) ---
  bool IsGuest(const PeerId& peer) const { return guests_.contains(peer); }
  // The share that a key which is no member has of what all these have together (Ration, R7): a
  // guest, or another key of the run.
  // `away` keys of the run at most are no members; those that do not follow are together what one
  // that does is.
  GuestShare ShareOf(const PeerId& peer, std::size_t away);
  // The share of a stranger that shows that voucher and is no guest.
  GuestShare ShareBy(const PeerId& peer, const std::optional<Voucher>& voucher);
  // Whether the run lets nobody in by that voucher now.
  using Refuses = std::function<bool(const Voucher& voucher)>;
  // True if `peer` is a guest from now on, by that voucher, perhaps in another's place; the caller
  // goes on with OnRejoin. REQUIRES: the voucher was verified. [A forged one would push out
  // others.]
  bool Welcome(const PeerId& peer, const std::optional<Voucher>& voucher, base::Time now,
               const Refuses& refuses);

  bool Contains(const PeerId& peer) const { return asked_.contains(peer); }
  // By its own word: one that lies harms itself alone.
  bool Has(const PeerId& peer, std::uint64_t height) const;
  std::vector<PeerId> all() const;
  // Who is sent what `head` has members say: these, those that left with it, which stay until they
  // see that all others have it (node/protocol/member/ending.h), and the followers that are
  // neither.
  std::vector<PeerId> Audience(const wire::Block& head) const;

  // `peer` asked in step `asked_in` to come back, or in with that voucher, and had followed as far
  // as the block of that digest. REQUIRES: !HasRejoin.
  struct Request {
    std::uint64_t asked_in = 0;
    base::Digest block;
    std::optional<Voucher> voucher;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, asked_in, block, voucher); }
  };
  void OnRejoin(const PeerId& peer, const Request& request, base::Time now, std::uint64_t step);
  // Its REJOIN of that step, or a newer one, is held. [A carrier showed the old one again after
  // each new one, which then was not confirmed.]
  bool HasRejoin(const PeerId& peer, std::uint64_t asked_in) const;
  // The keys that ask by a REJOIN which names a recent block (F3); a key that `must_be_near` is
  // left out unless it is near (F6).
  using MustBeNear = std::function<bool(const PeerId& peer)>;
  Asking ToConfirm(const RecentBlocks& recent, const MustBeNear& must_be_near) const;

  // --- how far a follower is (F6) ---
  // True if it is to be asked for `block` now, to see how long an answer takes: it is not known to
  // be near, and no answer that would show it is on its way. [In short steps each REJOIN brought
  // the next question, before the answer to the last one.] It has named that block, so it holds it.
  bool AsksHowFar(const PeerId& peer, const base::Digest& block, base::Time now,
                  base::Duration delta);
  // `peer` sent `block`: true if it was asked for it. An answer to an earlier question is none.
  // [One that came just after the next was sent made a newcomer near that is two Delta away.]
  bool OnBlockOf(const PeerId& peer, const base::Digest& block, base::Time now,
                 base::Duration delta);

  // A member of the head asks to come back no more, a key that it bans is forgotten, and a guest
  // that shows what the head `refuses` for good is one no more.
  void OnHead(const wire::Block& head, const Refuses& refuses);
  // The last of these alone, once for each head. Attack: a node that follows looked at all guests
  // for each message of one, each time with a copy of the book of invites: a millisecond for one.
  void EndRefused(const wire::Block& head, const Refuses& refuses);
  // Forgets followers that have asked for nothing for `stay`, and members at work: those whose
  // COMMIT `step` sealed. A COMMIT that was signed before a loss of the store can still be sealed
  // in the step in which its signer asks to follow and in the next one, so it proves no work there
  // [a member that lost its store was forgotten by such a COMMIT, and the run ended without it].
  void Expire(const std::map<PeerId, base::Digest>& commits, std::uint64_t step, base::Time now,
              base::Duration stay);

  std::size_t size() const { return asked_.size(); }
  void CheckInvariants(std::size_t keys) const;

 private:
  // By which invite each came. A guest that the manifest names has a kind of its own.
  base::Digest KindOf(const PeerId& peer, const std::optional<Voucher>& voucher) const;
  std::size_t GuestsOfKind(const base::Digest& kind) const;
  // The guest that gives its place to one by that voucher; nullopt: none does.
  std::optional<PeerId> WhoGivesItsPlace(const PeerId& peer, const std::optional<Voucher>& voucher,
                                         const Refuses& refuses) const;
  // Of the groups that `group_of` makes, one of the largest, if that has two more than the
  // newcomer's; the one in it that has asked for nothing for longest.
  template <typename GroupOf>
  std::optional<PeerId> OneOfTheMost(const base::Digest& newcomers, GroupOf group_of) const;
  PeerId LongestSilent(const std::vector<PeerId>& guests) const;
  void SendAway(const PeerId& guest);
  void SendAwayRefused(const wire::Block& head, const Refuses& refuses);
  // One whose link is down, of that kind if one is given. False: there is none.
  bool SendAwayCutOff(const std::optional<base::Digest>& kind);
  struct Asked {
    base::Time at;            // last: to follow, to come back, or for the head
    bool is_cut_off = false;  // its link has gone down since
    std::uint64_t step = 0;   // in which it asked to follow
    std::uint64_t has = 0;    // height of the newest block that it had then
    // The block that it was asked for last, and when, to see how far it is.
    std::optional<base::Digest> probe;
    base::Time probed;
    bool is_near = false;
  };
  std::map<PeerId, Asked> asked_;
  // How many guests came by each invite of each moderator.
  using Groups = std::map<PeerId, std::map<base::Digest, std::uint64_t>>;
  const Groups& GroupsNow();
  std::size_t Returning() const;

  std::map<PeerId, Request> rejoins_;  // by sender: its newest
  std::set<PeerId> guests_;            // each has asked
  std::optional<Groups> groups_;       // nullopt: to be counted again
  base::Digest looked_at_by_;          // decision of the head for which refused guests were ended
};

}  // namespace ostraka::protocol
