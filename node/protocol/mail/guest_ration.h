// What all keys that are no members may make us do in a second, together: as much as one member
// may. It is shared evenly among the moderators whose guests are here, of each among its invites,
// and of each among its keys, so that ten guests of one link have what one guest by another invite
// has. Attack: strangers that share a link had a member's ration each, are in no bound on faults,
// and took the members' line.
//
// Promises:
//   G1  Within a second no account (a moderator, an invite of it, a key by that) gets more than two
//       seconds' share of it, and the last answer, which may be longer than what is left. What it
//       had too much it waits for. (As in GCRA, ITU-T I.371: an account has a time from which on it
//       owes nothing, and may be ahead of the clock by no more than the burst of a second.)
//   G2  Of accounts that owe nothing no record is kept beyond kMostAccounts. [C: CHECKed by
//       CheckInvariants]
//
// May not know: which keys are guests, what is asked, what an answer holds.
//
// Memory: three times for each account.
//
// What an attacker can do here: use up its own share, with any number of keys: an invite has no
// more than its share whoever shows it, and a moderator no more than its own whatever it signs.
//
// Thread safety: none; one owner.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include "crypto/hash_into.h"
#include "node/base/check.h"
#include "node/base/ids.h"
#include "node/base/time.h"

namespace ostraka::protocol {

// The place of a key that is no member, and among how many it shares.
struct GuestShare {
  base::PeerId moderator;  // zero: the manifest, or the run itself, knows the key
  base::Digest invite;     // then of the key alone
  std::uint64_t moderators = 1;
  std::uint64_t invites = 1;  // of this moderator
  std::uint64_t keys = 1;     // by this invite
};

class GuestRation {
 public:
  enum class What : std::uint8_t { kAnswers, kBytes, kOddMessages };
  static constexpr std::size_t kKinds = 3;
  static constexpr std::size_t kMostAccounts = 4096;

  // For all together, by What. REQUIRES: none is 0.
  explicit GuestRation(const std::array<std::uint64_t, kKinds>& a_second) : a_second_(a_second) {
    for (const std::uint64_t rate : a_second_) OSTRAKA_CHECK(rate > 0);
  }
  void HashInto(crypto::Hasher& hasher) const {
    if (owes_until_.empty()) return;
    for (const auto& [account, until] : owes_until_) {
      crypto::Feed(hasher, account.first, account.second);
      for (const base::Time time : until) crypto::Feed(hasher, time);
    }
    crypto::Feed(hasher, pruned_);
  }
  friend struct FingerprintProbe;

  // Whether `peer` may have more of it now. Of nothing more than its share is left.
  bool Has(base::Time now, const base::PeerId& peer, const GuestShare& share, What what) const {
    const auto accounts = AccountsOf(peer, share);
    return std::all_of(accounts.begin(), accounts.end(), [&](const Account& account) {
      const auto found = owes_until_.find(account.key);
      return found == owes_until_.end() || found->second[Index(what)] <= now;
    });
  }
  // Counts so much, whether it is left or not.
  void Count(base::Time now, const base::PeerId& peer, const GuestShare& share, What what,
             std::uint64_t amount) {
    Prune(now);
    const std::uint64_t rate = a_second_[Index(what)];
    const base::Time burst{now.ns - base::Seconds(1).ns};
    const auto longest = static_cast<std::uint64_t>(kLongest.ns);
    const std::uint64_t ns = std::min(std::min(amount, kMostAtOnce) * kSecond / rate, longest);
    for (const Account& account : AccountsOf(peer, share)) {
      base::Time& until = owes_until_[account.key][Index(what)];
      const std::uint64_t takes = std::min(ns * account.shares, longest);
      until = std::max(until, burst) + base::Nanoseconds(static_cast<std::int64_t>(takes));
    }
  }

  void CheckInvariants() const {
    OSTRAKA_CHECK(owes_until_.size() <= kMostAccounts + 2 * kInASecond);
  }

 private:
  static constexpr std::uint64_t kSecond = 1'000'000'000;
  static constexpr std::uint64_t kMostAtOnce = std::uint64_t{1} << 33;
  // However much an account had at once, it waits no longer.
  static constexpr base::Duration kLongest = base::Seconds(600);
  // Accounts are of guests, and of the few strangers that a second brings (Ration, R6).
  static constexpr std::size_t kInASecond = 4096;

  using Key = std::pair<std::uint8_t, base::Digest>;  // its kind, and whose it is
  struct Account {
    Key key;
    std::uint64_t shares = 1;  // it has one of so many of the whole
  };
  static std::size_t Index(What what) { return static_cast<std::size_t>(what); }
  static std::array<Account, 3> AccountsOf(const base::PeerId& peer, const GuestShare& share) {
    const std::uint64_t of_invite = share.moderators * share.invites;
    return {Account{{0, base::Digest{share.moderator.bytes}}, share.moderators},
            Account{{1, share.invite}, of_invite},
            Account{{2, base::Digest{peer.bytes}}, of_invite * share.keys}};
  }
  void Prune(base::Time now) {
    if (owes_until_.size() < kMostAccounts || now - pruned_ < base::Seconds(1)) return;
    pruned_ = now;
    std::erase_if(owes_until_, [now](const auto& account) {
      const auto& until = account.second;
      return now - *std::max_element(until.begin(), until.end()) >= base::Seconds(1);
    });
  }

  const std::array<std::uint64_t, kKinds> a_second_;
  // Ahead of now: nothing is left. Behind by a second: nothing was used.
  std::map<Key, std::array<base::Time, kKinds>> owes_until_;
  base::Time pruned_;
};

}  // namespace ostraka::protocol
