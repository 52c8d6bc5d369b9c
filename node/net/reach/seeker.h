// Whom to look up in the DHT, and when: members whose link is down.
//
// A member is looked up kFirst after its link went down, then again after waits that double from
// kAgain to kLongest, until it is linked. So a member that has moved is found within kLongest of
// its announcement, and the lookups of a run whose members are all gone cost a steady few
// datagrams.
//
// Promises:
//   K1  A member that is linked is not looked up; one that is not is due after each wait.
//   K2  At most kMostAtOnce lookups are under way, and one for a member.
//
// May not know: addresses, the DHT, clocks.
// Memory: an entry a member.
// What an attacker can do here: a member that makes and ends links has itself looked up once in
// each kFirst.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "node/base/ids.h"
#include "node/base/time.h"

namespace ostraka::net {

class Seeker {
 public:
  static constexpr base::Duration kFirst = base::Seconds(1);
  static constexpr base::Duration kAgain = base::Seconds(4);
  static constexpr base::Duration kLongest = base::Seconds(32);
  static constexpr std::size_t kMostAtOnce = 4;

  // A member whose link is down, due at once. No-op if it is one already.
  void Add(base::Time now, const base::PeerId& peer);
  // It is no member any more. No-op for others.
  void Remove(const base::PeerId& peer);
  // No-op for others than members.
  void OnLink(base::Time now, const base::PeerId& peer, bool up);
  // The DHT can be asked from now on: what was asked before found nobody, so all are due.
  void OnJoined(base::Time now);

  // The members whose lookups begin now, the longest due first.
  std::vector<base::PeerId> Due(base::Time now);
  // A lookup of Due has ended.
  void OnEnded(base::Time now, const base::PeerId& peer);
  std::size_t linked() const;
  void CheckInvariants() const;

 private:
  struct Sought {
    bool up = false;
    bool asked = false;  // a lookup is under way
    base::Time due;
    base::Duration wait = kAgain;
  };
  std::map<base::PeerId, Sought> members_;
};

}  // namespace ostraka::net
