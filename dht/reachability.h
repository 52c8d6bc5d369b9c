// Whether others can reach this node, as tests by other nodes show: only a node that can be reached
// is a server, which others keep in their tables and store records with.
//
// A test: we ask a helper (CHECK) to have a third node ping us with a mark of ours. A NAT lets in
// only who was sent to, so the ping counts only from a prefix that we have not sent to for kQuiet:
// longer than most NATs remember a flow of UDP (two minutes).
//
// Promises:
//   V1 A node of role kAuto is a server in public once tests by kNeeded helpers of different
//   prefixes
//      brought pings within kValid, and stays one while one test of that time did.
//   V2 On a private or loopback address everybody is reachable: no NAT stands between.
//   V3 A ping counts once, for an open test, from a prefix that was not sent to.
//
// May not know: datagrams beyond marks and endpoints.
// Memory: kMostOpen tests, kMostPrefixes prefixes of the last kQuiet.
// What an attacker can do here: as helper with two prefixes, and a third to ping from, make a node
// believe that it can be reached. The node then sits in tables and never answers: that harms it
// alone.
//
// Thread safety: none; one owner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "crypto/hash_into.h"
#include "dht/kind.h"

namespace ostraka::dht {

class Reachability {
 public:
  static constexpr std::size_t kNeeded = 2;
  static constexpr base::Duration kValid = base::Seconds(1500);
  // Of a round. Among few servers, most must stay unasked, or none is left to ping us: a network
  // needs three servers that know themselves to be reachable to find others.
  static constexpr std::size_t HelpersAmong(std::size_t servers) {
    return std::clamp<std::size_t>(servers / 3, 1, 3);
  }
  static constexpr base::Duration kQuiet = base::Seconds(150);
  static constexpr base::Duration kOpen = base::Seconds(10);
  // While it is not a server. Longer than kQuiet: in a network of few servers all have been sent
  // to.
  static constexpr base::Duration kAgain = base::Seconds(200);
  static constexpr base::Duration kRenewal = base::Seconds(600);  // once it is
  static constexpr std::size_t kMostOpen = 6;
  static constexpr std::size_t kMostPrefixes = 1024;

  explicit Reachability(Role role) : role_(role) {}
  void HashInto(crypto::Hasher& hasher) const {
    crypto::Feed(hasher, role_, server_, next_, open_, passed_, sent_to_);
  }

  // What we are to a node at an address of `scope`.
  bool server(Scope scope) const {
    if (role_ != Role::kAuto) return role_ == Role::kServer;
    return scope == Scope::kPublic ? server_ : scope != Scope::kNone;
  }
  bool IsDue(base::Time now) const { return role_ == Role::kAuto && now >= next_; }
  base::Time next() const { return next_; }
  // A round of tests begins; the next is due later. REQUIRES: IsDue.
  void BeginRound(base::Time now);
  // A helper will be asked to have us pinged with `mark`.
  void BeginTest(base::Time now, const Nonce& mark, const Endpoint& helper);

  void OnSent(base::Time now, const Endpoint& to);
  void OnPing(base::Time now, const Nonce& nonce, const Endpoint& from);
  // Forgets old tests; true if server(kPublic) has changed since the last call.
  bool Update(base::Time now);
  void CheckInvariants() const;

 private:
  struct Test {
    Nonce mark{};
    Prefix helper;
    base::Time until;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, mark, helper, until); }
  };
  struct Passed {
    Prefix helper;
    base::Time at;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, helper, at); }
  };

  Role role_;
  bool server_ = false;
  base::Time next_;
  std::vector<Test> open_;      // oldest first
  std::vector<Passed> passed_;  // one a helper's prefix
  std::map<Prefix, base::Time> sent_to_;
};

}  // namespace ostraka::dht
