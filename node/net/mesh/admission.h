// Whom to let in from outside, before anything is proven of him: by the address he comes from, and
// by what he has asked for.
//
// A connection costs next to nothing until TLS begins (lobby.h): only how many one address holds,
// and how often it was refused, is looked at. The handshake, which costs a signature, is paid by
// one of three queues:
//   known    from an address that the members' list names: only the limits of one address hold
//   asker    named this run (client_hello.h): a rate for each network and one for all
//   unnamed  anybody else: a small rate for all
// So a flood that does not know the run's id takes nothing from a member behind NAT or a DNS name;
// one that does takes what its networks are given. Who then proves a member's key is given back
// what it took, and counts as no stranger. Loopback is one address for all the nodes of a machine,
// so only the limits of all hold there.
//
// Thread safety: none; one owner. Reads no clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "node/base/status.h"
#include "node/base/time.h"
#include "node/net/link/token_bucket.h"

namespace ostraka::net {

// Of connections that are not a link.
struct AdmissionLimits {
  // Accepted connections that are not a link. An address is all of one IPv4 address, or 64 bits of
  // an IPv6 one; the limits of an address do not hold for loopback. Where a member's address stands
  // in `members`, who comes from it counts as no stranger, but against the address alone.
  std::size_t waiting = 256;   // of all that have not said what they want; the oldest gives way
  std::size_t half_open = 64;  // in a handshake: of strangers who named this run, and of those who
                               // did not; one that was so for half_open_grace gives way
  base::Duration half_open_grace = base::Seconds(2);
  std::size_t half_open_per_address = 16;
  std::size_t half_open_per_member = 4;  // once TLS has proven which member it is
  std::size_t non_members = 8;           // likewise, whose key is no member's
  // Of strangers who named this run, after a burst, and of them from one network (AddressPrefix;
  // not loopback). Who proves a member's key is given back what it took.
  std::uint64_t handshakes_per_second = 50;
  std::uint64_t handshakes_per_prefix = 10;
  std::uint64_t unnamed_per_second = 10;    // handshakes of those who named no run, or another
  std::uint64_t refusals_per_address = 32;  // a minute; then it is not even heard
  std::int64_t stranger_notices = 20;       // lines that strangers cause at once; then one a second
};

// Of a connection in a handshake.
enum class Standing : std::uint8_t { kKnown, kAsker, kUnnamed };

// Token buckets by name, of which a bounded number is remembered.
class AddressBuckets {
 public:
  AddressBuckets(double per_second, double capacity)
      : per_second_(per_second), capacity_(capacity) {}

  // True if there is no debt under that name.
  bool Ready(base::Time now, const std::string& name);
  // Nothing, while kMaxAddresses others are not full again.
  void Take(base::Time now, const std::string& name);
  void GiveBack(const std::string& name);

  // More at once than that go uncounted.
  static constexpr std::size_t kMaxAddresses = 4096;

 private:
  const double per_second_;
  const double capacity_;
  std::map<std::string, TokenBucket> buckets_;
};

class Admission {
 public:
  // `known`: AddressGroup of the members' addresses; names among them are of no use here.
  Admission(const AdmissionLimits& limits, std::size_t members, std::set<std::string> known);

  // Of one who came from `address`, an AddressGroup. Unavailable, with a reason as said of him: not
  // now.
  base::Status Admit(base::Time now, const std::string& address, bool is_loopback);
  Standing StandingOf(const std::string& address, bool is_loopback, bool names_run) const;
  // For the handshake of one who came from `prefix`, an AddressPrefix; takes it if it is OK.
  base::Status Charge(base::Time now, const std::string& prefix, bool is_loopback,
                      Standing standing);
  // One who was charged so has proven a member's key.
  void GiveBack(const std::string& prefix, bool is_loopback, Standing standing);
  // One of that standing must end its handshake before another comes.
  bool is_full(Standing standing) const;

  // A connection that was admitted is open, and is a link or closed. REQUIRES: in turn.
  void Enter(const std::string& address);
  void Leave(const std::string& address);
  // It is in a handshake, and no longer. REQUIRES: in turn.
  void Begin(Standing standing) { ++handshakes_[static_cast<std::size_t>(standing)]; }
  void End(Standing standing);
  // One from there was refused, for what it said or failed to say.
  void OnRefused(base::Time now, const std::string& address, bool is_loopback);

  static constexpr std::size_t kMaxAddresses = AddressBuckets::kMaxAddresses;

 private:
  const AdmissionLimits limits_;
  const std::set<std::string> known_;
  TokenBucket askers_;
  TokenBucket unnamed_;
  AddressBuckets of_prefix_;                 // askers, by AddressPrefix
  AddressBuckets patience_;                  // refusals, by address
  std::array<std::size_t, 3> handshakes_{};  // in progress, by Standing
  std::map<std::string, std::size_t> open_;  // by address, if not zero
};

}  // namespace ostraka::net
