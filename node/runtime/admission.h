// Whom to let in from outside, before anything is known of him but the address he comes from.
//
// Strangers are counted and rated, so that their handshakes, which cost us a signature each, and
// the memory of connections half-open are bounded. Who comes from an address that the members' list
// names stands in no queue with strangers: only the limits of one address hold for him. Loopback is
// one address for all the nodes of a machine, so only the limits of all hold there.
//
// Thread safety: none; one owner. Reads no clock.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "node/base/status.h"
#include "node/base/time.h"
#include "node/runtime/token_bucket.h"
#include "node/runtime/transport.h"

namespace ostraka::runtime {

class Admission {
 public:
  // `known`: AddressGroup of the members' addresses; names among them are of no use here.
  Admission(const TransportLimits& limits, std::size_t members, std::set<std::string> known);

  // From `address`, an AddressGroup. Unavailable, with a reason as said of him: not now.
  base::Status Admit(base::Time now, const std::string& address, bool is_loopback);
  // One of strangers must go before another comes.
  bool is_full() const { return strangers_ >= limits_.half_open; }

  // A connection that was admitted is open, and is a link or closed. REQUIRES: in turn.
  void Enter(const std::string& address, bool is_loopback);
  void Leave(const std::string& address, bool is_loopback);
  // One from there was refused, for what it said or failed to say.
  void OnRefused(base::Time now, const std::string& address, bool is_loopback);

  bool is_known(const std::string& address, bool is_loopback) const {
    return !is_loopback && known_.contains(address);
  }

  // Addresses whose refusals are remembered, at most. More at once than that go uncounted.
  static constexpr std::size_t kMaxAddresses = 4096;

 private:
  const TransportLimits limits_;
  const std::set<std::string> known_;
  TokenBucket handshakes_;  // of strangers
  std::size_t strangers_ = 0;
  std::map<std::string, std::size_t> half_open_;  // by address, if not zero
  std::map<std::string, TokenBucket> patience_;   // of those who were refused lately
};

}  // namespace ostraka::runtime
